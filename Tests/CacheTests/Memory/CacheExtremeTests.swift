import FoundationEssentials
import FreshetCache
import TestSupport
import Testing

@Suite("Durations at the ends of their type")
struct CacheExtremeTests {
    @Test("a manual clock stops at the last moment that it can show", arguments: [Duration.seconds(Int64.max), .seconds(Int64.min)])
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

    // MARK: Costs of the pinned

    @Test("pinned values are never refused, though together they cost more than a number can say")
    func pinnedCosts() {
        // Given two pinned keys
        let cache = Cache<String, Int>(costLimit: .max, cost: { _ in .max })
        for key in ["a", "b"] { cache.pin(key) }
        cache.setValue(0, forKey: "c", cost: 10)
        // When each gets a value, and again, at the greatest cost
        for number in 1...2 { for key in ["a", "b"] { #expect(cache.setValue(number, forKey: key)) } }
        // Then both are there, and what may leave has left
        #expect(cache["a"] == 2 && cache["b"] == 2 && cache["c"] == nil && cache.totalCost == .max)
        #expect(!cache.setValue(1, forKey: "c", cost: 1))
        // When they are pinned no more and removed
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
