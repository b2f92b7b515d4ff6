import FreshetPlatform
import Testing

struct RateLimiterTests {
    @Test func aKeyTakesItsCountAtOnceThenItsRateAndOthersAreNotConcerned() {
        // Given
        var limiter = RateLimiter<Int>(Rate(20, per: 1_000), limit: 100)
        func taken(_ count: Int, _ key: Int, at now: Int64) -> Int { (0..<count).count { _ in limiter.take(1, for: key, at: now) } }
        // Then all are there at once
        #expect(taken(25, 1, at: 0) == 20)
        #expect(taken(1, 2, at: 0) == 1)
        // And two are refilled in a tenth of the period, and none by a clock that goes back
        #expect(taken(5, 1, at: 100) == 2)
        #expect(taken(1, 1, at: 0) == 0)
        // And no more than all, after however long
        #expect(taken(25, 1, at: 1_100) == 20)
        #expect(taken(25, 1, at: .max) == 20)
    }

    @Test func withoutARateAllIsTaken() {
        // Given
        var limiter = RateLimiter<Int>(nil, limit: 100)
        // When
        let isTaken = limiter.take(.max, for: 1, at: 0)
        // Then
        #expect(isTaken && limiter.count == 0)
    }

    @Test func keysAreForgottenSoThatTheyTakeNoMoreThanTheirBound() {
        // Given a key that has used its rate
        var limiter = RateLimiter<Int>(Rate(1, per: 1_000), limit: 1_000)
        let isFirstTaken = limiter.take(1, for: 0, at: 5)
        // When many others use theirs
        let areTaken = (1..<10_000).allSatisfy { limiter.take(1, for: $0, at: 5) }
        #expect(isFirstTaken && areTaken)
        // Then the latest is remembered, and the first is not
        #expect(limiter.count <= 1_000)
        let taken = [9_999, 0].map { limiter.take(1, for: $0, at: 5) }
        #expect(taken == [false, true])
    }
}
