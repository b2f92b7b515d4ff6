import FreshetPlatform
import Testing

@testable import FreshetTrust

struct RateFieldsTests {
    @Test func theFieldsStateTheLimit() {
        // Given
        let rate = Rate(10, per: 60_000)
        var bucket = TokenBucket(at: 0)
        bucket.use(10, rate, at: 0)
        // When
        let decision = bucket.decision(3, rate, at: 1_000)
        // Then
        #expect(decision.policyField("failures") == #""failures";q=10;w=60"#)
        #expect(decision.limitField("failures") == #""failures";r=0;t=17"#)
        #expect(
            decision.retryAfter == 17 && !bucket.decision(3, rate, at: 17_999).isAllowed && bucket.decision(3, rate, at: 18_000).isAllowed)
    }

    @Test(
        "a wait is at least a second, whatever the rate", arguments: [Rate(.max, per: .max), Rate(.min, per: .min), Rate(1, per: .max)])
    func waits(rate: Rate) {
        // Given
        var bucket = TokenBucket(at: 0)
        // When
        bucket.use(.max, rate, at: 0)
        // Then
        #expect(bucket.decision(1, rate, at: 0).retryAfter >= 1)
    }
}
