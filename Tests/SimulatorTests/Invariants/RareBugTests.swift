import Testing

@testable import FreshetSimulator

/// The injected bugs that uniform seeds seldom show, each by a short scenario that shows it.
@Suite struct RareBugTests {
    private static let folder = "Tests/SimulatorTests/RareBugs"

    @Test(arguments: InjectedBugTests.rare)
    func theScenarioShowsTheBug(_ bug: InjectedBug) throws {
        // Given a scenario
        let scenario = try Scenario(text: try Repository.text(of: "\(Self.folder)/\(bug.rawValue).scenario"))
        // When the code that ships runs it, then no rule is broken
        #expect(try Simulation(scenario).run().violation == nil)
        // When the bug is injected, then the rule is broken that it breaks
        var simulation = Simulation(scenario)
        simulation.bug = bug
        #expect(try simulation.run().violation?.rule == bug.rule)
    }

    @Test func eachScenarioIsOfARareBug() throws {
        let names = try Repository.scenarios(in: Self.folder).map { $0.replacing(".scenario", with: "") }
        #expect(Set(names) == Set(InjectedBugTests.rare.map(\.rawValue)))
    }
}
