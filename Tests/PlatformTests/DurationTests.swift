import FreshetPlatform
import Testing

@Suite("Durations as whole numbers")
struct DurationTests {
    @Test(
        "rounded towards zero",
        arguments: [
            (Duration.zero, 0, 0), (.nanoseconds(1_999_999), 1, 1_999_999), (.nanoseconds(-1_999_999), -1, -1_999_999),
            (.seconds(1), 1_000, 1_000_000_000), (Duration(secondsComponent: 0, attosecondsComponent: 999_999_999), 0, 0),
        ] as [(Duration, Int64, Int64)])
    func rounding(_ duration: Duration, _ milliseconds: Int64, _ nanoseconds: Int64) {
        #expect(duration.clampedMilliseconds == milliseconds)
        #expect(duration.clampedNanoseconds == nanoseconds)
    }

    @Test("clamped where a number or a duration's components end") func extremes() {
        let longest = Duration(secondsComponent: .max, attosecondsComponent: 0) * 4
        #expect(longest.clampedMilliseconds == .max && longest.clampedNanoseconds == .max)
        #expect((longest * -1).clampedMilliseconds == .min && (longest * -1).clampedNanoseconds == .min)
        #expect(Duration.seconds(9_223_372_036).clampedNanoseconds == 9_223_372_036_000_000_000)
        #expect(Duration.seconds(9_223_372_037).clampedNanoseconds == .max)
    }
}
