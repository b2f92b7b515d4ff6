import Testing

@testable import FreshetSimulator

/// Each rule's implementation is broken on purpose, and its check must fail.
@Suite struct InjectedBugTests {
    /// Seeds that are tried at most, as `docs/simulator.md` promises.
    private static let seeds: ClosedRange<UInt64> = 1...200

    /// Bugs that uniform seeds seldom show; ``RareBugTests`` runs a scenario for each.
    static let rare: [InjectedBug] = [.beginAtLateResponse, .forgetGoal, .replayBehindOwnValue]

    @Test(arguments: InjectedBug.allCases.filter { !rare.contains($0) })
    func everyBugIsCaughtByTheRuleThatItBreaks(_ bug: InjectedBug) throws {
        // Given a workload with all faults, and an implementation that is broken
        let workload = Workload(devices: 4, steps: 1_500, servers: bug.servers, hasRights: bug.needsRights, hasLists: bug.needsLists)
        // When seed after seed is run
        let caught = try Self.seeds.first { seed in
            var simulation = Simulation(seed: seed, workload: workload)
            simulation.bug = bug
            return try simulation.run().violation?.rule == bug.rule
        }
        // Then one of them breaks that very rule
        #expect(caught != nil, "\(bug) is not caught by rule \(bug.rule)")
    }

    @Test func everyRuleHasAnInjectedBug() {
        let rules = Set(InjectedBug.allCases.map(\.rule))
        for rule in Rule.allCases where rule != .expectation { #expect(rules.contains(rule), "\(rule) is not checked") }
    }
}
