import FreshetClient
import FreshetWire

/// Moves a world along: incidents when their time has come, everything else in between, and an end at which all must be well.
final class Runner {
    private let world: World
    private var scenario: Scenario
    private var lastIncident: Int64 = 0
    /// Whether all incidents have been, and the faults are over.
    private var isHealed = false

    /// How long it may take until all is quiet, once the faults are over: in milliseconds, and in steps.
    private static var patience: (time: Int64, steps: Int) { (600_000, 100_000) }
    /// How long a quiet world is watched, in milliseconds.
    private static var afterglow: Int64 { 40_000 }

    init(
        _ scenario: Scenario, keys: [RecordKey], _ sabotage: Sabotage?, isRecorded: Bool, coverage: CoverageRecorder? = nil
    ) throws(ScenarioError) {
        let recorder = isRecorded ? Recorder(scenario, keys: keys) : nil
        world = try World(scenario, keys: keys, sabotage: sabotage, recorder: recorder, coverage: coverage)
        self.scenario = scenario
        self.scenario.incidents = []
    }

    /// - Parameters:
    ///   - limit: the number of steps after which no more incidents are requested.
    ///   - next: returns the next incident; `nil` after the last one.
    func run(untilStep limit: Int, _ next: () -> Scenario.Incident?) -> Outcome {
        var violation: Violation?
        do throws(Violation) {
            while world.step < limit, let incident = next() {
                try perform(incident)
            }
            try finish()
        } catch {
            violation = error
            // It came when the faults still lasted: done again, they must not end before it.
            if !isHealed { scenario.incidents.append(Scenario.Incident(after: world.now - lastIncident + 1, .healAll)) }
        }
        return Outcome(
            violation: violation, hash: world.digest.value, steps: world.step, time: world.now, scenario: scenario,
            timeline: world.recorder?.finished(at: world.now, violation))
    }

    private func perform(_ incident: Scenario.Incident) throws(Violation) {
        let time = world.now + incident.delay
        try pass(until: time)
        world.now = time
        // Only now: one that a violation came before had no part in it.
        scenario.incidents.append(incident)
        lastIncident = time
        world.step += 1
        world.digest.mix(time)
        if incident.what == .settle {
            try settle()
            lastIncident = world.now
        } else {
            try world.perform(incident.what)
        }
    }

    /// Lets everything happen that comes before a time.
    private func pass(until time: Int64) throws(Violation) {
        while let next = world.queue.nextTime, next < time { _ = try world.advance() }
    }

    /// Lets everything happen until nothing but waiting for news is left.
    private func settle() throws(Violation) {
        let (end, last) = (world.now + Self.patience.time, world.step + Self.patience.steps)
        while !world.isQuiet {
            guard world.now < end, world.step < last, try world.advance() else { throw world.unrest() }
        }
    }

    private func finish() throws(Violation) {
        isHealed = true
        world.coverage?.heal(at: world.now)
        world.healAll()
        try settle()
        // As long as a poll is held, so that no abandoned poll is left.
        try pass(until: world.now + Self.afterglow)
        try settle()
        try world.checkEnd()
    }
}
