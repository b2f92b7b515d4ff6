import FreshetWire
import Testing

@Suite("Names and positions")
struct NameTests {
    @Test("namespaces that may be", arguments: ["a", "0", "app", "a.b_c-d", String(repeating: "a", count: 63)])
    func namespaces(text: String) throws { #expect(try Namespace(text).name == text) }

    @Test("namespaces that may not be", arguments: ["", "A", "-a", ".a", "a b", "é", "a/b", String(repeating: "a", count: 64)])
    func noNamespaces(text: String) {
        #expect(throws: WireError.invalidNamespace(text)) { try Namespace(text) }
    }

    @Test(
        "keys are split at the first slash",
        arguments: [("c/1", "c", "1"), ("c/a/b", "c", "a/b"), ("A.b_-9/é 😀%", "A.b_-9", "é 😀%"), ("c//", "c", "/")])
    func keys(text: String, collection: String, id: String) throws {
        let key = try RecordKey(text)
        #expect(key.collection == collection && key.id == id && key.description == text)
    }

    @Test(
        "keys that may not be",
        arguments: [
            "", "c", "c/", "/1", "c d/1", "c/\u{0}", "c/" + String(repeating: "x", count: 513), String(repeating: "c", count: 65) + "/1",
        ])
    func noKeys(text: String) {
        #expect(throws: WireError.self) { try RecordKey(text) }
    }

    @Test("keys are ordered by their bytes, as the store orders them")
    func order() throws {
        let keys = try ["a/2", "a/10", "b/1", "a/é", "a/z"].map { try RecordKey($0) }
        #expect(keys.sorted().map(\.description) == ["a/10", "a/2", "a/z", "a/é", "b/1"])
    }

    @Test("cursors", arguments: ["abc-0", "0-9007199254740991", "x1-42"])
    func cursors(text: String) throws {
        let cursor = try Cursor(text)
        #expect(cursor.description == text)
        #expect(Cursor(entityTag: cursor.entityTag) == cursor)
    }

    @Test("the cursor of a reader that started from nothing has its origin")
    func origins() throws {
        let cursor = try Cursor("abc-4-10")
        #expect(cursor.revision.number == 4 && cursor.origin?.number == 10 && cursor.description == "abc-4-10")
        #expect(cursor.entityTag == "\"abc-4\"")
        #expect(Cursor(entityTag: "\"abc-4-10\"") == nil)
    }

    @Test(
        "no cursors",
        arguments: [
            "", "-", "abc", "abc-", "-1", "abc-01", "abc--1", "abc-+1", "abc-9007199254740992", "ABC-1", "abc-1-2-3", "abc-1-", "abc-1 ",
            "abc-٣", "abc-1.", "abc-1.0", "abc-1.01", "abc-1.4294967296", "abc-1.2.3", "abc.1-1", ".1", "abc-1.2-3", "abc-1.-2",
        ])
    func noCursors(text: String) {
        #expect(throws: WireError.invalidCursor(text)) { try Cursor(text) }
        #expect(Cursor(entityTag: "\"\(text)\"") == nil)
    }

    @Test("weak and unquoted entity tags are refused", arguments: ["W/\"abc-1\"", "abc-1", "\"abc-1", "\"\"", ""])
    func entityTags(text: String) { #expect(Cursor(entityTag: text) == nil) }

    @Test("revisions end at 2^53-1")
    func revisions() {
        #expect(Revision(-1) == nil && Revision(1 << 53) == nil)
        #expect(Revision.maximum.next == nil)
        #expect(Revision.zero.next == Revision(1))
    }

    @Test("an epoch of 64 bits has 13 characters and is one", arguments: [0, 1, .max] as [UInt64])
    func epochs(bits: UInt64) {
        let epoch = Epoch(bits: bits)
        #expect(epoch.token.utf8.count == 13 && Epoch(epoch.token) == epoch)
    }

    @Test("clients", arguments: [("device-1", true), ("", false), ("a b", false), (String(repeating: "a", count: 65), false)])
    func clients(text: String, isValid: Bool) { #expect(((try? ClientIdentifier(text)) != nil) == isValid) }

    @Test("paths encode what a segment cannot hold")
    func paths() throws {
        let namespace = try Namespace("app")
        #expect(namespace.path(of: try RecordKey("c/a/b é?#%")) == "/v1/app/records/c/a%2Fb%20%C3%A9%3F%23%25")
        #expect(namespace.path(of: try RecordKey("c/..")) == "/v1/app/records/c/%2E%2E")
        let filter = try ChangeFilter(collections: ["b", "a", "b"], prefix: "x y")
        #expect(
            namespace.changesPath(since: .start, filter: filter, wait: 25, limit: 10, values: false)
                == "/v1/app/changes?since=0&wait=25&limit=10&collection=a&collection=b&prefix=x%20y&values=false")
    }
}
