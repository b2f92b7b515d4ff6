import FreshetSimulator
import Testing

/// The scenarios of `Examples/scenarios`: one for each trouble that such systems have had.
@Suite struct ScenarioFileTests {
    @Test(arguments: try Repository.scenarios(in: "Examples/scenarios"))
    func everyScenarioHolds(name: String) throws {
        // Given a file
        let scenario = try Scenario(text: try Repository.text(of: "Examples/scenarios/\(name)"))
        // When it is run twice, once recorded
        let first = try Simulation(scenario).run()
        let second = try Simulation(scenario).run(isRecorded: true)
        // Then all that it expects holds, no rule is broken, and both runs are the same
        #expect(first.violation == nil, "\(first.violation.map { "\($0.rule) at \($0.time) ms: \($0.text)" } ?? "")")
        #expect(second.hash == first.hash)
        #expect(second.scenario == scenario)
        #expect(scenario.incidents.contains { if case .expect = $0.event { true } else { false } })
    }

    @Test(arguments: try Repository.scenarios(in: "Examples/scenarios"))
    func everyScenarioHoldsWhateverTheDelays(name: String) throws {
        // Given a file without its expectations, which hold in one course of events only
        let original = try Scenario(text: try Repository.text(of: "Examples/scenarios/\(name)"))
        var (scenario, delay) = (original, Int64(0))
        scenario.incidents = []
        for incident in original.incidents {
            delay += incident.delay
            if case .expect = incident.event { continue }
            scenario.add(incident.event, after: delay)
            delay = 0
        }
        for seed in 1...20 as ClosedRange<UInt64> {
            // When messages and disks take random times, then the rules hold all the same
            scenario.seed = seed
            let violation = try Simulation(scenario).run().violation
            #expect(violation == nil, "seed \(seed): \(violation.map { "\($0.rule): \($0.text)" } ?? "")")
        }
    }

    @Test func thereIsOneForEachTrouble() throws {
        let names = try Repository.scenarios(in: "Examples/scenarios")
        #expect(names.map { String($0.prefix(2)) } == (1...15).map { $0 < 10 ? "0\($0)" : "\($0)" })
        for name in names {
            let lines = try Repository.text(of: "Examples/scenarios/\(name)").split(separator: "\n")
            #expect(lines.first?.hasPrefix("# ") == true && lines.contains { $0.hasPrefix("# Owed: ") }, "\(name)")
        }
    }
}
