import FreshetSimulator
import Testing

@Suite("Article: getting started with the simulator")
struct GettingStartedTests {
    private func runSeed(print: (String) -> Void) throws {
        // article begins
        let workload = Workload(devices: 3, steps: 5_000, faults: [.network, .crashes])
        let outcome = try Simulation(seed: 7, workload: workload).run()
        if let violation = outcome.violation { print("\(violation.rule): \(violation.text)") }
        // article ends
    }

    @Test("the scenario holds")
    func scenario() throws {
        // article begins
        let a = Scenario.Device("A"), b = Scenario.Device("B", following: .everything)
        let scenario = try Scenario {
            a
            b
            a.puts("customers/7", ["name": "Ada"])
            b.partition(for: .seconds(300))
            Settle()
            Expect(b.sees("customers/7", ["name": "Ada"]))
            Expect(b.is(.live))
        }
        let outcome = try Simulation(scenario).run()
        #expect(outcome.violation == nil)
        // article ends
    }

    private func shrink(_ outcome: Outcome, print: (String) -> Void) {
        // article begins
        if let violation = outcome.violation {
            let short = Shrinker(rule: violation.rule).shrunk(outcome.scenario)
            print(short.text)
        }
        // article ends
    }

    @Test("the seed breaks no rule")
    func seed() throws {
        var lines: [String] = []
        try runSeed { lines.append($0) }
        #expect(lines.isEmpty)
    }

    @Test("a violation is shrunk to the incident that breaks the rule")
    func shrinks() throws {
        // Given a scenario whose expectation comes before the change has arrived
        let a = Scenario.Device("A"), b = Scenario.Device("B", following: .everything)
        let scenario = try Scenario {
            a
            b
            a.puts("customers/7", ["name": "Ada"])
            a.puts("customers/8", ["name": "Eve"])
            Expect(b.sees("customers/7", ["name": "Ada"]))
        }
        let outcome = try Simulation(scenario).run()
        #expect(outcome.violation?.rule == .expectation)
        // When
        var texts: [String] = []
        shrink(outcome) { texts.append($0) }
        // Then the expectation is left, and the write to the other record is not
        let text = try #require(texts.first)
        #expect(text.contains("sees customers/7") && !text.contains("customers/8"))
    }
}
