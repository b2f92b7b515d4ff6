import FreshetCache
import Testing

@Suite struct CacheChangeTests {
    private typealias Cause = CacheChange<String, Int>.Cause

    /// As text, up to the expected number: `key before after cause`.
    private func take(_ count: Int, of changes: AsyncStream<CacheChange<String, Int>>) async -> [String] {
        var texts: [String] = []
        for await change in changes {
            texts.append(
                "\(change.number) \(change.key) \(change.before.map(String.init) ?? "-") \(change.after.map(String.init) ?? "-") \(change.cause)"
            )
            if texts.count == count { break }
        }
        return texts
    }

    @Test func tellsWhatWasBeforeWhatIsAfterAndWhy() async {
        // Given
        let time = ManualCacheClock()
        let cache = Cache<String, Int>(costLimit: 2, clock: time.clock, shards: 1, cost: { _ in 1 })
        cache["unheard"] = 0
        let changes = cache.changes
        // When
        cache["a"] = 1
        cache["a"] = 2
        cache["b"] = 3
        cache.removeValue(forKey: "a")
        cache.setValue(4, forKey: "b", cost: 3)
        cache.setValue(5, forKey: "c", cost: 3)
        cache.setValue(6, forKey: "d", lifetime: .after(.seconds(1)))
        time.advance(by: .seconds(1))
        _ = cache["d"]
        cache.setValue(7, forKey: "e", lifetime: .after(.seconds(1)))
        time.advance(by: .seconds(1))
        cache.trim(toCost: 0)
        // Then
        #expect(
            await take(11, of: changes) == [
                "1 a - 1 inserted", "2 a 1 2 overwritten", "3 unheard 0 - evicted", "4 b - 3 inserted", "5 a 2 - removed",
                "6 b 3 - refused", "7 c - - refused", "8 d - 6 inserted", "9 d 6 - expired", "10 e - 7 inserted", "11 e 7 - expired",
            ])
    }

    @Test func aListenerHearsOfItsKeyAlone() async {
        // Given
        let cache = Cache<String, Int>()
        let changes = cache.changes(forKey: "b")
        // When
        for key in ["a", "b", "c", "b"] { cache[key] = 1 }
        // Then
        #expect(await take(2, of: changes) == ["1 b - 1 inserted", "2 b 1 1 overwritten"])
    }

    @Test func aGapShowsWhatASlowListenerMissed() async {
        let cache = Cache<String, Int>()
        let changes = cache.changes(keepingLatest: 2)
        for number in 1...5 { cache["a"] = number }
        #expect(await take(2, of: changes) == ["4 a 3 4 overwritten", "5 a 4 5 overwritten"])
    }

    @Test func theStreamEndsWithTheCache() async {
        var cache: Cache<String, Int>? = Cache()
        let changes = cache?.changes
        cache?["a"] = 1
        cache = nil
        var heard: [Cause] = []
        if let changes { for await change in changes { heard.append(change.cause) } }
        #expect(heard == [.inserted])
    }
}
