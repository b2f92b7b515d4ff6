import Foundation
import FreshetWire
import Testing

/// Keys, positions and times within an app's own data.
@Suite("Coding")
struct CodableTests {
    struct Bookmark: Codable, Equatable {
        var key: RecordKey
        var cursor: Cursor
        var revision: Revision
        var at: Timestamp
    }

    static let json = #"{"at":"2026-11-21T15:34:05.250Z","cursor":"c4-17-20","key":"notes/a/b","revision":17}"#

    @Test("each value has the form that it has on the wire")
    func form() throws {
        // Given values of all four types
        let bookmark = Bookmark(
            key: try RecordKey("notes/a/b"), cursor: try Cursor("c4-17-20"), revision: try #require(Revision(17)),
            at: Timestamp(milliseconds: 1_795_275_245_250))
        // When they are encoded
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let text = String(decoding: try encoder.encode(bookmark), as: UTF8.self)
        // Then each is one value, and can be read again
        #expect(text == Self.json)
        #expect(try JSONDecoder().decode(Bookmark.self, from: Data(text.utf8)) == bookmark)
    }

    @Test(
        "a value that is not valid is refused, with the value in the text",
        arguments: [
            (#""notes/a/b""#, #""notes""#, "notes"), (#""c4-17-20""#, #""c4-017""#, "c4-017"), (":17}", ":-1}", "-1"),
            (":17}", ":9007199254740992}", "9007199254740992"), (#""2026-11-21T15:34:05.250Z""#, #""2026-11-21""#, "2026-11-21"),
        ])
    func refusal(valid: String, invalid: String, named: String) throws {
        // Given data with one value that is wrong
        let text = Self.json.replacingOccurrences(of: valid, with: invalid)
        try #require(text != Self.json)
        // When it is decoded, then the error names the value
        let error = #expect(throws: DecodingError.self) { try JSONDecoder().decode(Bookmark.self, from: Data(text.utf8)) }
        guard case .dataCorrupted(let context) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(context.debugDescription.contains(named))
    }

    @Test("a timestamp and its date are the same time", arguments: TimestampTests.moments.map(\.0))
    func dates(milliseconds: Int64) {
        let timestamp = Timestamp(milliseconds: milliseconds)
        #expect(Timestamp(timestamp.date) == timestamp)
        #expect(Date(timestamp) == Date(timeIntervalSince1970: Double(milliseconds) / 1_000))
    }

    @Test("a date beyond the years of a timestamp is clamped")
    func clampedDates() {
        #expect(Timestamp(.distantFuture).description == "4001-01-01T00:00:00.000Z")
        #expect(Timestamp(Date(timeIntervalSince1970: .infinity)) == Timestamp(milliseconds: .max))
        #expect(Timestamp(Date(timeIntervalSince1970: -1e300)) == Timestamp(milliseconds: .min))
        #expect(Timestamp(Date(timeIntervalSince1970: .nan)) == Timestamp(milliseconds: 0))
    }
}
