import Testing

@testable import FreshetSimulator

/// A search that finds nothing in a broken implementation proves nothing.
@Suite struct SmallSabotageTests {
    @Test(arguments: SmallSabotage.allCases)
    func everySabotageIsFound(_ sabotage: SmallSabotage) throws {
        // Given a small world whose implementation is broken
        let setup = try #require(SmallCatalog.worlds.first { $0.name == sabotage.world })
        // When every order of up to four events is tried; a lost verdict and a rejection by another history take eight
        let (events, choices, restInterval) = sabotage == .replayMerging ? (8, 3, 97) : (4, .max, 3)
        var search = SmallSearch(setup.broken(by: sabotage), events: events, choices: choices, restInterval: restInterval)
        let violation = try search.run().violation
        // Then one of them breaks a rule
        #expect(violation != nil, "\(sabotage) is not found")
    }
}
