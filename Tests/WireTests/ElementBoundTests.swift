import FreshetWire
import Testing

@Suite("Responses with more elements than a server sends") struct ElementBoundTests {
    private static func array(_ count: Int, of element: (Int) -> String) -> String {
        "[" + (1...count).map(element).joined(separator: ",") + "]"
    }

    private static func page(_ count: Int, of change: String) throws(WireError) -> ChangePage {
        try ChangePage(json: Array("{\"changes\":\(array(count) { _ in change }),\"cursor\":\"abc-5\",\"upToDate\":true}".utf8))
    }

    @Test("a page of as many changes as a server may send is read")
    func largestPage() throws {
        // Given 1,000 invalidations in 64 parts each, and the rest of an atomic batch, When they are read
        let page = try Self.page(65_000, of: #"{"key":"c/1","revision":5,"op":"invalidate"}"#)
        // Then
        #expect(page.changes.count == 65_000)
    }

    @Test(
        "a page with one change more is refused, understood or not, also if the changes are left out",
        arguments: [#"{"revision":5}"#, #"{"revision":5,"op":"invalidate"}"#, #"{"revision":5,"key":7}"#])
    func pageBeyondTheBound(change: String) {
        #expect(throws: WireError.tooMany("changes", limit: 65_000)) { try Self.page(65_001, of: change) }
    }

    @Test("reads have at most as many records and keys as a request has keys", arguments: ["missing", "forbidden"])
    func keysOfReads(member: String) throws {
        for count in [10_000, 10_001] {
            // Given
            let keys = Self.array(count) { "\"c/\($0)\"" }
            let text = "{\"records\":[],\"\(member)\":\(keys),\"next\":null,\"cursor\":\"abc-5\"}"
            // When, Then
            if count == 10_000 {
                let reads = try ReadsResponse(json: Array(text.utf8))
                #expect(reads.missing.count + reads.forbidden.count == count)
            } else {
                #expect(throws: WireError.tooMany("\(member) keys", limit: 10_000)) { try ReadsResponse(json: Array(text.utf8)) }
            }
        }
    }

    @Test("reads with a record more than a request has keys are refused")
    func recordsOfReads() {
        let records = Self.array(10_001) { "{\"key\":\"c/\($0)\",\"revision\":5}" }
        #expect(throws: WireError.tooMany("records", limit: 10_000)) {
            try ReadsResponse(json: Array("{\"records\":\(records),\"missing\":[],\"next\":null,\"cursor\":\"abc-5\"}".utf8))
        }
    }

    @Test("results have at most as many outcomes as a batch has writes")
    func results() throws {
        func read(_ count: Int) throws(WireError) -> WriteResults {
            let results = Self.array(count) { "{\"number\":\($0),\"status\":\"applied\"}" }
            return try WriteResults(json: Array("{\"results\":\(results),\"cursor\":\"abc-5\"}".utf8))
        }
        #expect(try read(1_000).results.count == 1_000)
        #expect(throws: WireError.tooMany("results", limit: 1_000)) { try read(1_001) }
    }

    @Test("a page of a list has at most 1,000 records, and leads to an id")
    func list() throws {
        func read(_ count: Int, next: String = "1") throws(WireError) -> RecordList {
            let records = Self.array(count) { "{\"key\":\"c/\($0)\",\"revision\":5}" }
            return try RecordList(json: Array("{\"records\":\(records),\"next\":\"\(next)\",\"cursor\":\"abc-5\"}".utf8))
        }
        #expect(try read(1_000).records.count == 1_000)
        #expect(throws: WireError.tooMany("records", limit: 1_000)) { try read(1_001) }
        #expect(try read(1, next: String(repeating: "x", count: 512)).next?.utf8.count == 512)
        #expect(throws: WireError.self) { try read(1, next: String(repeating: "x", count: 513)) }
    }

    @Test("rights have at most 64 ranges of a verb", arguments: ["read", "write", "invalidate", "create", "drop", "inspect"])
    func ranges(verb: String) throws {
        func read(_ count: Int) throws(WireError) -> AccessRights {
            let ranges = Self.array(count) { "\"c\($0)\"" }
            // The last of two members of one name counts.
            return try AccessRights(json: Array("{\"read\":[],\"\(verb)\":\(ranges)}".utf8))
        }
        #expect(try read(64).verbs.map(\.ranges.count) == [64])
        #expect(throws: WireError.tooMany("ranges", limit: 64)) { try read(65) }
    }

    @Test("the texts of rights are bounded")
    func textsOfRights() throws {
        func read(range: Int, principal: Int) throws(WireError) -> AccessRights {
            let (range, principal) = (String(repeating: "x", count: range), String(repeating: "y", count: principal))
            return try AccessRights(json: Array("{\"principal\":\"\(principal)\",\"read\":[\"\(range)\"]}".utf8))
        }
        #expect(try read(range: 578, principal: 4_096).principal?.utf8.count == 4_096)
        #expect(throws: WireError.self) { try read(range: 1_025, principal: 1) }
        #expect(throws: WireError.self) { try read(range: 1, principal: 4_097) }
    }
}
