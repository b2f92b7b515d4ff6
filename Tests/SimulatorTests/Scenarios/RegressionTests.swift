import FreshetSimulator
import Testing

/// The simulator's findings: each scenario here broke a rule once, as its comment explains.
@Suite struct RegressionTests {
    private static let folder = "Tests/SimulatorTests/Regressions"

    @Test func thereAreSome() throws {
        #expect(!(try Repository.scenarios(in: Self.folder)).isEmpty)
    }

    @Test(arguments: try Repository.scenarios(in: folder))
    func whatWasMendedStaysMended(name: String) throws {
        // Given what broke a rule once
        let scenario = try Scenario(text: try Repository.text(of: "\(Self.folder)/\(name)"))
        // When it is run twice
        let first = try Simulation(scenario).run()
        let second = try Simulation(scenario).run()
        // Then no rule is broken, and both runs are the same
        #expect(first.violation == nil, "\(first.violation.map { "\($0.rule) at \($0.time) ms: \($0.text)" } ?? "")")
        #expect(second.hash == first.hash)
    }

    @Test(arguments: try Repository.scenarios(in: folder))
    func eachSaysWhatItIsAbout(name: String) throws {
        // Given a file
        let lines = try Repository.text(of: "\(Self.folder)/\(name)").split(separator: "\n")
        // Then its name has a number, and its comment says which rule was broken and why
        #expect(name.prefix(2).allSatisfy(\.isNumber) && name.dropFirst(2).hasPrefix("-"), "\(name)")
        for start in ["# Rule: ", "# Found: ", "# Cause: "] {
            #expect(lines.contains { $0.hasPrefix(start) }, "\(name) has no line '\(start)…'")
        }
        #expect(lines.first?.hasPrefix("# ") == true)
    }
}
