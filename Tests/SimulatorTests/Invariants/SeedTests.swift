import Testing

@testable import FreshetSimulator

/// The code that ships breaks no rule under any fault.
@Suite struct SeedTests {
    @Test(arguments: 0..<12)
    func noRuleIsBroken(_ group: UInt64) throws {
        for seed in (group * 4 + 1)...(group * 4 + 4) {
            // Given five devices, a server, and all that can go wrong
            let simulation = Simulation(seed: seed, workload: Workload(devices: 5, steps: 1_200))
            // When it runs until the faults are over and all is quiet
            let outcome = try simulation.run()
            // Then every rule held at every step
            #expect(outcome.violation == nil, "seed \(seed): \(outcome.violation.map { "\($0.rule), \($0.text)" } ?? "")")
        }
    }

    @Test(arguments: [2, 3, 5], 0..<4)
    func noRuleIsBrokenBySeveralServers(_ servers: Int, _ group: UInt64) throws {
        for seed in (group * 4 + 1)...(group * 4 + 4) {
            // Given devices that move between servers over one store, and all that can go wrong between these too
            let simulation = Simulation(seed: seed, workload: Workload(devices: 4, steps: 1_200, servers: servers))
            // Then
            let outcome = try simulation.run()
            #expect(outcome.violation == nil, "seed \(seed): \(outcome.violation.map { "\($0.rule), \($0.text)" } ?? "")")
            // And the same seed is the same run, also as a scenario
            #expect(try simulation.run().hash == outcome.hash)
            let again = try Simulation(try Scenario(text: outcome.scenario.text)).run()
            #expect(again.steps == outcome.steps && again.time == outcome.time)
        }
    }

    @Test(arguments: FaultKind.allCases)
    func noRuleIsBrokenWithOneKindOfFault(_ kind: FaultKind) throws {
        for seed: UInt64 in 1_001...1_003 {
            let outcome = try Simulation(seed: seed, workload: Workload(devices: 3, steps: 800, faults: [kind])).run()
            #expect(outcome.violation == nil, "seed \(seed): \(outcome.violation.map { "\($0.rule), \($0.text)" } ?? "")")
        }
    }

    @Test(arguments: 0..<8)
    func noRuleIsBrokenWithRights(_ group: UInt64) throws {
        for seed in (group * 4 + 1)...(group * 4 + 4) {
            let outcome = try Simulation(seed: seed, workload: Workload(devices: 5, steps: 1_200, hasRights: true)).run()
            #expect(outcome.violation == nil, "seed \(seed): \(outcome.violation.map { "\($0.rule), \($0.text)" } ?? "")")
        }
    }

    @Test(arguments: [false, true], 0..<8)
    func noRuleIsBrokenWithLists(hasRights: Bool, _ group: UInt64) throws {
        for seed in (group * 4 + 1)...(group * 4 + 4) {
            let workload = Workload(devices: 5, steps: 1_200, hasRights: hasRights, hasLists: true)
            let outcome = try Simulation(seed: seed, workload: workload).run()
            #expect(outcome.violation == nil, "seed \(seed): \(outcome.violation.map { "\($0.rule), \($0.text)" } ?? "")")
        }
    }

    @Test func shortRunsWithRightsTestTheEndsOfTokens() throws {
        // When the first of the ten thousand interleavings of docs/simulator.md are run
        var counts = AccessCounts()
        for seed: UInt64 in 1...40 {
            let outcome = try Simulation(seed: seed, workload: Workload(devices: 3, steps: 100, hasRights: true)).run()
            #expect(outcome.violation == nil, "seed \(seed): \(outcome.violation.map { "\($0.rule), \($0.text)" } ?? "")")
            counts += outcome.access
        }
        // Then each of the ways in which a token ends has occurred
        #expect(counts.changes > 0 && counts.revocations > 0 && counts.revokedWaits > 0 && counts.revokedRequests > 0)
        #expect(counts.expiredWaits > 0 && counts.expiredRequests > 0)
    }

    @Test func theSameSeedIsTheSameRun() throws {
        for seed: UInt64 in 2_001...2_004 {
            // Given a seed
            let simulation = Simulation(seed: seed, workload: Workload(devices: 4, steps: 1_000))
            // When it is run twice, and a third time with a recording
            let first = try simulation.run()
            let second = try simulation.run()
            let recorded = try simulation.run(isRecorded: true)
            // Then all three are the same
            #expect(first.hash == second.hash)
            #expect(first.hash == recorded.hash)
            #expect(first.steps == second.steps)
        }
    }

    @Test func itsScenarioIsTheSameRun() throws {
        // Given a random run
        let outcome = try Simulation(seed: 3_001, workload: Workload(devices: 4, steps: 1_000)).run()
        // When its incidents are run as a scenario, through its text
        let again = try Simulation(try Scenario(text: outcome.scenario.text)).run()
        // Then it is the same, but for the keys that it never used
        #expect(again.steps == outcome.steps)
        #expect(again.time == outcome.time)
    }

    @Test func otherSeedsAreOtherRuns() throws {
        let hashes = try (1...8 as ClosedRange<UInt64>).map {
            try Simulation(seed: $0, workload: Workload(devices: 2, steps: 200)).run().hash
        }
        #expect(Set(hashes).count == 8)
    }
}
