import FreshetCache
import FreshetTestSupport
import Testing

@Suite("The descriptions of the statistics of caches")
struct StatisticsTextTests {
    @Test("the statistics of memory show reads with their share, and all counters")
    func memory() {
        // Given
        let cache = Cache<Int, Int>(countLimit: 2)
        #expect("\(cache.statistics)" == "0 hits and 0 misses")
        // When
        for key in 0..<4 { cache[key] = key }
        cache[3] = 30
        for _ in 0..<2 { _ = cache[3] }
        _ = cache[9]
        cache.removeValue(forKey: 3)
        // Then
        #expect("\(cache.statistics)" == "2 hits and 1 misses (66.7 %), 4 inserted, 1 overwritten, 2 evicted, 1 removed")
        // And every counter has a word
        var statistics = CacheStatistics()
        (statistics.misses, statistics.pressureEvictions, statistics.expirations, statistics.refusals) = (5, 1, 2, 3)
        #expect("\(statistics)" == "0 hits and 5 misses (0.0 %), 1 evicted since memory was short, 2 expired, 3 refused")
        #expect("\(CacheStatistics() - statistics)".contains("-5 misses"))
    }

    @Test("the statistics of a disk also show its entries")
    func disk() async throws {
        // Given
        let folder = TemporaryDirectory()
        let cache = try await DiskCache.open(folder.path)
        // When
        for key in ["a", "b"] { try await cache.setValue([1, 2, 3], forKey: key) }
        try await cache.removeValue(forKey: "b")
        _ = (try await cache.value(forKey: "a"), try await cache.value(forKey: "b"))
        // Then each entry counts its value, three times its key, and 128 bytes
        #expect("\(try await cache.statistics())" == "1 hits and 1 misses (50.0 %), 2 written, 1 removed; 1 entries, 134 bytes")
        var statistics = DiskCacheStatistics()
        (statistics.evictions, statistics.expirations, statistics.damaged) = (1, 2, 3)
        (statistics.refusals, statistics.failures, statistics.restarts) = (4, 5, 6)
        #expect(
            "\(statistics)" == """
                0 hits and 0 misses, 1 evicted, 2 expired, 3 damaged, 4 refused, 5 not written since the disk failed, 6 times reset; \
                0 entries, 0 bytes
                """)
    }

    @Test("the statistics of two tiers show each, the loads, and the keys that wait")
    func tiers() async throws {
        // Given
        let folder = TemporaryDirectory()
        let cache = TwoTierCache<Int, Int>(primary: Cache(), secondary: try await DiskCache.open(folder.path))
        #expect("\(cache.statistics)" == "memory: 0 hits and 0 misses; disk: 0 hits and 0 misses")
        // When
        _ = try await cache.value(forKey: 1) { 1 }
        _ = cache[1]
        try await cache.flush()
        // Then
        #expect(
            "\(cache.statistics)" == "memory: 1 hits and 1 misses (50.0 %); disk: 0 hits and 1 misses (0.0 %), 1 written; 1 loaded")
        var statistics = TwoTierStatistics()
        (statistics.failedReads, statistics.removals, statistics.failedWrites, statistics.dropped) = (1, 2, 3, 4)
        (statistics.failedLoads, statistics.staged) = (5, 6)
        #expect(
            "\(statistics)" == """
                memory: 0 hits and 0 misses; disk: 0 hits and 0 misses, 1 not read since it failed, 2 removed, 3 not written since it failed, \
                4 not written since too many waited; 5 not loaded since that failed; 6 keys wait for the disk
                """)
    }
}
