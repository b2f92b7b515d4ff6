import FreshetCache
import FreshetTestSupport
import Testing

@Suite struct CacheThreadTests {
    /// A value that knows its key, and reads the cache when it is freed. If its cache then held a lock, a read by
    /// another thread would never end.
    private final class Witness: Sendable {
        let key: Int
        let cache: Cache<Int, Witness>

        init(_ key: Int, _ cache: Cache<Int, Witness>) {
            self.key = key
            self.cache = cache
        }

        deinit { _ = (cache.count, cache.peek(key)) }
    }

    @Test func manyThreadsTogetherNeverGetAValueOfAnotherKey() async {
        // Given
        let cache = Cache<Int, [Int]>(costLimit: 500, countLimit: 200, shards: 4, cost: { _ in 1 })
        let wrong = Tally()
        // When four tasks do everything at once
        await withTaskGroup(of: Void.self) { group in
            for seed in 1...4 {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(seed))
                    for _ in 0..<20_000 {
                        let choice = random.next()
                        let key = Int(choice >> 8 & 511)
                        switch choice & 31 {
                        case 0..<16: if let value = cache[key], value != [key, -key] { wrong.add() }
                        case 16..<26:
                            cache.setValue([key, -key], forKey: key, cost: Int(choice >> 30 & 7), tags: key & 15 == 0 ? ["tag"] : [])
                        case 26: cache.removeValue(forKey: key)
                        case 27: if cache.totalCost > 500 || cache.count > 200 { wrong.add() }
                        case 28:
                            cache.pin(key & 7)
                            cache.unpin(key & 7)
                        case 29: if choice >> 40 & 63 == 0 { cache.removeAll { candidate, _ in candidate & 3 == 0 } }
                        case 30: if choice >> 40 & 31 == 0 { cache.removeAll(taggedWith: "tag") }
                        default: if cache.peek(key).map({ $0 != [key, -key] }) == true { wrong.add() }
                        }
                    }
                }
            }
        }
        // Then
        #expect(wrong.count == 0)
        #expect(cache.totalCost <= 500 && cache.count <= 200 && cache.keys.count == cache.count)
        #expect(cache.snapshot().map(\.cost).reduce(0, +) == cache.totalCost)
    }

    @Test func valuesAreLetGoOfWithoutALock() {
        // Given values whose deinitialiser uses the cache
        let cache = Cache<Int, Witness>(countLimit: 10)
        // When they are removed in every possible way; under a lock this would hang
        for key in 0..<100 { cache[key] = Witness(key, cache) }
        for _ in 0..<2 { cache[99] = Witness(99, cache) }
        cache.removeValue(forKey: 99)
        cache.setValue(Witness(98, cache), forKey: 98, lifetime: .after(.zero))
        _ = cache[98]
        cache.removeAll { key, _ in key == 97 }
        cache.trim(toCount: 3)
        cache.countLimit = 2
        cache.countLimit = 0
        cache.countLimit = 10
        cache[1] = Witness(1, cache)
        cache.removeAll()
        // Then
        #expect(cache.isEmpty)
    }
}
