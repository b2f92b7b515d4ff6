import FreshetSQLite
import FreshetWire
import Testing

@testable import FreshetServer

/// A scan with a filter returns what the filter matches, and reads no other values.
@Suite("Filtered scans") struct FilteredScanTests {
    @Test("values of records that the filter rejects are not read")
    func rejectedValuesAreNotRead() throws {
        // Given records whose values take 15 pages each
        let fixture = try StoreFixture(.sqlite)
        let store = try #require(fixture.store as? SQLiteRecordStore)
        let (count, pagesOfValue) = (40, 15)
        for number in 1...count { try fixture.put("a/\(number)", Self.json(bytes: pagesOfValue * 4_096 - 1_000)) }
        func scan(_ filter: ChangeFilter) throws -> (changes: Int, pages: Int) {
            let before = try store.read { $0.pagesRead }
            let changes = try fixture.changes(since: .start, filter: filter).changes.count
            return (changes, Int(try store.read { $0.pagesRead } &- before))
        }
        let rejecting = [
            try ChangeFilter(collections: ["b"]), try ChangeFilter(collections: ["b", "c"]),
            try ChangeFilter(collections: [], prefix: "x"), try ChangeFilter(collections: ["a"], prefix: "x"),
        ]
        for filter in rejecting {
            // When
            let read = try scan(filter)
            // Then
            #expect(read.changes == 0)
            #expect(read.pages < count * pagesOfValue / 2)
        }
        // And values that are wanted are read, which the count of pages shows
        for filter in [ChangeFilter.all, try ChangeFilter(collections: ["a"])] {
            let read = try scan(filter)
            #expect(read.changes == count)
            #expect(read.pages > count * (pagesOfValue - 2))
        }
    }

    @Test("a filter returns the changes that it matches among all, with their values", arguments: StoreKind.allCases)
    func aFilterReturnsWhatItMatches(_ kind: StoreKind) throws {
        // Given values on the page of their row, beyond it, and beyond the limit of a page of the feed
        let fixture = try StoreFixture(kind)
        let sizes = [3, 1_023, 1_024, 1_025, 5_000, 65_536, 65_537]
        for (index, size) in sizes.enumerated() {
            for collection in ["a", "b", "c"] {
                try fixture.put("\(collection)/\(index.isMultiple(of: 2) ? "x" : "y")\(index)", Self.json(bytes: size))
            }
        }
        try fixture.write("b/x0", .delete)
        try fixture.invalidate(.key(RecordKey("a/y9")), .collection("c", prefix: "x"))
        let all = try fixture.changes(since: .after(fixture.cursor(0))).changes
        for collections in [[], ["a"], ["b", "c"], ["a", "b", "c"], ["d"]] {
            for prefix in ["", "x", "x4", "y", "z"] {
                let filter = try ChangeFilter(collections: collections, prefix: prefix)
                // When
                let found = try fixture.changes(since: .after(fixture.cursor(0)), filter: filter).changes
                // Then
                #expect(found == all.filter { filter.matches($0.scope) })
            }
        }
    }

    /// A JSON string of so many bytes.
    private static func json(bytes: Int) -> String { "\"\(String(repeating: "v", count: bytes - 2))\"" }
}
