import FreshetPlatform
import FreshetTestSupport
import Testing

struct RateTests {
    @Test func aFullBucketAllowsItsCountAtOnceAndThenItsRate() {
        // Given
        let rate = Rate(20, per: 1_000)
        var bucket = TokenBucket(at: 0)
        // When
        for _ in 0..<20 {
            #expect(bucket.decision(1, rate, at: 0).isAllowed)
            bucket.use(1, rate, at: 0)
        }
        // Then
        let refused = bucket.decision(1, rate, at: 0)
        #expect(!refused.isAllowed && refused.wait == 50 && refused.remaining == 0)
        #expect(!bucket.decision(1, rate, at: 49).isAllowed && bucket.decision(1, rate, at: 50).isAllowed)
        #expect(bucket.decision(1, rate, at: 10_000).remaining == 20)
    }

    @Test func anAmountAboveTheRateWaitsForAFullBucket() {
        // Given
        let rate = Rate(100, per: 1_000)
        var bucket = TokenBucket(at: 0)
        bucket.use(1, rate, at: 0)
        #expect(!bucket.decision(250, rate, at: 9).isAllowed && bucket.decision(250, rate, at: 10).isAllowed)
        // When
        bucket.use(250, rate, at: 10)
        // Then the amount is paid before the next one
        #expect(bucket.decision(1, rate, at: 10).wait == 1_510)
        #expect(!bucket.decision(1, rate, at: 1_519).isAllowed && bucket.decision(1, rate, at: 1_520).isAllowed)
    }

    @Test(
        "no time, amount or rate overflows",
        arguments: [Rate(.max, per: .max), Rate(.min, per: .min), Rate(1, per: .max), Rate(.max, per: 1)])
    func extremes(rate: Rate) {
        for start: Int64 in [.min, 0, .max] {
            var bucket = TokenBucket(at: start)
            for amount: Int64 in [.min, -1, 0, 1, .max] {
                for now: Int64 in [.min, -1, 0, 1, .max] {
                    bucket.use(amount, rate, at: now)
                    let decision = bucket.decision(amount, rate, at: now)
                    #expect(decision.wait >= 0 && decision.remaining >= 0)
                }
            }
        }
    }

    @Test("within any time, the rate and one bucket pass, and a request passes after the wait", arguments: 0..<100 as Range<UInt64>)
    func isExact(seed: UInt64) {
        // Given
        var random = SeededGenerator(seed: seed)
        let rate = Rate(Int64.random(in: 1...50, using: &random), per: Int64.random(in: 1...2_000, using: &random))
        var bucket = TokenBucket(at: 0)
        var (now, passed): (Int64, Int64) = (0, 0)
        for _ in 0..<500 {
            now += Int64.random(in: 0...20, using: &random)
            let amount = Int64.random(in: 1...rate.count, using: &random)
            // When
            let decision = bucket.decision(amount, rate, at: now)
            // Then
            if decision.isAllowed {
                bucket.use(amount, rate, at: now)
                passed += amount
            } else {
                #expect(!bucket.decision(amount, rate, at: now + decision.wait - 1).isAllowed)
                #expect(bucket.decision(amount, rate, at: now + decision.wait).isAllowed)
            }
            #expect(passed * rate.period <= rate.count * rate.period + now * rate.count)
        }
    }
}
