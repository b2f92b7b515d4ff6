import Testing

@testable import FreshetSimulator

/// Small worlds in every order of their events, up to a bound that takes a debug build some seconds. `scripts/soak worlds` goes further.
@Suite struct SmallWorldTests {
    @Test(arguments: SmallCatalog.worlds.map(\.name))
    func noOrderOfEventsBreaksARule(name: String) throws {
        // Given a small world
        let setup = try #require(SmallCatalog.worlds.first { $0.name == name })
        // When every order of up to four events is tried, two of them no exchanges with the server
        var search = SmallSearch(setup, events: 4, choices: 2, restInterval: 31)
        let outcome = try search.run()
        // Then no rule is broken in any state
        #expect(outcome.violation == nil, "\(outcome.violation?.text ?? "")")
        #expect(outcome.states > 200)
    }

    @Test func theOrderOfEventsOfDifferentDevicesLeadsToOneState() throws {
        // Given two devices that are live
        let setup = try #require(SmallCatalog.worlds.first { $0.name == "counters" })
        let begin = try SmallWorld(setup)
        func world(_ moves: SmallMove...) -> SmallWorld {
            var world = begin
            for move in moves { world.apply(move) }
            world.focus = nil
            return world
        }
        // When each writes
        var first = world(.write(device: 0, operation: 0), .commit(device: 0), .write(device: 1, operation: 0), .commit(device: 1))
        var second = world(.write(device: 1, operation: 0), .write(device: 0, operation: 0), .commit(device: 1), .commit(device: 0))
        // Then the order does not matter, and each write does
        #expect(first.fingerprint == second.fingerprint)
        var third = world(.write(device: 0, operation: 0), .commit(device: 0), .write(device: 1, operation: 0))
        #expect(first.fingerprint != third.fingerprint)
    }

    @Test func theTimeAndTheNumbersOfRequestsDoNotMakeAnotherState() throws {
        // Given a device that is live
        let setup = try #require(SmallCatalog.worlds.first { $0.name == "writes" })
        let begin = try SmallWorld(setup)
        // When its connection breaks, and it reaches the server again after a while
        var world = begin
        world.apply(.cut(device: 0, call: 0))
        #expect(world.devices[0].fingerprint != begin.devices[0].fingerprint)
        world.settle()
        // Then it is as it was, although time has passed and its requests have other numbers
        #expect(world.devices[0].uptime > begin.devices[0].uptime)
        #expect(world.devices[0].fingerprint == begin.devices[0].fingerprint)
    }
}
