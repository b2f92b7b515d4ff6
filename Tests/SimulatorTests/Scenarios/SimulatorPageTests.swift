import FreshetSimulator
import Testing

/// What `docs/simulator.md` says is so.
@Suite struct SimulatorPageTests {
    private static func blocks(of language: String) throws -> [String] {
        try Repository.text(of: "docs/simulator.md").components(of: language)
    }

    @Test(arguments: try Self.blocks(of: "scenario"))
    func itsScenariosHold(text: String) throws {
        let scenario = try Scenario(text: text)
        let violation = try Simulation(scenario).run().violation
        #expect(violation == nil, "\(violation.map { "\($0.rule) at \($0.time) ms: \($0.text)" } ?? "")")
        #expect(try Scenario(text: scenario.text) == scenario)
    }

    @Test func itsErrorsAreThose() throws {
        // Given the lines that the page calls wrong, each after `>`, with its error below it
        let blocks = try Self.blocks(of: "error")
        #expect(blocks.count >= 3)
        for block in blocks {
            let lines = block.split(separator: "\n", omittingEmptySubsequences: true)
            let text = lines.filter { $0.hasPrefix("> ") }.map { String($0.dropFirst(2)) }.joined(separator: "\n")
            let error = #expect(throws: ScenarioError.self) { try Scenario(text: text) }
            #expect(error?.description == lines.last.map(String.init))
        }
    }

    @Test func itNamesAllFaultsAndRules() throws {
        let page = try Repository.text(of: "docs/simulator.md")
        for kind in FaultKind.allCases { #expect(page.contains("| `\(kind.rawValue)` | \(kind.summary) |\n"), "\(kind)") }
        for rule in Rule.allCases { #expect(page.contains("| \(rule) | "), "\(rule)") }
    }

    @Test func itNamesAllScenarios() throws {
        let page = try Repository.text(of: "docs/simulator.md")
        for name in try Repository.scenarios(in: "Examples/scenarios") {
            #expect(page.contains("[\(name.dropLast(9))](../Examples/scenarios/\(name))"), "\(name)")
        }
    }

    @Test func itsReferenceHasEveryStatement() throws {
        // Given all incidents of the page's scenarios, as kinds
        var found: Set<String> = []
        for block in try Self.blocks(of: "scenario") {
            for incident in try Scenario(text: block).incidents { found.insert(String(describing: incident.event).kind) }
        }
        // Then every kind that there is is among them
        let all = Set(try ScenarioSamples.everything().incidents.map { String(describing: $0.event).kind })
        #expect(all.subtracting(found) == [])
    }
}

extension String {
    /// The fenced blocks of a language, without their fences.
    fileprivate func components(of language: String) -> [String] {
        var (blocks, block): ([String], [Substring]?) = ([], nil)
        for line in split(separator: "\n", omittingEmptySubsequences: false) {
            if let lines = block, line == "```" {
                blocks.append(lines.joined(separator: "\n"))
                block = nil
            } else if block != nil {
                block?.append(line)
            } else if line == "```\(language)" {
                block = []
            }
        }
        return blocks
    }

    /// The text before the first bracket: the name of an enum's case.
    fileprivate var kind: String { String(prefix { $0 != "(" }) }
}
