import FreshetWire
import Testing

@Suite("Changes that a reader does not understand")
struct UnreadableChangeTests {
    private static func page(_ change: String) throws(WireError) -> ChangePage {
        let first = #"{"key":"c/1","revision":5,"op":"put","value":1,"size":1}"#
        let last = #"{"key":"c/3","revision":7,"op":"delete"}"#
        return try ChangePage(json: Array("{\"changes\":[\(first),\(change),\(last)],\"cursor\":\"abc-7\",\"upToDate\":true}".utf8))
    }

    static let ofAKey: [String] = [
        #"{"key":"c/2","revision":6,"op":"rename","to":"c/9"}"#,
        #"{"key":"c/2","revision":6,"op":"put","body":{"base64":"?"}}"#,
        #"{"key":"c/2","revision":6,"op":"put","value":1,"client":"not a client","write":1}"#,
        #"{"op":["put"],"revision":6,"size":"large","key":"c/2"}"#,
        #"{"key":"c/2","revision":6,"op":"put","value":1,"size":1,"contentType":"\ud800"}"#,
        #"{"key":"c/2","revision":6,"op":"put","body":{"base64":"aGVsbG8=","contentType":"application/json"},"size":5}"#,
    ]

    @Test("one of a record is evicted, and the rest of the page is read", arguments: ofAKey)
    func evictsTheRecord(change: String) throws {
        // Given a page with a change that is JSON but not understood, When it is read
        let page = try Self.page(change)
        // Then its record is to be evicted at its revision, and the changes around it are there
        #expect(page.changes.map(\.revision.number) == [5, 6, 7])
        #expect(page.changes[1] == Change(revision: page.changes[1].revision, effect: .invalidate(.key(try RecordKey("c/2")))))
        #expect(page.cursor.revision.number == 7)
    }

    @Test("one that names no record evicts everything")
    func evictsEverything() throws {
        let page = try Self.page(#"{"revision":6,"op":"sweep","collections":["a","b"]}"#)
        #expect(page.changes[1].effect == .invalidate(.everything))
    }

    static let sweeps: [String] = [
        #"{"revision":6,"op":"invalidate","collection":""}"#, #"{"revision":6,"op":"invalidate","collection":"a b"}"#,
        #"{"revision":6,"op":"invalidate","collection":"c/1"}"#, #"{"revision":6,"op":"invalidate","collection":"c","prefix":"a\u0000"}"#,
        sweep(String(repeating: "c", count: 65), prefix: "a"), sweep("c", prefix: String(repeating: "x", count: 513)),
    ]

    private static func sweep(_ collection: String, prefix: String) -> String {
        #"{"revision":6,"op":"invalidate","collection":"\#(collection)","prefix":"\#(prefix)"}"#
    }

    @Test("a sweep whose collection or prefix breaks the rules for names evicts everything", arguments: sweeps)
    func sweepsOfInvalidNames(change: String) throws {
        // Given a page with such a sweep, When it is read
        let page = try Self.page(change)
        // Then
        #expect(page.changes.map(\.revision.number) == [5, 6, 7])
        #expect(page.changes[1].effect == .invalidate(.everything))
    }

    @Test("a sweep of the longest names is understood")
    func sweepOfTheLongestNames() throws {
        // Given
        let (collection, prefix) = (String(repeating: "c", count: 64), String(repeating: "x", count: 512))
        // When
        let page = try Self.page(Self.sweep(collection, prefix: prefix))
        // Then
        #expect(page.changes[1].effect == .invalidate(.collection(collection, prefix: prefix)))
    }

    @Test("one under a name that is no key is passed over", arguments: [#""no-slash""#, #""c/\ud800""#, "7"])
    func passesOverInvalidKeys(key: String) throws {
        let page = try Self.page("{\"key\":\(key),\"revision\":6,\"op\":\"delete\"}")
        #expect(page.changes.map(\.revision.number) == [5, 7])
    }

    @Test("a value of any depth is understood")
    func takesDeepValues() throws {
        // Given a value that is nested deeper than a server stores today
        let value = String(repeating: "[", count: 5_000) + String(repeating: "]", count: 5_000)
        // When the page and a list with it are read
        let page = try Self.page("{\"key\":\"c/2\",\"revision\":6,\"op\":\"put\",\"value\":\(value),\"size\":10000}")
        // Then it is there
        guard case .put(_, let content?, _, _) = page.changes[1].effect else { return #expect(Bool(false)) }
        #expect(content.bytes == Array(value.utf8))
    }

    @Test(
        "a page that is no JSON, or whose order is not known, is refused",
        arguments: [
            #"{"key":"c/2","revision":6,"op":"put","value":tru}"#, #"{"key":"c/2","op":"delete"}"#,
            #"{"key":"c/2","revision":-1,"op":"x"}"#, "7",
        ])
    func refusesTheRest(change: String) {
        #expect(throws: WireError.self) { try Self.page(change) }
    }
}
