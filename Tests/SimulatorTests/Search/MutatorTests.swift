import Testing

@testable import FreshetSimulator

@Suite struct MutatorTests {
    @Test func everyMutationCanBeRunAndWritten() throws {
        // Given a mutator, and two scenarios that random runs have left
        var mutator = Mutator(faults: Set(FaultKind.allCases), devices: 5, seed: 1)
        let other = try Simulation(seed: 2, workload: Workload(devices: 5, steps: 300)).run().scenario
        var scenario = try Simulation(seed: 1, workload: Workload(devices: 3, steps: 300)).run().scenario
        for round in 0..<400 {
            // When one is mutated again and again
            let reach = FirstVisit(
                incidents: scenario.incidents.count - round % 5, steps: 100, elapsed: Int64(round * 37),
                isHealed: round % 3 == 0)
            scenario = mutator.mutated(Corpus.Place(scenario: scenario, reach: reach), with: other)
            // Then the result is a scenario that its text gives again
            try scenario.check()
            #expect(try Scenario(text: scenario.text) == scenario)
            if scenario.incidents.count > 150 { scenario = mutator.fresh() }
        }
    }

    @Test(arguments: [1, 2, 5])
    func newScenariosHaveNoMoreDevicesThanAllowed(_ devices: Int) throws {
        var mutator = Mutator(faults: Set(FaultKind.allCases), devices: devices, seed: 3)
        for _ in 0..<50 {
            let scenario = mutator.fresh()
            try scenario.check()
            #expect(try Scenario(text: scenario.text) == scenario)
            #expect((1...devices).contains(scenario.devices.count))
        }
    }

    @Test func onlyAllowedFaultsArePutIn() throws {
        // Given a mutator that may put in crashes alone
        var mutator = Mutator(faults: [.crashes], devices: 2, seed: 4)
        for _ in 0..<50 {
            // Then its scenarios have no other faults
            for incident in mutator.fresh().incidents {
                switch incident.event {
                case .write, .read, .fetch, .retryRejected, .discardRejected, .serverWrite, .invalidate, .join, .crash, .postponeClosures,
                    .follow,
                    .healAll:
                    break
                default: Issue.record("\(incident.event)")
                }
            }
        }
    }

    @Test func theSameSeedGivesTheSameMutations() throws {
        let scenario = try Simulation(seed: 5, workload: Workload(devices: 2, steps: 200)).run().scenario
        let place = Corpus.Place(
            scenario: scenario,
            reach: FirstVisit(incidents: scenario.incidents.count, steps: 200, elapsed: 5, isHealed: false))
        func mutations(_ seed: UInt64) -> [Scenario] {
            var mutator = Mutator(faults: Set(FaultKind.allCases), devices: 2, seed: seed)
            return (0..<20).map { _ in mutator.mutated(place, with: nil) }
        }
        #expect(mutations(6) == mutations(6))
        #expect(mutations(6) != mutations(7))
    }
}
