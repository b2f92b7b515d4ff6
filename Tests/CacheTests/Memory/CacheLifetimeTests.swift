import Foundation
import FreshetCache
import Testing

@Suite struct CacheLifetimeTests {
    private let time = ManualCacheClock(wall: 1_000_000)

    @Test func aValueIsGivenOutForTwelveHoursUnlessToldOtherwise() {
        // Given
        let cache = Cache<String, Int>(clock: time.clock)
        cache["key"] = 1
        // When, then
        time.advance(by: .seconds(12 * 3_600 - 1))
        #expect(cache["key"] == 1 && cache.keys == ["key"])
        time.advance(by: .seconds(1))
        #expect(!cache.contains("key") && cache.peek("key") == nil && cache.keys.isEmpty && cache.count == 1)
        #expect(cache["key"] == nil && cache.count == 0 && cache.statistics.expirations == 1)
    }

    @Test func eachValueMayHaveItsOwnLifetime() {
        // Given
        let cache = Cache<String, Int>(lifetime: .after(.seconds(10)), clock: time.clock)
        cache.setValue(1, forKey: "short", lifetime: .after(.seconds(1)))
        cache.setValue(2, forKey: "ever", lifetime: .unlimited)
        cache.setValue(3, forKey: "until", lifetime: .until(Date(timeIntervalSince1970: 1_005)))
        cache.setValue(4, forKey: "never", lifetime: .after(.seconds(-1)))
        cache["default"] = 5
        // When, then
        #expect(cache["never"] == nil)
        time.advance(by: .seconds(1))
        #expect(cache["short"] == nil && cache["until"] == 3 && cache["default"] == 5)
        time.advance(by: .seconds(4))
        #expect(cache["until"] == nil && cache["default"] == 5)
        time.advance(by: .seconds(5))
        #expect(cache["default"] == nil && cache["ever"] == 2)
        time.advance(by: .seconds(1e11))
        #expect(cache["ever"] == 2)
    }

    @Test func aSlidingLifetimeIsPutOffByReads() {
        // Given
        let cache = Cache<String, Int>(lifetime: .sliding(.seconds(10)), clock: time.clock)
        cache["key"] = 1
        // When it is read every six seconds
        for _ in 0..<5 {
            time.advance(by: .seconds(6))
            #expect(cache["key"] == 1)
        }
        // Then it lasts; and peeking does not extend its lifetime
        time.advance(by: .seconds(6))
        #expect(cache.peek("key") == 1)
        time.advance(by: .seconds(4))
        #expect(cache["key"] == nil)
    }

    @Test func endsThatNoNumberCanTellAreTheFarthest() {
        let cache = Cache<Int, Int>(clock: time.clock)
        let lifetimes: [Lifetime] = [
            .after(.seconds(Int64.max)), .sliding(.seconds(Int64.max)), .until(.distantFuture), .until(Date(timeIntervalSince1970: 1e300)),
        ]
        for (key, lifetime) in lifetimes.enumerated() { cache.setValue(key, forKey: key, lifetime: lifetime) }
        time.advance(by: .seconds(1_000_000_000))
        for key in lifetimes.indices { #expect(cache[key] == key) }
        cache.setValue(0, forKey: 9, lifetime: .after(.seconds(Int64.min)))
        cache.setValue(0, forKey: 10, lifetime: .until(.distantPast))
        #expect(cache[9] == nil && cache[10] == nil)
    }

    @Test func whatIsOverLeavesAsOthersAreWritten() {
        // Given
        let cache = Cache<Int, Int>(clock: time.clock, shards: 4)
        for key in 0..<1_000 { cache.setValue(key, forKey: key, lifetime: .after(.seconds(key < 900 ? 1 : 1_000))) }
        cache.setValue(-1, forKey: -1, lifetime: .until(Date(timeIntervalSince1970: 1_002)))
        // When
        time.advance(by: .seconds(2))
        #expect(cache.count == 1_001)
        for key in 1_000..<1_200 { cache[key] = key }
        // Then
        #expect(cache.count == 300 && cache.statistics.expirations == 901)
        // And again for the entries with a longer lifetime
        time.advance(by: .seconds(1_000))
        for key in 1_200..<1_400 { cache[key] = key }
        #expect(cache.count == 400)
    }

    @Test func whatIsOverCanBeRemovedAtOnce() {
        let cache = Cache<Int, Int>(clock: time.clock)
        for key in 1...10 { cache.setValue(key, forKey: key, lifetime: .after(.seconds(key))) }
        time.advance(by: .seconds(5))
        #expect(cache.removeExpired() == 5 && cache.count == 5 && cache.keys.sorted() == [6, 7, 8, 9, 10])
    }

    @Test func saysWhenAValueWasStoredAndVerified() throws {
        // Given
        let cache = Cache<String, Int>(lifetime: .after(.seconds(60)), clock: time.clock)
        cache.setValue(1, forKey: "key", cost: 7, tags: ["tag"])
        // When it is marked as still right after half a minute
        time.advance(by: .seconds(30))
        #expect(cache.freshenValue(forKey: "key"))
        time.advance(by: .seconds(45))
        // Then
        let entry = try #require(cache.entry(forKey: "key"))
        #expect(entry.storedAt == Date(timeIntervalSince1970: 1_000) && entry.validatedAt == Date(timeIntervalSince1970: 1_030))
        #expect(entry.expiresAt == Date(timeIntervalSince1970: 1_090) && entry.value == 1 && entry.cost == 7 && entry.tags == ["tag"])
        #expect(cache.statistics.hits == 0)
        time.advance(by: .seconds(15))
        #expect(
            cache.entry(forKey: "key") == nil && !cache.freshenValue(forKey: "key") && !cache.freshenValue(forKey: "other") && cache.isEmpty
        )
    }

    @Test func tellsWhyAValueIsOrIsNotGivenOut() {
        // Given
        let cache = Cache<Int, Int>(countLimit: 10, lifetime: .after(.seconds(300)), clock: time.clock, shards: 1)
        for key in 0..<12 { cache.setValue(key, forKey: key, tags: ["number"]) }
        _ = cache[5]
        cache.pin(6)
        time.advance(by: .seconds(150))
        // When, then
        #expect(cache.explain(0).state == .evictedLately && cache.explain(99).state == .absent)
        let present = cache.explain(5)
        #expect(present.state == .present && present.queue == .main && present.frequency == 1 && present.tags == ["number"])
        #expect(present.description == "present; in main, 1 of 3 hits, cost 1; stored 2 min ago; expires in 2 min; tags number")
        #expect(cache.explain(6).queue == .pinned && cache.explain(6).pins == 1)
        time.advance(by: .seconds(150))
        #expect(cache.explain(5).state == .expired && "\(cache.explain(5))".hasPrefix("expired; in main"))
    }
}
