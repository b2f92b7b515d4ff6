import Testing

@testable import FreshetClient

@Suite("A retry") struct RetryTests {
    @Test("each failure in a row waits for at most twice as long, up to the longest delay")
    func delaysGrow() {
        for seed in 0..<200 as Range<UInt64> {
            // Given
            var retry = Retry()
            for failure in 0..<12 {
                // When
                var turn = PartSupport.turn(at: 50_000, random: seed &* 31 &+ UInt64(failure))
                retry.fail(&turn)
                // Then
                let ceiling: Int64 = min(30_000, 250 << Int64(failure))
                let range: ClosedRange<Int64> = 50_050...(50_050 + ceiling)
                #expect(range.contains(retry.notBefore))
                #expect(retry.failures == failure + 1)
            }
        }
    }

    @Test("a Retry-After is waited for, up to ten minutes")
    func retryAfter() {
        var retry = Retry()
        var turn = PartSupport.turn(at: 0)
        retry.fail(&turn, retryAfter: 90_000)
        #expect(retry.notBefore == 90_000)
        retry.fail(&turn, retryAfter: .max)
        #expect(retry.notBefore == 600_000)
    }

    @Test("it is due from its time on")
    func isDue() {
        var retry = Retry()
        var turn = PartSupport.turn(at: 1_000)
        retry.fail(&turn)
        #expect(!retry.isDue(PartSupport.turn(at: retry.notBefore - 1)) && retry.isDue(PartSupport.turn(at: retry.notBefore)))
    }

    @Test("a success makes the next failure the first, and ends the need of a fresh token; hurrying ends the wait alone")
    func successAndHurry() {
        // Given
        var retry = Retry()
        var turn = PartSupport.turn()
        for _ in 0..<5 { retry.fail(&turn) }
        retry.refuseToken()
        // When
        retry.hurry()
        // Then
        #expect(retry.notBefore == 0 && retry.failures == 5 && retry.needsFreshToken)
        // When
        retry.succeed()
        // Then
        #expect(retry.failures == 0 && !retry.needsFreshToken)
    }

    @Test("a pause waits as after some failures and counts none")
    func pause() {
        var retry = Retry()
        var turn = PartSupport.turn(at: 0)
        retry.pause(&turn, asAfter: 20)
        #expect(retry.failures == 0 && retry.notBefore <= 30_050)
    }
}
