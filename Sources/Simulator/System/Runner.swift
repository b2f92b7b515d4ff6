import FreshetClient
import FreshetWire

/// Runs a scenario: incidents at their times, all other events in between, and at the end a check that everything is at rest.
final class Runner {
    private let system: SimulatedSystem
    private var scenario: Scenario
    private var lastIncident: Int64 = 0
    /// Whether all incidents have been, and the faults are over.
    private var isHealed = false

    /// How long it may take until all is quiet, once the faults are over: in milliseconds, and in steps.
    private static var patience: (time: Int64, steps: Int) { (600_000, 100_000) }
    /// How long a quiet system is watched, in milliseconds.
    private static var afterglow: Int64 { 40_000 }

    init(
        _ scenario: Scenario, keys: [RecordKey], _ bug: InjectedBug?, isRecorded: Bool, coverage: CoverageRecorder? = nil
    ) throws(ScenarioError) {
        let recorder = isRecorded ? Recorder(scenario, keys: keys) : nil
        system = try SimulatedSystem(scenario, keys: keys, bug: bug, recorder: recorder, coverage: coverage)
        self.scenario = scenario
        self.scenario.incidents = []
    }

    /// - Parameters:
    ///   - limit: the number of steps after which no more incidents are requested.
    ///   - wait: the most events before an incident: after so many, all faults end instead. Messages between servers count.
    ///   - next: returns the next incident; `nil` after the last one.
    func run(untilStep limit: Int, eventsOfWait wait: Int = .max, _ next: () -> Scenario.Incident?) -> Outcome {
        var violation: Violation?
        do throws(Violation) {
            while system.step < limit, let incident = next() {
                guard try pass(until: system.now + incident.delay, events: wait) else {
                    // As an incident, so that the faults end at the same time when the outcome's scenario is run.
                    try pass(until: system.now + 1)
                    try perform(.healAll, at: system.now + 1)
                    break
                }
                try perform(incident.event, at: lastIncident + incident.delay)
            }
            try finish()
        } catch {
            violation = error
            // It came when the faults still lasted: done again, they must not end before it.
            if !isHealed { scenario.incidents.append(Scenario.Incident(after: system.now - lastIncident + 1, .healAll)) }
        }
        return Outcome(
            violation: violation, hash: system.digest.value, steps: system.step, time: system.now, access: system.access,
            scenario: scenario,
            timeline: system.recorder?.finished(at: system.now, violation))
    }

    private func perform(_ event: ScenarioEvent, at time: Int64) throws(Violation) {
        system.now = time
        // Only now: one that a violation came before had no part in it.
        scenario.incidents.append(Scenario.Incident(after: time - lastIncident, event))
        lastIncident = time
        system.step += 1
        system.digest.mix(time)
        if event == .settle {
            try settle()
            try system.checkParts()
            lastIncident = system.now
        } else {
            try system.perform(event)
        }
    }

    /// Lets everything happen that comes before a time. False if that is more than so many events.
    @discardableResult
    private func pass(until time: Int64, events limit: Int = .max) throws(Violation) -> Bool {
        var count = 0
        while let next = system.queue.nextTime, next < time {
            if count == limit { return false }
            count += 1
            _ = try system.advance()
        }
        return true
    }

    /// Lets everything happen until only waiting for changes is left.
    private func settle() throws(Violation) {
        guard try comesToRest() else { throw system.unrest() }
    }

    private func comesToRest() throws(Violation) -> Bool {
        let (end, last) = (system.now + Self.patience.time, system.step + Self.patience.steps)
        while !system.isQuiet {
            guard system.now < end, system.step < last, try system.advance() else { return false }
        }
        return true
    }

    private func finish() throws(Violation) {
        isHealed = true
        system.coverage?.heal(at: system.now)
        system.healAll()
        // A merge waits for its record, which the token may be unable to read.
        if system.hasParts, try comesToRest() { try system.checkParts() }
        system.grantEverything()
        try settle()
        // As long as a poll is held, so that no abandoned poll is left.
        try pass(until: system.now + Self.afterglow)
        try settle()
        try system.checkEnd()
    }
}
