import FreshetWire

/// Makes incidents that meet: bursts with pauses between them, and moments at which all faults end and what they held
/// back comes together.
///
/// Most have one to three keys and a random subset of the faults, which finds what the mixture of all hides ("Swarm
/// testing", Groce et al., 2012, <https://doi.org/10.1145/2338965.2336763>). The others have all keys and all faults.
struct DenseWorkload {
    private var generator: WorkloadGenerator
    private let keys: [RecordKey: RecordKey]
    /// The device that gets half of the devices' incidents; `nil` distributes them evenly.
    private let device: Int?
    /// What some devices follow: all but the collection of a key that is written. Empty for all.
    private let collections: [String]
    /// One in so many incidents ends all faults.
    private let healRate: Int
    /// How many incidents a burst has on average.
    private let burst: Int
    private var isHealed = false
    /// The latest fault. Some come again soon: the second has another effect, as with two resets or clears in a row.
    private var fault: ScenarioEvent?

    /// - Parameters:
    ///   - devices: how many devices take part.
    ///   - faults: the kinds of faults to choose from.
    ///   - serial: the number of the last write that was made up earlier.
    ///   - isWide: whether it has all keys and all faults.
    init(devices: Int, faults: Set<FaultKind>, serial: Int, isWide: Bool, _ random: inout RandomSource) {
        generator = WorkloadGenerator(
            Workload(devices: devices, steps: 1, faults: isWide ? faults : Self.subset(of: faults, &random)),
            seed: random.next(),
            serial: serial, meanDelay: random.pick(isWide ? [15, 15, 15, 60] : [4, 8, 15, 15, 60]),
            longestFault: random.pick([600, 6_000, 25_000]))
        let all = generator.keys
        let focus = isWide ? all : (0..<random.pick([1, 1, 2, 3])).map { _ in random.pick(all) }
        keys = Dictionary(uniqueKeysWithValues: all.map { ($0, focus.contains($0) ? $0 : random.pick(focus)) })
        let left = random.pick(focus).collection
        collections = isWide || random.chance(oneIn: 2) ? [] : Set(all.map(\.collection)).subtracting([left]).sorted()
        device = isWide || random.chance(oneIn: 2) ? nil : random.below(devices)
        healRate = random.pick(isWide ? [60, 200] : [24, 48, 120])
        burst = isWide ? 200 : random.pick([4, 10, 30, 100])
    }

    /// One in so many incidents is the latest fault again.
    private static var repeatRate: Int { 10 }

    private static func subset(of faults: Set<FaultKind>, _ random: inout RandomSource) -> Set<FaultKind> {
        let kinds = FaultKind.allCases.filter { faults.contains($0) && $0 != .servers }
        if random.chance(oneIn: 5) { return [] }
        let rate = random.pick([2, 3, 3, 6])
        var chosen = Set(kinds.filter { _ in random.chance(oneIn: rate) })
        // Another epoch or another account meets every state of every key, and is rare among all kinds.
        for kind in [FaultKind.restores, .clears] where kinds.contains(kind) && random.chance(oneIn: 3) {
            chosen.insert(kind)
        }
        return chosen.isEmpty && !kinds.isEmpty ? [random.pick(kinds)] : chosen
    }

    /// A scenario with nothing in it yet.
    var scenario: Scenario {
        var scenario = generator.scenario
        guard !collections.isEmpty else { return scenario }
        for number in scenario.devices.indices where number == 0 || number % 2 == 1 {
            scenario.devices[number].collections = collections
        }
        return scenario
    }

    mutating func next(_ random: inout RandomSource) -> Scenario.Incident {
        var incident = generator.next()
        if isHealed || random.chance(oneIn: burst) { incident.delay = random.duration(20, isHealed ? 2_000 : 12_000) }
        isHealed = random.chance(oneIn: healRate)
        if isHealed {
            incident.event = .healAll
        } else if let again = fault, random.chance(oneIn: Self.repeatRate) {
            incident.event = again
            if random.chance(oneIn: 2) { fault = nil }
        } else if incident.event.faultClass != nil {
            fault = incident.event
        }
        incident.event = incident.event.mappingKeys { keys[$0] ?? $0 }
        if let device, random.chance(oneIn: 2) { incident.event = incident.event.moved(to: device) }
        return incident
    }
}
