import FreshetWire
import Testing

@testable import FreshetTrust

struct KeyRangeTests {
    @Test(
        "a text is read as a range, and written as the same range",
        arguments: [
            ("*", KeyRange.everything),
            ("articles", .collection("articles", prefix: "")),
            ("carts/u7/*", .collection("carts", prefix: "u7/")),
            ("carts/a*b*", .collection("carts", prefix: "a*b")),
        ])
    func readsForms(text: String, range: KeyRange) throws {
        #expect(try KeyRange(range: text) == range)
        #expect(range.rangeText == text)
    }

    @Test func aWholeCollectionHasOneForm() throws {
        #expect(try KeyRange(range: "articles/*") == .collection("articles", prefix: ""))
        #expect(try KeyRange(range: "articles/*").rangeText == "articles")
    }

    @Test func onlyAStarAtTheEndIsAWildcard() throws {
        #expect(try KeyRange(range: "c/a*b") == .key(RecordKey("c/a*b")))
        #expect(throws: WireError.self) { try KeyRange(range: "c*") }
        #expect(throws: WireError.self) { try KeyRange(range: "*/a") }
    }

    @Test(
        "a text that is no range is refused", arguments: ["", "/", "/a", "c/", "c d", "c/\0*", "c/" + String(repeating: "x", count: 513)])
    func refuses(text: String) {
        #expect(throws: WireError.self) { try KeyRange(range: text) }
    }

    @Test func aCombiningCharacterAfterTheSlashIsPartOfTheID() throws {
        #expect(try KeyRange(range: "c/\u{301}*") == .collection("c", prefix: "\u{301}"))
        #expect(try KeyRange(range: "c/a*\u{301}") == .key(RecordKey("c/a*\u{301}")))
    }
}
