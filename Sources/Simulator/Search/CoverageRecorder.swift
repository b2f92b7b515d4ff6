import FreshetClient

/// Collects the triples of a run, each at the moment at which it was first covered.
final class CoverageRecorder {
    /// In the order in which they were first covered.
    private(set) var covered: [TripleVisit] = []
    private var seen: Set<Triple> = []
    /// The latest fault of each device, or of the server where that came later.
    private var faults: [UInt8] = []
    private var incidents = 0
    private var lastIncident: Int64 = 0
    private var isHealed = false

    init(devices: Int) { faults = Array(repeating: 0, count: devices) }

    /// Notes that an incident happens.
    func perform(_ event: ScenarioEvent, at now: Int64) {
        incidents += 1
        lastIncident = now
        guard let fault = event.faultClass else { return }
        if let device = event.device, faults.indices.contains(device) {
            faults[device] = fault
        } else {
            faults = faults.map { _ in fault }
        }
    }

    /// Notes that all faults end.
    func heal(at now: Int64) {
        isHealed = true
        lastIncident = now
    }

    /// Notes the state in which an event left a device's machine, and what the machine wants done.
    /// - Parameter isOrphan: whether the event is the reply to a request that the machine no longer waits for.
    func record(
        _ event: SyncEvent, isOrphan: Bool, _ state: DeviceCoverage, _ actions: [SyncAction], device: Int, step: Int,
        at now: Int64
    ) {
        let reach = FirstVisit(incidents: incidents, steps: step, elapsed: now - lastIncident, isHealed: isHealed)
        let (event, fault) = (event.coverageNumber, faults[device])
        let effects = actions.reduce(isOrphan ? 16 : 0) { $0 | $1.coverageBit }
        insert(Triple(.activity, state: state.activity, event: event << 5 | effects, fault: fault), reach)
        insert(Triple(.lateness, state: state.lateness, event: event << 5 | effects, fault: fault), reach)
        for key in state.keys { insert(Triple(.key, state: key << 3 | state.mode, event: event, fault: fault), reach) }
        for write in state.writes { insert(Triple(.write, state: write, event: event, fault: fault), reach) }
    }

    private func insert(_ triple: Triple, _ reach: FirstVisit) {
        if seen.insert(triple).inserted { covered.append(TripleVisit(triple: triple, reach: reach)) }
    }
}

extension SyncEvent {
    /// Which kind of event it is, with the kind of reply or failure.
    fileprivate var coverageNumber: UInt16 {
        switch self {
        case .started: 0
        case .set: 1
        case .fetch, .verify: 2
        case .abandon: 3
        case .committed: 4
        case .commitFailed: 5
        case .cachedKeys: 6
        case .cachedKeysFailed: 7
        case .evicted: 8
        case .merged: 9
        case .timer: 10
        case .wake: 11
        case .clear: 12
        case .stop: 13
        case .registered: 14
        case .discard: 15
        case .list: 29
        case .replied(_, let reply, _, _, _): 16 + reply.coverageNumber
        }
    }
}

extension SyncAction {
    /// What kind of effect it has, one bit; none for what only informs.
    fileprivate var coverageBit: UInt16 {
        switch self {
        case .send: 1
        case .commit: 2
        case .publish: 4
        case .complete, .outcome: 8
        case .cancel, .status, .schedule, .merge, .loadCachedKeys, .read, .log: 0
        }
    }
}

extension Reply {
    fileprivate var coverageNumber: UInt16 {
        switch self {
        case .page: 0
        case .noChange: 1
        case .results: 2
        case .reads: 3
        case .record: 4
        case .notModified: 5
        case .missing: 6
        case .client: 7
        case .problem: 8
        case .failure: 9
        case .garbage: 10
        case .tooLarge: 11
        case .list: 12
        }
    }
}

extension ScenarioEvent {
    /// Its class of faults, from 1; `nil` for actions of users and backends, and for other incidents that are no faults.
    /// The classes are few, so that the triples are few: faults of devices and links differ more in their causes than in
    /// their effects.
    var faultClass: UInt8? {
        switch self {
        case .crash, .postponeClosures, .follow, .start(.device), .crashServer, .crashOneServer, .start(.server), .disk(.server, _, _): 1
        case .sleep, .wake, .reconnect: 2
        case .disk(.device, _, _): 3
        case .peers, .roam, .partition, .unplug, .slow, .heal, .intercept, .cutConnections, .messageFault, .refuse, .grant, .revoke: 4
        case .restore, .promote, .drop: 5
        case .compact, .clear, .evict, .replaceDisk: 6
        case .healAll: 7
        case .write, .read, .fetch, .list, .retryRejected, .discardRejected, .serverWrite, .invalidate, .join, .setClock, .backUp,
            .copyDisk,
            .settle, .expect:
            nil
        }
    }
}
