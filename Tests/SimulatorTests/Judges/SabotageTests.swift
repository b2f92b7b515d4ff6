import Testing

@testable import FreshetSimulator

/// A judge that catches nothing is no judge: each rule's implementation is broken on purpose.
@Suite struct SabotageTests {
    /// Seeds that are tried at most, as `docs/simulator.md` promises.
    private static let seeds: ClosedRange<UInt64> = 1...200

    @Test(arguments: Sabotage.allCases)
    func everySabotageIsCaughtByTheRuleThatItBreaks(_ sabotage: Sabotage) throws {
        // Given a workload with all faults, and an implementation that is broken
        let workload = Workload(devices: 4, steps: 1_500)
        // When seed after seed is run
        let caught = try Self.seeds.first { seed in
            var simulation = Simulation(seed: seed, workload: workload)
            simulation.sabotage = sabotage
            return try simulation.run().violation?.rule == sabotage.rule
        }
        // Then one of them breaks that very rule
        #expect(caught != nil, "\(sabotage) is not caught by rule \(sabotage.rule)")
    }

    @Test func everyRuleHasASabotage() {
        let rules = Set(Sabotage.allCases.map(\.rule))
        for rule in Rule.allCases where rule != .expectation { #expect(rules.contains(rule), "\(rule) is not checked") }
    }
}
