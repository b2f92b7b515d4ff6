import FreshetCache
import Testing

/// Compares with the S3-FIFO of libcachesim 0.3.5, whose hits on the same requests are listed here.
@Suite("Hit ratios on loops") struct CacheHitRatioTests {
    struct Loops: Sendable, CustomTestStringConvertible {
        let capacity: Int
        let requests: Int
        /// By the loop's length in percent of the capacity.
        let reference: [Int: Int]

        var testDescription: String { "\(capacity) entries" }
    }

    /// Every second request follows a loop; the others request few keys often and most keys seldom.
    private static func hits(_ cache: Cache<Int, Int>, loop: Int, requests: Int) -> Int {
        var (state, looped, hits) = (UInt64(1), 0, 0)
        for number in 0..<requests {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            var key = Int((state >> 33) % (1 << ((state >> 20) % 17 + 1)))
            if number % 2 == 1 {
                key = 1_000_000 + looped % loop
                looped += 1
            }
            if cache[key] == nil { cache[key] = number } else { hits += 1 }
        }
        return hits
    }

    @Test(arguments: [
        Loops(capacity: 100, requests: 40_000, reference: [105: 16_881, 120: 15_170, 150: 13_485, 200: 11_882, 300: 10_273]),
        Loops(capacity: 1_000, requests: 60_000, reference: [105: 26_523, 120: 29_020, 150: 25_914, 200: 23_107, 300: 20_392]),
        Loops(capacity: 5_000, requests: 120_000, reference: [105: 60_889, 120: 56_394, 150: 58_554, 200: 52_470, 300: 46_628]),
    ]) func aLoopLargerThanTheCacheHitsAsOftenAsTheReference(loops: Loops) {
        for (percent, reference) in loops.reference {
            let cache = Cache<Int, Int>(countLimit: loops.capacity, lifetime: .unlimited)
            let hits = Self.hits(cache, loop: loops.capacity * percent / 100, requests: loops.requests)
            #expect(hits >= reference - loops.requests / 200, "a loop of \(percent) %: \(hits) hits, the reference has \(reference)")
        }
    }
}
