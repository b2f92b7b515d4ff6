/// Makes new scenarios out of those of a corpus. All that it makes can be run: ``Scenario/check()`` accepts it.
struct Mutator {
    /// The kinds of faults that it may put in.
    let faults: Set<FaultKind>
    /// The most devices of a scenario that it makes up.
    let devices: Int
    var random: RandomSource

    /// How many incidents count as the end of a scenario. Most changes are made there, where the scenario reached the rare state.
    private static var tail: Int { 24 }
    /// The most incidents of a mutated scenario.
    static var longest: Int { 600 }
    /// How many incidents a new scenario with all keys and all faults has: some rules are broken only after thousands of steps.
    private static var longestWide: Int { 1_500 }

    init(faults: Set<FaultKind>, devices: Int, seed: UInt64) {
        self.faults = faults
        self.devices = devices
        random = RandomSource(seed: seed, stream: 2)
    }

    /// A scenario that owes nothing to others. Most are short: a race takes few incidents, and many short runs try more
    /// of them in as many steps.
    mutating func fresh() -> Scenario {
        let isWide = random.chance(oneIn: 6)
        let count = isWide ? devices : random.pick([1, 1, 1, 2, 2, 3].filter { $0 <= devices })
        var workload = DenseWorkload(devices: count, faults: faults, serial: 0, isWide: isWide, &random)
        var scenario = workload.scenario
        for _ in 0..<(isWide ? Self.longestWide : random.pick([16, 30, 60, 60, 120, 200])) {
            scenario.incidents.append(workload.next(&random))
        }
        return scenario
    }

    /// A scenario that goes on from a place, or comes there in another way.
    /// - Parameter other: a scenario to take parts of.
    mutating func mutated(_ place: Corpus.Place, with other: Scenario?) -> Scenario {
        var scenario = place.scenario
        scenario.incidents = Array(scenario.incidents.prefix(min(place.reach.incidents, Self.longest)))
        if place.reach.isHealed, random.chance(oneIn: 2) { scenario.add(.healAll) }
        // The same incidents with other delays of messages and disks: a race that is reached needs other luck to be
        // lost.
        if random.chance(oneIn: 6) { scenario.seed = random.next() >> 1 }
        if random.chance(oneIn: 2) {
            goOn(&scenario, after: place.reach.elapsed)
            return scenario
        }
        for _ in 0..<random.pick([1, 1, 2, 4]) { change(&scenario, other) }
        if random.chance(oneIn: 2) { goOn(&scenario, after: place.reach.elapsed) }
        return scenario
    }

    // MARK: Changes

    /// Appends incidents. The first comes about when the place was reached, while the messages under way there still are.
    /// There are many, since most of a run's cost is the way to the place and the end of all faults.
    private mutating func goOn(_ scenario: inout Scenario, after elapsed: Int64) {
        var workload = workload(for: scenario)
        for number in 0..<random.pick([4, 16, 40, 80]) {
            var incident = workload.next(&random)
            if number == 0 {
                incident.delay = min(elapsed, 1_000_000) + Int64(random.below(random.pick([2, 20, 200])))
            }
            scenario.incidents.append(incident)
        }
    }

    private mutating func change(_ scenario: inout Scenario, _ other: Scenario?) {
        switch random.below(16) {
        case 0..<4: insert(&scenario)
        case 4..<6: remove(&scenario)
        case 6..<9: shift(&scenario)
        case 9: repeatPart(&scenario)
        case 10..<12: splice(&scenario, other)
        case 12..<14: concentrate(&scenario)
        case 14: move(&scenario)
        default: stretch(&scenario)
        }
    }

    /// Inserts incidents, each at a separate moment.
    private mutating func insert(_ scenario: inout Scenario) {
        var workload = workload(for: scenario)
        for _ in 0..<random.pick([1, 2, 4]) {
            let place = place(in: scenario)
            let room = scenario.incidents.indices.contains(place) ? scenario.incidents[place].delay : 100
            let delay = Int64(random.below(Int(min(room, 1_000_000)) + 1))
            // The incidents after it keep their times.
            if scenario.incidents.indices.contains(place) { scenario.incidents[place].delay -= delay }
            scenario.incidents.insert(Scenario.Incident(after: delay, workload.next(&random).event), at: place)
        }
    }

    private mutating func remove(_ scenario: inout Scenario) {
        let range = range(in: scenario)
        let delay = random.chance(oneIn: 2) ? scenario.incidents[range].reduce(0) { $0 + $1.delay } : 0
        scenario.incidents.removeSubrange(range)
        if scenario.incidents.indices.contains(range.lowerBound) { scenario.incidents[range.lowerBound].delay += delay }
    }

    /// Lets an incident come earlier or later, in particular soon after the one before, when what that began is under
    /// way.
    private mutating func shift(_ scenario: inout Scenario) {
        for _ in 0..<random.pick([1, 2, 4]) {
            let place = place(in: scenario)
            guard scenario.incidents.indices.contains(place) else { continue }
            scenario.incidents[place].delay = Int64(random.below(random.pick([1, 10, 40, 200, 2_000, 12_000])))
        }
    }

    private mutating func repeatPart(_ scenario: inout Scenario) {
        let range = range(in: scenario)
        let part = Array(scenario.incidents[range])
        for _ in 0..<random.pick([1, 1, 3]) where scenario.incidents.count + part.count < Self.longest {
            scenario.incidents.insert(contentsOf: part, at: range.upperBound)
        }
    }

    /// Puts in a part of another scenario; what its devices do, devices of this one do.
    private mutating func splice(_ scenario: inout Scenario, _ other: Scenario?) {
        guard let other, !other.incidents.isEmpty, !scenario.devices.isEmpty else { return }
        let from = max(0, other.incidents.count - 1 - random.below(60))
        let part = other.incidents[from...].prefix(1 + random.below(40)).map { incident in
            var copy = incident
            if let device = incident.event.device {
                copy.event = incident.event.renamed(to: device % scenario.devices.count)
            }
            return copy
        }
        let place = place(in: scenario)
        scenario.incidents.insert(
            contentsOf: part.filter { if case .join = $0.event { false } else { true } }, at: place)
    }

    /// Lets all that happens at the end happen to one key.
    private mutating func concentrate(_ scenario: inout Scenario) {
        let keys = scenario.keys
        guard !keys.isEmpty else { return }
        let key = random.pick(keys)
        for place in scenario.incidents.indices.suffix(Self.tail) where random.chance(oneIn: 2) {
            scenario.incidents[place].event = scenario.incidents[place].event.mappingKeys { _ in key }
        }
    }

    /// Lets something happen at another device.
    private mutating func move(_ scenario: inout Scenario) {
        let place = place(in: scenario)
        guard scenario.incidents.indices.contains(place), !scenario.devices.isEmpty else { return }
        scenario.incidents[place].event = scenario.incidents[place].event.moved(to: random.below(scenario.devices.count))
    }

    private mutating func stretch(_ scenario: inout Scenario) {
        for place in scenario.incidents.indices.suffix(Self.tail) where random.chance(oneIn: 3) {
            scenario.incidents[place].event = scenario.incidents[place].event.stretched(&random)
        }
    }

    // MARK: Choices

    private mutating func workload(for scenario: Scenario) -> DenseWorkload {
        DenseWorkload(
            devices: max(1, scenario.devices.count), faults: faults,
            serial: scenario.incidents.count + random.below(1_000),
            isWide: random.chance(oneIn: 4), &random)
    }

    /// A place among the incidents or behind them, most often near their end.
    private mutating func place(in scenario: Scenario) -> Int {
        let count = scenario.incidents.count
        return random.chance(oneIn: 4) ? random.below(count + 1) : count - random.below(min(count, Self.tail) + 1)
    }

    private mutating func range(in scenario: Scenario) -> Range<Int> {
        let start = place(in: scenario)
        return start..<min(scenario.incidents.count, start + random.pick([1, 2, 4, 10]))
    }
}
