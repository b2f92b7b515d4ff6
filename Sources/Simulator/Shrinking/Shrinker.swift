/// Makes a scenario that breaks a rule as short as it can be and still break it: fewer incidents, fewer devices, simpler circumstances.
///
/// Delta debugging (Zeller and Hildebrandt, 2002, <https://doi.org/10.1109/32.988498>): parts are left out, from halves down to single
/// incidents, for as long as the same rule is broken. Deterministic; each try is one run.
public struct Shrinker: Sendable {
    /// The most runs that it takes.
    public var tries: Int

    /// A bug put into the implementation on purpose, which tests that its rule is checked.
    package var bug: InjectedBug?

    /// The kind of violation that a shorter scenario must still show; `nil` accepts any violation of the rule.
    package var kind: ViolationKind?

    private let rule: Rule

    /// A shrinker for scenarios that break `rule`.
    public init(rule: Rule, tries: Int = 2_000) {
        self.rule = rule
        self.tries = tries
    }

    /// The shortest one found; the scenario itself if it does not break the rule.
    public func shrunk(_ scenario: Scenario) -> Scenario {
        var search = ShrinkingSearch(rule: rule, kind: kind, bug: bug, left: tries, best: scenario)
        guard search.accept(scenario) else { return scenario }
        var size = Int.max
        while search.left > 0, search.cost < size {
            size = search.cost
            search.dropIncidents()
            search.dropDevices()
            search.simplify()
        }
        return search.best
    }
}

/// One search: the best scenario so far.
private struct ShrinkingSearch {
    let rule: Rule
    let kind: ViolationKind?
    let bug: InjectedBug?
    var left: Int
    var best: Scenario

    /// The size to minimize: the incidents first, then devices, delays and the seed.
    var cost: Int {
        let times = best.incidents.reduce(0) { $0 + ($1.delay > 0 ? 1 : 0) }
        return best.incidents.count * 1_000 + best.devices.count * 100 + times + (best.seed == nil ? 0 : 50)
    }

    /// Takes the scenario if it still breaks the rule, cut off after the violation.
    mutating func accept(_ scenario: Scenario) -> Bool {
        guard left > 0 else { return false }
        left -= 1
        var simulation = Simulation(scenario.loosened)
        simulation.bug = bug
        guard let outcome = try? simulation.run(), let violation = outcome.violation, violation.rule == rule,
            kind == nil || kind == ViolationKind(violation)
        else { return false }
        // What came after the violation had no part in it.
        best = outcome.scenario
        return true
    }

    /// Accepts the scenario with its delays, the usual delays, or those of another seed. Incidents that were left out may move the later
    /// ones, and a race may then break the rule only with other delays.
    private mutating func acceptWithAnyDelays(_ scenario: Scenario) -> Bool {
        if accept(scenario) { return true }
        guard scenario.seed != nil else { return false }
        for seed in [nil, 1, 2, 3] as [UInt64?] where seed != scenario.seed {
            var other = scenario
            other.seed = seed
            if accept(other) { return true }
        }
        return false
    }

    /// Leaves out ever smaller parts.
    mutating func dropIncidents() {
        var size = max(1, best.incidents.count / 2)
        while true {
            var start = 0
            while start < best.incidents.count, left > 0 {
                if !acceptWithAnyDelays(best.without(start..<min(start + size, best.incidents.count))) { start += size }
            }
            if size == 1 || left == 0 { return }
            size /= 2
        }
    }

    mutating func dropDevices() {
        var number = best.devices.count - 1
        while number >= 0, best.devices.count > 1, left > 0 {
            _ = accept(best.without(device: number))
            number -= 1
        }
    }

    /// The usual delays instead of a seed's, no waiting where none is needed, shorter faults, plain devices.
    mutating func simplify() {
        if best.seed != nil {
            var plain = best
            plain.seed = nil
            _ = accept(plain)
        }
        if best.isServerSmall {
            var plain = best
            plain.isServerSmall = false
            _ = accept(plain)
        }
        for servers in 1..<max(best.servers, 1) {
            var plain = best
            plain.servers = servers
            if accept(plain) { break }
        }
        if best.hasWideDelays {
            var plain = best
            plain.hasWideDelays = false
            _ = accept(plain)
        }
        for number in best.devices.indices {
            var plain = best
            plain.devices[number] = Scenario.Device(plain.devices[number].name, following: plain.devices[number].following)
            if plain != best { _ = accept(plain) }
        }
        for place in best.incidents.indices.reversed() where best.incidents.indices.contains(place) && best.incidents[place].delay > 0 {
            for delay in [0, 1_000, best.incidents[place].delay / 1_000 * 1_000] where delay < best.incidents[place].delay {
                var plain = best
                plain.incidents[place].delay = delay
                if accept(plain) { break }
            }
        }
    }
}

extension Scenario {
    /// Leaves time before the faults end, in case the violation comes later than before. Incidents after it are cut off again.
    fileprivate var loosened: Scenario {
        var copy = self
        if let last = copy.incidents.last, last.event == .healAll {
            copy.incidents[copy.incidents.count - 1].delay = max(last.delay, 60_000)
        }
        return copy
    }

    /// The scenario without some incidents; the later ones keep their times.
    fileprivate func without(_ range: Range<Int>) -> Scenario {
        var copy = self
        let delay = incidents[range].reduce(0) { $0 + $1.delay }
        copy.incidents.removeSubrange(range)
        if copy.incidents.indices.contains(range.lowerBound) { copy.incidents[range.lowerBound].delay += delay }
        return copy
    }

    /// Without a device and all that happens to it; those after it move up.
    fileprivate func without(device number: Int) -> Scenario {
        var copy = self
        copy.devices.remove(at: number)
        var delay: Int64 = 0
        copy.incidents = []
        for incident in incidents {
            delay += incident.delay
            guard let event = incident.event.without(device: number) else { continue }
            copy.incidents.append(Incident(after: delay, event))
            delay = 0
        }
        return copy
    }
}
