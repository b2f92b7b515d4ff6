import Testing

@testable import FreshetSimulator

/// A search that finds nothing in a broken implementation proves nothing.
@Suite struct SmallBugTests {
    @Test(arguments: SmallBug.allCases)
    func everyBugIsFound(_ bug: SmallBug) throws {
        // Given a small world whose implementation is broken
        let setup = try #require(SmallCatalog.worlds.first { $0.name == bug.world })
        // When every order of up to four events is tried; a lost verdict and a rejection by another history take eight
        let (events, choices, restInterval) = bug == .replayMerging ? (8, 3, 97) : (4, .max, 3)
        var search = SmallSearch(setup.broken(by: bug), events: events, choices: choices, restInterval: restInterval)
        let violation = try search.run().violation
        // Then one of them breaks a rule
        #expect(violation != nil, "\(bug) is not found")
    }
}
