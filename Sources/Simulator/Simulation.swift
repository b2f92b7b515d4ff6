import FreshetWire

/// One run: a server and several devices in virtual time, with the cores that ship, over networks, disks and processes that fail.
///
/// The same scenario, or the same seed and workload, gives the same run in every build, byte for byte, and so the same ``Outcome/hash``.
/// A run takes no real time beyond its computation, and touches no socket, file or clock. Different runs may go on in different threads.
///
/// ```swift
/// let outcome = try Simulation(seed: 7, workload: Workload(devices: 3)).run()
/// if let violation = outcome.violation { print(violation.rule, violation.text) }
/// ```
public struct Simulation: Sendable {
    private enum Input: Sendable {
        case random(Workload, seed: UInt64)
        case scenario(Scenario)
    }

    private let input: Input

    /// A bug put into the implementation on purpose, which tests that its rule is checked.
    package var bug: InjectedBug?

    /// A random run.
    public init(seed: UInt64, workload: Workload = Workload()) { input = .random(workload, seed: seed) }

    /// A run of a scenario.
    public init(_ scenario: Scenario) { input = .scenario(scenario) }

    /// Runs to the end, or to the first violation.
    /// - Parameter isRecorded: whether the outcome is to have a timeline; it takes several times as long then.
    /// - Throws: ``ScenarioError`` for a scenario that cannot be run.
    public func run(isRecorded: Bool = false) throws(ScenarioError) -> Outcome {
        try run(isRecorded: isRecorded, stepLimit: .max, coverage: nil)
    }

    /// - Parameters:
    ///   - stepLimit: after how many steps a scenario's faults end, however many incidents are left; and after how many events of
    ///     one wait.
    ///   - coverage: collects the triples that the run covers; `nil` collects nothing, and costs nothing.
    func run(isRecorded: Bool, stepLimit: Int, coverage: CoverageRecorder?) throws(ScenarioError) -> Outcome {
        switch input {
        case .random(let workload, let seed):
            var generator = WorkloadGenerator(workload, seed: seed)
            let runner = try Runner(
                generator.scenario, keys: generator.keys, bug, isRecorded: isRecorded, coverage: coverage)
            return runner.run(untilStep: workload.steps) { generator.next() }
        case .scenario(let scenario):
            try scenario.check()
            let runner = try Runner(scenario, keys: scenario.keys, bug, isRecorded: isRecorded, coverage: coverage)
            var rest = scenario.incidents[...]
            return runner.run(untilStep: stepLimit, eventsOfWait: stepLimit) { rest.popFirst() }
        }
    }
}

/// What a run came to.
public struct Outcome: Sendable {
    /// The rule that was broken; `nil` if none was.
    public var violation: Violation?
    /// A hash over all that happened, in order.
    public var hash: UInt64
    /// How many things happened.
    public var steps: Int
    /// The virtual time that passed, in milliseconds.
    public var time: Int64
    /// The counts of changed rights, revocations and tokens that ended.
    public var access: AccessCounts
    /// The run's incidents, as a scenario that repeats them.
    public var scenario: Scenario
    /// The events of the run, if they were recorded.
    public var timeline: Timeline?
}

/// How often runs have tested the rules of tokens.
public struct AccessCounts: Hashable, Sendable {
    /// How often a device got other rights.
    public var changes = 0
    /// Revocations that the server has answered, the waits that they ended, and the requests that were refused after them.
    public var revocations = 0, revokedWaits = 0, revokedRequests = 0
    /// Waits that ended with their token, and requests that were refused since it had ended.
    public var expiredWaits = 0, expiredRequests = 0

    /// No counts yet.
    public init() {}

    /// Adds the counts of another run.
    public static func += (counts: inout AccessCounts, other: AccessCounts) {
        counts.changes += other.changes
        counts.revocations += other.revocations
        counts.revokedWaits += other.revokedWaits
        counts.revokedRequests += other.revokedRequests
        counts.expiredWaits += other.expiredWaits
        counts.expiredRequests += other.expiredRequests
    }
}

extension Scenario {
    /// All keys that it speaks of, each once, in the order of their first mention.
    var keys: [RecordKey] {
        var keys: [RecordKey] = []
        var known: Set<RecordKey> = []
        func add(_ key: RecordKey) { if known.insert(key).inserted { keys.append(key) } }
        for incident in incidents {
            switch incident.event {
            case .write(_, let key, _, _), .read(_, let key), .evict(_, let key), .serverWrite(let key, _), .invalidate(.key(let key)),
                .expect(.shows(_, let key, _)), .expect(.knowsNothing(_, let key)), .expect(.pending(_, let key, _)),
                .expect(.server(let key, _)):
                add(key)
            case .fetch(_, let many): for key in many { add(key) }
            default: break
            }
        }
        return keys
    }
}
