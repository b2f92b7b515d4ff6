import Testing

@testable import FreshetSimulator

@Suite struct ShrinkerTests {
    @Test(arguments: [InjectedBug.skipFence, .dropOverlay, .confirmAtSend])
    func aViolationComesDownToAFewIncidents(_ bug: InjectedBug) throws {
        // Given a run of hundreds of incidents that breaks a rule
        let outcome = try broken(by: bug)
        let violation = try #require(outcome.violation)
        // When it is shrunk
        var shrinker = Shrinker(rule: violation.rule)
        shrinker.bug = bug
        let short = shrinker.shrunk(outcome.scenario)
        // Then a few are left, and they still break it
        #expect(short.incidents.count <= 20, "\(short.text)")
        #expect(short.incidents.count <= outcome.scenario.incidents.count)
        var simulation = Simulation(short)
        simulation.bug = bug
        #expect(try simulation.run().violation?.rule == violation.rule)
    }

    @Test func shrinkingTwiceIsTheSame() throws {
        let outcome = try broken(by: .dropOverlay)
        let violation = try #require(outcome.violation)
        var shrinker = Shrinker(rule: violation.rule)
        shrinker.bug = .dropOverlay
        #expect(shrinker.shrunk(outcome.scenario) == shrinker.shrunk(outcome.scenario))
    }

    @Test func whatBreaksNothingStaysAsItIs() throws {
        // Given a run that breaks no rule
        let outcome = try Simulation(seed: 1, workload: Workload(devices: 2, steps: 100)).run()
        // When it is to be shrunk
        let short = Shrinker(rule: .neverBack).shrunk(outcome.scenario)
        // Then it is returned
        #expect(short == outcome.scenario)
    }

    private func broken(by bug: InjectedBug) throws -> Outcome {
        for seed: UInt64 in 1...100 {
            var simulation = Simulation(seed: seed, workload: Workload(devices: 3, steps: 500))
            simulation.bug = bug
            let outcome = try simulation.run()
            if outcome.violation?.rule == bug.rule { return outcome }
        }
        throw ScenarioError.invalid(line: nil, "\(bug) was not caught")
    }
}
