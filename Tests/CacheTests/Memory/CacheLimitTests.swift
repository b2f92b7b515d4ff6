import FreshetCache
import FreshetTestSupport
import Testing

@Suite struct CacheLimitTests {
    @Test func neverHoldsMoreThanItsLimits() {
        // Given
        let cache = Cache<Int, Int>(costLimit: 1_000, countLimit: 50, shards: 4, cost: { _ in 1 })
        var random = SeededGenerator(seed: 7)
        // When, then at every step
        for step in 0..<20_000 {
            let key = Int.random(in: 0..<200, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0: cache.removeValue(forKey: key)
            case 1...4: _ = cache[key]
            default: cache.setValue(step, forKey: key, cost: Int.random(in: 1...100, using: &random))
            }
            #expect(cache.totalCost <= 1_000 && cache.count <= 50)
        }
        #expect(cache.statistics.evictions > 1_000)
        #expect(cache.snapshot().map(\.cost).reduce(0, +) == cache.totalCost)
    }

    @Test func refusesWhatIsTooBigAndSaysSo() {
        // Given
        let cache = Cache<String, Int>(costLimit: 10, cost: { _ in 1 })
        #expect(cache.setValue(1, forKey: "key", cost: 10))
        // When
        let isStored = cache.setValue(2, forKey: "key", cost: 11)
        // Then it holds neither: the older value would be wrong
        #expect(!isStored && cache["key"] == nil && cache.isEmpty)
        #expect(cache.statistics.refusals == 1)
        #expect(!cache.setValue(3, forKey: "other", cost: .max))
    }

    @Test func nothingFitsALimitOfZero() {
        let byCost = [0, -5].map { Cache<Int, Int>(costLimit: $0, cost: { _ in 1 }) }
        for cache in byCost + [Cache(countLimit: 0), Cache(countLimit: .min)] {
            #expect(!cache.setValue(1, forKey: 1) && cache.isEmpty)
        }
    }

    @Test func aCostBelowOneCountsAsOne() {
        let cache = Cache<Int, Int>(costLimit: 2, cost: { _ in 1 })
        for key in 0..<3 { cache.setValue(key, forKey: key, cost: key == 0 ? .min : 0) }
        #expect(cache.count == 2 && cache.totalCost == 2)
    }

    @Test func limitsCanBeChangedAtAnyTime() {
        // Given
        let cache = Cache<Int, Int>(costLimit: 1_000, countLimit: 100, cost: { _ in 1 })
        for key in 0..<100 { cache.setValue(key, forKey: key, cost: 10) }
        // When, then
        cache.costLimit = 500
        #expect(cache.costLimit == 500 && cache.totalCost == 500)
        cache.countLimit = 20
        #expect(cache.countLimit == 20 && cache.count == 20)
        cache.countLimit = -1
        #expect(cache.countLimit == 0 && cache.isEmpty)
    }

    @Test func trimsOnceAndKeepsItsLimits() {
        let cache = Cache<Int, Int>(costLimit: 1_000, cost: { _ in 1 })
        for key in 0..<100 { cache.setValue(key, forKey: key, cost: 10) }
        cache.trim(toCost: 305)
        #expect(cache.totalCost == 300 && cache.costLimit == 1_000)
        cache.trim(toCount: 7)
        #expect(cache.count == 7)
        cache.trim(toCost: -1)
        #expect(cache.isEmpty)
    }

    @Test func anOverwriteThatNeedsRoomIsNotItsOwnVictim() {
        // Given
        let cache = Cache<Int, Int>(costLimit: 10, shards: 1, cost: { _ in 1 })
        for key in 0..<10 { cache[key] = key }
        // When the oldest grows to the whole limit
        #expect(cache.setValue(100, forKey: 0, cost: 10))
        // Then
        #expect(cache.keys == [0] && cache[0] == 100 && cache.totalCost == 10)
    }

    @Test func pinnedKeysAreNeverEvicted() {
        // Given a key pinned before it is stored and one pinned after
        let cache = Cache<Int, Int>(costLimit: 10, shards: 2, cost: { _ in 1 })
        cache.pin(1)
        cache[1] = 1
        cache[2] = 2
        cache.pin(2)
        // When
        for key in 100..<200 { cache[key] = key }
        // Then
        #expect(cache.peek(1) == 1 && cache.peek(2) == 2 && cache.isPinned(1) && cache.totalCost == 10)
        // And once they are unpinned they are evicted like others
        cache.unpin(1)
        cache.unpin(2)
        for key in 200..<300 {
            cache[key] = key
            _ = (cache[key], cache[key])
        }
        #expect(cache.peek(1) == nil && cache.peek(2) == nil && !cache.isPinned(1) && cache.totalCost == 10)
    }

    @Test func pinsCountAndSurviveRemoval() {
        let cache = Cache<Int, Int>(countLimit: 1, shards: 1)
        cache.pin(1)
        cache.pin(1)
        cache[1] = 1
        cache.removeAll()
        cache[1] = 2
        cache.unpin(1)
        // When another value is stored, it is refused: all the room is pinned
        #expect(!cache.setValue(3, forKey: 3) && cache[1] == 2)
        cache.unpin(1)
        #expect(cache.setValue(3, forKey: 3) && cache[1] == nil)
        cache.unpin(3)
        #expect(cache[3] == 3)
    }

    @Test func pinnedKeysAloneMayExceedTheLimits() {
        // Given
        let cache = Cache<Int, Int>(costLimit: 10, cost: { _ in 1 })
        cache[1] = 1
        cache.pin(2)
        // When
        #expect(cache.setValue(2, forKey: 2, cost: 25))
        // Then no other value is held, and an unpinned value must fit
        #expect(cache.keys == [2] && cache.totalCost == 25)
        cache.unpin(2)
        #expect(cache.isEmpty && cache.totalCost == 0)
    }

    @Test func costsThatWouldOverflowCountAsFarAsTheyCanBeSummed() {
        let cache = Cache<Int, Int>()
        for key in 0..<3 { cache.pin(key) }
        #expect(cache.setValue(0, forKey: 0, cost: .max - 1) && cache.setValue(1, forKey: 1, cost: 1))
        // A value of a pinned key is never refused.
        #expect(cache.setValue(2, forKey: 2, cost: 1) && cache[2] == 2 && cache.totalCost == .max)
        #expect(!cache.setValue(3, forKey: 3, cost: 1))
    }

    @Test func theSameCallsGiveTheSameEvictionsForAnyNumberOfShards() {
        let caches = [1, 4, 64].map { Cache<String, Int>(countLimit: 100, shards: $0) }
        var random = SeededGenerator(seed: 3)
        for step in 0..<20_000 {
            let key = "\(min(Int.random(in: 0..<1_000, using: &random), Int.random(in: 0..<1_000, using: &random)))"
            for cache in caches where cache[key] == nil { cache[key] = step }
        }
        for cache in caches { #expect(cache.keys == caches[0].keys && cache.statistics == caches[0].statistics) }
    }
}
