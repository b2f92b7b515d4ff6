import FreshetWire
import Testing

@Suite("Texts of positions")
struct CursorTextTests {
    @Test(
        "they are written as they are read",
        arguments: [
            "a-0", "a-9", "a-10", "k3v9-1043", "0000000000000-99", "k3v9-9007199254740991", "k3v9-7-0", "k3v9-1000-999",
            "k3v9-1000-h2500", "k3v9-7-h9-abcdefgh", "k3v9-7-h9.2",
            "k3v9-7.1", "k3v9-7.70560000", "k3v9-7-9.4294967295", "k3v9-7-0-abcdefgh.12",
            "abcdefghijklmnopqrstuvwxyz012345-9007199254740991-9007199254740991",
            "abcdefghijklmnopqrstuvwxyz012345-9007199254740991-h9007199254740991-abcdefgh.4294967295",
        ])
    func roundTrip(text: String) throws {
        let cursor = try Cursor(text)
        #expect(cursor.description == text)
        #expect(try Cursor(cursor.description) == cursor)
        let tag = cursor.entityTag
        #expect(tag == "\"\(cursor.epoch.token)-\(cursor.revision.number)\"")
        #expect(Cursor(entityTag: tag) == Cursor(epoch: cursor.epoch, revision: cursor.revision))
    }
}
