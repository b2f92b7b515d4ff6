import FoundationEssentials
import FreshetCache
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
}
