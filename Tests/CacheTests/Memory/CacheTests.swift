import FreshetCache
import Testing

@Suite struct CacheTests {
    @Test func givesWhatWasStoredAndNothingElse() {
        // Given
        let cache = Cache<String, Int>()
        // When
        cache["one"] = 1
        cache.setValue(2, forKey: "two", cost: 5)
        // Then
        #expect(cache["one"] == 1 && cache.value(forKey: "two") == 2 && cache["three"] == nil)
        #expect(cache.count == 2 && cache.totalCost == 6 && !cache.isEmpty)
        #expect(cache.contains("one") && !cache.contains("three"))
    }

    @Test func storesInPlaceOfWhatWasThere() {
        let cache = Cache<String, Int>()
        cache.setValue(1, forKey: "key", cost: 5)
        cache.setValue(2, forKey: "key", cost: 3)
        #expect(cache["key"] == 2 && cache.count == 1 && cache.totalCost == 3)
    }

    @Test func removesByKeyAndByStoringNothing() {
        // Given
        let cache = Cache<String, Int>()
        cache["one"] = 1
        cache["two"] = 2
        // When, then
        #expect(cache.removeValue(forKey: "one") == 1)
        #expect(cache.removeValue(forKey: "one") == nil)
        cache["two"] = nil
        #expect(cache.isEmpty && cache.totalCost == 0 && cache["two"] == nil)
    }

    @Test func listsItsKeys() {
        let cache = Cache<Int, Int>(shards: 4)
        for key in 0..<1_000 { cache[key] = key }
        #expect(cache.keys.sorted() == Array(0..<1_000))
        cache.removeAll()
        #expect(cache.keys.isEmpty && cache.count == 0 && cache.totalCost == 0)
        cache[1] = 1
        #expect(cache.keys == [1])
    }

    @Test func removesByPredicateTagAndPrefix() {
        // Given
        let cache = Cache<String, Int>()
        for number in 0..<100 { cache.setValue(number, forKey: "user/\(number)", tags: number % 10 == 0 ? ["round", "user"] : ["user"]) }
        cache["other"] = 1_000
        // When, then
        #expect(cache.removeAll(taggedWith: "round") == 10)
        #expect(cache.removeAll(taggedWith: "round") == 0)
        #expect(cache.removeAll { _, value in value % 2 == 1 } == 50)
        #expect(cache.count == 41 && cache["user/2"] == 2)
        #expect(cache.removeAll(withPrefix: "user/") == 40)
        #expect(cache.keys == ["other"])
        #expect(cache.removeAll(taggedWith: "user") == 0)
    }

    @Test func aPredicateThatThrowsRemovesNothing() {
        struct Refusal: Error {}
        let cache = Cache<String, Int>()
        cache["one"] = 1
        #expect(throws: Refusal.self) { try cache.removeAll { _, _ in throw Refusal() } }
        #expect(cache["one"] == 1)
    }

    @Test func aPredicateMayUseTheCacheAndDoesNotRemoveWhatIsWrittenMeanwhile() {
        // Given
        let cache = Cache<String, Int>()
        cache["one"] = 1
        cache["two"] = 2
        // When the predicate itself writes one again
        let removed = cache.removeAll { key, _ in
            if key == "one" { cache["one"] = 3 }
            return true
        }
        // Then the new value, which was not checked, stays
        #expect(removed == 1 && cache["one"] == 3 && cache["two"] == nil)
    }

    @Test func aNewValueHasItsOwnTags() {
        let cache = Cache<String, Int>()
        cache.setValue(1, forKey: "key", tags: ["old"])
        cache.setValue(2, forKey: "key", tags: ["new"])
        #expect(cache.removeAll(taggedWith: "old") == 0 && cache["key"] == 2)
        cache.setValue(3, forKey: "key")
        #expect(cache.removeAll(taggedWith: "new") == 0 && cache["key"] == 3)
    }

    @Test func countsWhatItDoes() {
        // Given
        let time = ManualCacheClock()
        let cache = Cache<Int, Int>(costLimit: 10, clock: time.clock, shards: 1, cost: { _ in 1 })
        for key in 0..<12 { cache[key] = key }
        _ = cache[11]
        _ = cache[0]
        let before = cache.statistics
        // When
        cache.setValue(1, forKey: 99, cost: 11)
        cache[11] = 12
        cache.removeValue(forKey: 11)
        cache.setValue(5, forKey: 5, lifetime: .after(.seconds(1)))
        time.advance(by: .seconds(1))
        _ = cache[5]
        _ = cache[4]
        // Then
        #expect(before.insertions == 12 && before.evictions == 2 && before.hits == 1 && before.misses == 1 && before.hitRate == 0.5)
        let difference = cache.statistics - before
        #expect(difference.refusals == 1 && difference.overwrites == 2 && difference.removals == 1 && difference.expirations == 1)
        #expect(difference.hits == 1 && difference.misses == 1)
        #expect(CacheStatistics().hitRate == 0)
    }

    @Test func peekingNeitherCountsNorPromotes() {
        // Given a small queue of one, and a key that is only peeked at
        let cache = Cache<Int, Int>(countLimit: 10, shards: 1)
        for key in 0..<10 { cache[key] = key }
        for _ in 0..<5 { #expect(cache.peek(0) == 0 && cache.contains(0)) }
        for _ in 0..<5 { #expect(cache[1] == 1) }
        // When room is needed
        cache[10] = 10
        cache[11] = 11
        // Then the key that was peeked at is evicted first, and the one that was read stays
        #expect(cache.peek(0) == nil && cache.peek(1) == 1)
        #expect(cache.statistics.hits == 5)
    }

    @Test func canonicallyEqualStringsAreOneKey() {
        let cache = Cache<String, Int>()
        cache["caf\u{e9}"] = 1
        #expect(cache["cafe\u{301}"] == 1 && cache.count == 1)
    }

    @Test(arguments: [-1, 0, 1, 2, 3, 256, 100_000]) func worksWithAnyNumberOfShards(shards: Int) {
        let cache = Cache<Int, Int>(countLimit: 100, shards: shards)
        for key in 0..<1_000 { cache[key] = key }
        #expect(cache.count == 100 && cache.keys.count == 100)
    }
}
