import DequeModule
import FreshetClient
import FreshetServer
import FreshetWire
import Synchronization

/// The state that all servers share: the store, with its disk and its wall clock.
final class SharedState {
    let namespace: Namespace
    let limits: FeedLimits
    /// What one answer to `reads` may hold.
    let readBounds: ReadBounds
    /// What the rejections of one batch may show.
    let rejectionBounds: ReadBounds
    var store: MemoryRecordStore
    var wallOffset: Int64 = 0
    var trouble: TimedCondition<ScenarioEvent.DiskFault>?
    var backup: (store: MemoryRecordStore.Backup, point: Oracle.Point)?
    /// The last revoked token of each device, on disk. A back-up does not bring tokens back.
    var revoked: [Int: Int] = [:]
    /// Those whose revocation was answered.
    var answeredRevocations: [Int: Int] = [:]

    /// Earlier pages of lists, by their requests, as something on the way may have kept them.
    var listPages: [RequestDescription.Kind: RecordList] = [:]

    // MARK: Injected bugs

    /// The state that a crash leaves, although a server has acknowledged a later one.
    var unsynced: TimedCondition<MemoryRecordStore.Backup>?
    /// The writes that were answered with an unknown outcome, by the oracle's numbers.
    var unknown: Set<Int> = []
    /// Devices whose numbers were forgotten are others to the servers.
    var alias = 0

    init(_ namespace: Namespace, isSmall: Bool, seed: UInt64) {
        self.namespace = namespace
        store = MemoryRecordStore(seed: seed)
        var limits = FeedLimits()
        if isSmall {
            (limits.changes, limits.inlineBytes, limits.pageBytes) = (3, 120, 400)
            (limits.commitBytes, limits.commitMatches) = (400, 6)
        }
        self.limits = limits
        readBounds = isSmall ? ReadBounds(bytes: 40) : .page
        rejectionBounds = isSmall ? ReadBounds(bytes: 30, valueBytes: 20, coversAll: true) : RejectionRecords.bounds
    }

    func wall(at now: Int64) -> Timestamp { Timestamp(milliseconds: SimulatedSystem.wallOrigin + now + wallOffset) }

    var state: NamespaceState { store.state(of: namespace) }
}

/// A server: its feed, its ledger and its group commit as they ship, in a process that can die, over the shared store.
final class SimulatedServer {
    /// A request that waits for the disk.
    struct Job {
        enum Work {
            case batch(WriteBatch)
            /// One by one and without numbers: what a broken server does with a retried batch.
            case singles([Write])
            case single(SingleWrite)
            case invalidation(InvalidationScope)
            case compaction
            case drop
            case revocation(device: Int, through: Int)
        }

        var work: Work
        /// The message that asked; none for the backend's own.
        var message: Int?
    }

    /// A transaction that is on disk and not published yet.
    struct Commit {
        var commits: [NamespaceCommit]
        var replies: [(message: Int, reply: Reply, lastWrite: Int64?)]
        /// The last revoked token of each device.
        var revoked: [Int: Int]
    }

    let number: Int
    let shared: SharedState
    /// `nil` while the process is dead, and until the first request.
    var feed: ChangeFeed<Int>?
    var isUp = true
    /// Counts its processes.
    var run = 0
    var jobs: Deque<Job> = []
    var isCommitting = false
    /// The requests that are in it: waiting, or on their way through.
    var activeRequests: Set<Int> = []
    var waiters: [Int: WaiterID] = [:]
    /// Its connection to the other servers; `nil` while the process is dead, and if there is no other.
    var peers: PeerConnection?
    /// The fault of that connection, if any.
    var peerTrouble: TimedCondition<ScenarioEvent.PeerFault>?

    init(_ number: Int, _ shared: SharedState) {
        self.number = number
        self.shared = shared
    }

    var process: SimulatedSystem.ServerProcess { SimulatedSystem.ServerProcess(server: number, run: run) }

    /// Everything in its memory is gone.
    func die() {
        run += 1
        (isUp, feed, jobs, isCommitting, activeRequests, waiters, peers) = (false, nil, [], false, [], [:], nil)
    }
}

/// Where a submission puts its result, which comes before the call that commits it returns.
final class ResultSlot<Value: Sendable>: Sendable {
    private let content = Mutex<Committed<Value>?>(nil)

    var value: Committed<Value>? { content.withLock { $0 } }

    func put(_ value: Committed<Value>) { content.withLock { $0 = value } }
}
