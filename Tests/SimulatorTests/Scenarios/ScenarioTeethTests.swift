import FreshetSimulator
import Testing

/// The example scenarios find faults: each of these finds the rule that it tests when an injected bug breaks it.
@Suite struct ScenarioTeethTests {
    @Test(arguments: [
        ("01-half-open-socket", InjectedBug.sleepingWatchdog, Rule.expectation),
        ("01-half-open-socket", .stuckLive, .noSilentStaleness),
        ("03-lost-acknowledgement", .forgetNumber, .exactlyOnce),
        ("03-lost-acknowledgement", .dropOverlay, .overlayThenBase),
        ("04-bad-write", .stopSending, .converge),
        ("04-bad-write", .keepRejected, .pendingMeansPending),
        ("06-refetch-over-optimistic-value", .flicker, .overlayThenBase),
        ("06-refetch-over-optimistic-value", .skipFence, .fenceFetches),
        ("07-pending-writes-lost", .forgetOutbox, .readYourWrites),
        ("07-pending-writes-lost", .acceptBeforeSync, .durableBeforeAcknowledged),
        ("07-pending-writes-lost", .resetDropsOutbox, .resetKeepsYours),
        ("08-resync-storm", .trustAfterReset, .nothingInvented),
        ("09-proxy-that-cuts", .sleepingWatchdog, .expectation),
        ("11-one-poll-per-client", .keepWaiters, .bounded),
        ("15-publish-while-parking", .loseWakeUp, .expectation),
    ])
    func whatIsBrokenIsFound(name: String, bug: InjectedBug, rule: Rule) throws {
        // Given a scenario, and an implementation that is broken where it looks
        var simulation = Simulation(try Scenario(text: try Repository.text(of: "Examples/scenarios/\(name).scenario")))
        simulation.bug = bug
        // When it is run, then the rule is broken
        #expect(try simulation.run().violation?.rule == rule)
    }
}
