import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetServer

@Suite struct RowCacheTests {
    private func existing(_ row: Int64, size: Int? = 1) -> ExistingRow {
        ExistingRow(row: row, revision: Revision(row) ?? .zero, size: size, isJSON: size != nil)
    }

    @Test func whatIsKeptIsFoundUnderItsOwnKeyAndNamespaceAlone() throws {
        // Given
        let cache = RowCache(limit: 10_000)
        // When
        cache.keep(existing(7), of: try RecordKey("a/\u{E9}"), in: 1)
        // Then
        #expect(cache.existingRow(of: try RecordKey("a/\u{E9}"), in: 1) == existing(7))
        #expect(cache.existingRow(of: try RecordKey("a/e\u{301}"), in: 1) == nil)
        #expect(cache.existingRow(of: try RecordKey("a/\u{E9}"), in: 2) == nil)
    }

    @Test func aTombstoneIsForgottenAndSoIsWhatStoodThere() throws {
        // Given
        let cache = RowCache(limit: 10_000)
        let key = try RecordKey("a/1")
        cache.keep(existing(7), of: key, in: 1)
        // When
        cache.keep(existing(8, size: nil), of: key, in: 1)
        // Then
        #expect(cache.existingRow(of: key, in: 1) == nil && cache.count == 0)
    }

    @Test func itStaysWithinItsLimitAndKeepsWhatIsUsed() throws {
        // Given room for some 48 entries
        let cache = RowCache(limit: 10_000)
        let used = try RecordKey("a/used")
        cache.keep(existing(1), of: used, in: 1)
        // When
        for row in 2...1_000 {
            cache.keep(existing(Int64(row)), of: try RecordKey("a/\(row)"), in: 1)
            // Then
            #expect(cache.existingRow(of: used, in: 1) == existing(1))
            #expect(cache.count <= 50)
        }
        #expect(cache.existingRow(of: try RecordKey("a/1000"), in: 1) == existing(1_000))
        #expect(cache.existingRow(of: try RecordKey("a/2"), in: 1) == nil)
    }

    @Test func withoutRoomItHoldsNothingForLong() throws {
        let cache = RowCache(limit: 0)
        for row in 1...10 { cache.keep(existing(Int64(row)), of: try RecordKey("a/\(row)"), in: 1) }
        #expect(cache.count <= 1)
    }

    /// Compares the cache with a dictionary that forgets nothing: the cache may have fewer entries, but no others.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func itKnowsNothingThatIsNotSo(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let cache = RowCache(limit: 3_000)
        var model: [Int64: ExistingRow] = [:]
        var hits = 0
        for step in 1...5_000 {
            let id = Int64.random(in: 1...20, using: &random)
            let key = try RecordKey("a/\(id)")
            switch Int.random(in: 1...100, using: &random) {
            case 1:
                model = [:]
                cache.forgetAll()
            case 2...10:
                model[id] = nil
                cache.forget(key, in: 1)
            case 11...20:
                model[id] = nil
                cache.keep(existing(Int64(step), size: nil), of: key, in: 1)
            case 21...60:
                model[id] = existing(Int64(step))
                cache.keep(existing(Int64(step)), of: key, in: 1)
            default:
                guard let found = cache.existingRow(of: key, in: 1) else { continue }
                hits += 1
                try #require(found == model[id], "step \(step) of seed \(seed)")
            }
        }
        #expect(hits > 100)
    }
}
