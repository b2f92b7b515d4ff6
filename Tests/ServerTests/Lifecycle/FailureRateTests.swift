import Testing

@testable import FreshetServer

@Suite("Failures that are logged") struct FailureRateTests {
    @Test("the first, and then one in ten seconds, which says how many were left out") func rate() {
        // Given a failure
        var rate = FailureRate()
        #expect(rate.admit(at: 5) == 0)
        // When more follow within ten seconds, Then they are left out
        for time in [5, 6, 10_004] as [Int64] { #expect(rate.admit(at: time) == nil) }
        // When ten seconds have passed, Then the next one says how many
        #expect(rate.admit(at: 10_005) == 3)
        #expect(rate.admit(at: 10_006) == nil)
        // And one that comes alone, later, says that none was left out but that
        #expect(rate.admit(at: 60_000) == 1)
        #expect(rate.admit(at: 90_000) == 0)
    }
}
