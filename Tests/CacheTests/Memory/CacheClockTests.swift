import FreshetCache
import Testing

@Suite struct CacheClockTests {
    @Test func theSystemsClocksGoForward() {
        let clock = CacheClock.system
        let (uptime, wall) = (clock.uptime(), clock.wall())
        #expect(clock.uptime() >= uptime)
        // The wall clock is in milliseconds since 1970: somewhere after 2020.
        #expect(wall > 1_577_836_800_000)
    }

    @Test func aManualClockStandsUntilItIsToldToGoOn() {
        // Given
        let time = ManualCacheClock(wall: 5_000)
        let clock = time.clock
        #expect(clock.uptime() == 0 && clock.wall() == 5_000)
        // When
        time.advance(by: .milliseconds(1_500))
        // Then both have advanced by as much
        #expect(clock.uptime() == 1_500_000_000 && clock.wall() == 6_500)
    }
}
