import FoundationEssentials
import FreshetCache
import FreshetTestSupport
import Testing

@Suite("A cache with numbers and durations at the ends of their types")
struct CacheExtremeTests {
    /// Longer and shorter than a number of whole seconds can express: those trap at `components`.
    private static let durations: [Duration] = [
        .seconds(Int64.max), .seconds(Int64.min), .seconds(Int64.max) * 18, .seconds(Int64.min) * 18, .zero,
    ]
    /// Times at the ends of their type, each at any moment.
    private static let restless = CacheClock(uptime: { Bool.random() ? .max : .min }, wall: { Bool.random() ? .max : .min })

    @Test("a manual clock stops at the last moment that it can show", arguments: durations.filter { $0 != .zero })
    func clocks(step: Duration) throws {
        // Given
        let time = ManualCacheClock(wall: step < .zero ? -1 : 1)
        let cache = Cache<Int, String>(clock: time.clock)
        cache.setValue("a", forKey: 1, lifetime: .after(.seconds(Int64.max)))
        // When
        for _ in 1...40 { time.advance(by: step) }
        // Then
        #expect(time.clock.wall() == (step < .zero ? .min : .max))
        #expect(time.clock.uptime() == (step < .zero ? .min : .max))
        cache.setValue("b", forKey: 2, lifetime: .sliding(step))
        _ = (cache.value(forKey: 1), cache.value(forKey: 2))
    }

    @Test("a lifetime may be as long as a duration can be, or be over at once", arguments: durations)
    func lifetimes(duration: Duration) async throws {
        // Given
        let cache = Cache<Int, String>(lifetime: .after(duration))
        // When
        cache[1] = "a"
        cache.setValue("b", forKey: 2, lifetime: .sliding(duration))
        let loaded = try await cache.value(forKey: 3, lifetime: .after(duration), rememberingFailuresFor: duration) { "c" }
        // Then
        #expect((cache[1] != nil) == (duration > .zero) && (cache[2] != nil) == (duration > .zero) && loaded == "c")
    }

    @Test("a clock may show any time at any moment")
    func restlessClocks() {
        let cache = Cache<Int, Int>(costLimit: 100, countLimit: 10, clock: Self.restless, cost: { _ in 1 })
        let dates = [0, .nan, .infinity, -.infinity, 1e300].map { Date(timeIntervalSince1970: $0) }
        for number in 0..<5_000 {
            let lifetimes: [Lifetime] = [.after(.seconds(number)), .sliding(.seconds(number)), .until(dates[number % 5]), .unlimited]
            cache.setValue(number, forKey: number % 30, lifetime: lifetimes[number % 4])
            _ = (cache[number % 20], cache.entry(forKey: number % 20), cache.freshenValue(forKey: number % 20))
            _ = cache.explain(number % 20).description
        }
        #expect(cache.count <= 10 && cache.snapshot().count <= 10)
    }

    @Test("limits, shares and buffers take any number")
    func limits() {
        let cache = Cache<Int, Int>(costLimit: .max, countLimit: .max, shards: .max, cost: { _ in .max })
        for number in [Int.min, -1, 0, .max] {
            cache.trim(toCost: number)
            cache.trim(toCount: number)
            (cache.costLimit, cache.countLimit) = (number, number)
            cache.shrink(toPercent: number)
            _ = cache.changes(keepingLatest: number)
            cache.setValue(1, forKey: 1, cost: number)
        }
        #expect(cache.costLimit == .max && cache.countLimit == .max)
    }

    @Test("statistics of any numbers have a rate and a difference")
    func statistics() {
        var (memory, disk, tiers) = (CacheStatistics(), DiskCacheStatistics(), TwoTierStatistics())
        (memory.hits, memory.misses) = (.max, .max)
        (disk.hits, disk.misses) = (.max, .max)
        (tiers.memoryHits, tiers.memoryMisses, tiers.diskHits, tiers.diskMisses, tiers.failedReads) = (.max, .max, .max, .max, .max)
        #expect(memory.hitRate == 0.5 && disk.hitRate == 0.5 && tiers.memoryHitRate == 0.5 && abs(tiers.diskHitRate - 1 / 3) < 1e-9)
        (memory.hits, disk.hits, tiers.memoryHits) = (.min, .min, .min)
        #expect((memory - memory).hits == 0 && (disk - disk).hits == 0 && (tiers - tiers).memoryHits == 0)
        _ = (CacheStatistics() - memory, DiskCacheStatistics() - disk, TwoTierStatistics() - tiers)
    }

    // MARK: Costs of the pinned

    @Test("pinned values are never refused, even if their total cost exceeds a number's range")
    func pinnedCosts() {
        // Given two pinned keys
        let cache = Cache<String, Int>(costLimit: .max, cost: { _ in .max })
        for key in ["a", "b"] { cache.pin(key) }
        cache.setValue(0, forKey: "c", cost: 10)
        // When each gets a value, and again, at the greatest cost
        for number in 1...2 { for key in ["a", "b"] { #expect(cache.setValue(number, forKey: key)) } }
        // Then both are there, and all other values were evicted
        #expect(cache["a"] == 2 && cache["b"] == 2 && cache["c"] == nil && cache.totalCost == .max)
        #expect(!cache.setValue(1, forKey: "c", cost: 1))
        // When they are unpinned and removed
        for key in ["a", "b"] { cache.unpin(key) }
        #expect(cache.totalCost == .max)
        cache.removeAll()
        // Then the cache is as before
        #expect(cache.totalCost == 0 && cache.setValue(1, forKey: "c", cost: .max) && cache.totalCost == .max)
    }

    @Test("the sum of the costs is right after any writes, pins and removals", arguments: 0..<50)
    func randomCosts(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let costs = [1, 100, .max / 2, .max - 1, .max]
        let cache = Cache<Int, Int>(costLimit: seed % 3 == 0 ? 1_000 : .max, countLimit: seed % 2 == 0 ? 8 : .max, cost: { _ in 1 })
        for step in 0..<400 {
            let key = Int.random(in: 0..<12, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0: cache.pin(key)
            case 1: cache.unpin(key)
            case 2: cache.removeValue(forKey: key)
            case 3: cache.trim(toCost: costs[Int.random(in: 0..<costs.count, using: &random)])
            default:
                let isStored = cache.setValue(step, forKey: key, cost: costs[Int.random(in: 0..<costs.count, using: &random)])
                #expect(isStored || !cache.isPinned(key))
                #expect((cache.peek(key) == step) == isStored)
            }
            let entries = cache.snapshot()
            #expect(entries.reduce(0) { $0 + $1.cost } == cache.totalCost && entries.count == cache.count)
        }
        for key in 0..<12 { while cache.isPinned(key) { cache.unpin(key) } }
        #expect(cache.totalCost <= cache.costLimit)
        cache.removeAll()
        #expect(cache.totalCost == 0)
    }
}
