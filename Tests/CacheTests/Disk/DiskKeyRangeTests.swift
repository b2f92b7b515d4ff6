import FreshetSQLite
import Testing

@testable import FreshetCache

@Suite struct DiskKeyRangeTests {
    @Test(arguments: [([1], nil), ([], nil), ([255], nil), ([1], [1, 7])] as [([UInt8], [UInt8]?)])
    func sqliteReadsTheRangeAndNoMore(prefix: [UInt8], after: [UInt8]?) throws {
        // Given
        let connection = try Connection(path: ":memory:")
        try DiskSchema.create(in: connection, scope: "")
        let range = DiskKeyRange(prefix: prefix).after(after)
        // When
        let plan = try connection.withStatement("EXPLAIN QUERY PLAN SELECT id FROM entry WHERE \(range.condition) ORDER BY key") {
            try $0.step() ? $0.text(3) : ""
        }
        // Then the index is read from the first key, and to the last one unless that is the last of all
        #expect(plan.contains(prefix == [1] ? "key>? AND key<?" : "key>?"), "\(plan)")
    }

    @Test func aRangeEndsWithAKeyThatItIncludes() throws {
        // Given
        let connection = try Connection(path: ":memory:")
        try DiskSchema.create(in: connection, scope: "")
        let keys: [[UInt8]] = [[], [1], [1, 0], [1, 0, 0], [1, 1], [2]]
        for (number, key) in keys.enumerated() {
            try connection.withStatement("INSERT INTO entry VALUES (?1, ?2, 0, 0, 0, 0, 0, NULL, 0, 0, 0, NULL, NULL)") {
                try $0.bind(1, number)
                try $0.bind(2, key)
                try $0.run()
            }
        }
        func rows(_ range: DiskKeyRange) throws -> [[UInt8]] {
            try DiskListing.rows(in: connection, range, limit: 10).rows.map { keys[Int($0.value)] }
        }
        let range = DiskKeyRange(prefix: [1])
        // Then
        #expect(try DiskListing.lastKey(in: connection, range) == [1, 1])
        #expect(try DiskListing.lastKey(in: connection, DiskKeyRange(prefix: [])) == [2])
        #expect(try DiskListing.lastKey(in: connection, DiskKeyRange(prefix: [3])) == nil)
        #expect(try rows(range.through([1, 0])) == [[1], [1, 0]])
        #expect(try rows(range.through([1, 1]).after([1])) == [[1, 0], [1, 0, 0], [1, 1]])
        #expect(try rows(DiskKeyRange(prefix: []).through([1])) == [[], [1]])
        #expect(try DiskListing.rows(in: connection, range, limit: 2).last == [1, 0])
    }
}
