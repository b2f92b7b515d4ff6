import Testing

@testable import FreshetSocketHTTP

@Suite("Minimum rate")
struct MinimumRateTests {
    private let rate = MinimumRate(bytesPerSecond: 1000, grace: 300, ticksPerSecond: 10)

    /// How long a transfer at a steady rate lasts, in ticks; `nil` if it lasts an hour.
    private func duration(at bytesPerSecond: Int) -> Int? {
        var time = Int(rate.grace)
        var last = 0
        while time < 36_000 {
            let passed = bytesPerSecond * time / 10
            guard let next = rate.nextLook(after: passed - last) else { return time }
            last = passed
            time += Int(next)
        }
        return nil
    }

    @Test("A steady transfer at the lowest rate or above may last")
    func steady() {
        #expect(duration(at: 1000) == nil)
        #expect(duration(at: 1_000_000) == nil)
    }

    @Test("A transfer below the lowest rate ends, the slower the earlier")
    func slow() throws {
        #expect(duration(at: 0) == 300)
        let (half, most) = (try #require(duration(at: 500)), try #require(duration(at: 900)))
        #expect((500...600).contains(half) && (2_000...3_000).contains(most))
    }

    @Test("However much was transferred earlier, a pause lasts no longer than the grace")
    func pause() {
        #expect(rate.nextLook(after: 16 << 20) == 300)
        #expect(rate.nextLook(after: .max) == 300)
        #expect(rate.nextLook(after: 0) == nil)
    }

    @Test("A few bytes earn what they would take")
    func few() {
        #expect(rate.nextLook(after: 99) == nil)
        #expect(rate.nextLook(after: 100) == 1)
        #expect(rate.nextLook(after: 2_500) == 25)
    }

    @Test("Limits beyond all measure do not overflow")
    func extremes() {
        #expect(MinimumRate(bytesPerSecond: .max, grace: .max, ticksPerSecond: 10).nextLook(after: .max) == 10)
        #expect(MinimumRate(bytesPerSecond: 1, grace: 300, ticksPerSecond: 10).nextLook(after: .max) == 300)
    }
}
