import DequeModule
import FreshetClient
import FreshetTrust
import FreshetWire

/// One device: the machine and the memory tier as they ship, over a disk and a link that can fail.
final class SimulatedDevice {
    enum Phase: Hashable {
        /// It has not appeared yet.
        case absent
        case running
        /// Its process is dead.
        case down
        case asleep
    }

    let number: Int
    let declaration: Scenario.Device
    private(set) var settings: SyncSettings
    /// What it follows from its next start.
    var nextFilter: ChangeFilter?
    /// The records that it does not follow and that its user has read last, by this process.
    var seen: [RecordKey: Entry] = [:]
    /// The server to which its requests go.
    var server = 0

    var phase = Phase.absent
    /// Counts its processes. Events for an earlier process have no effect.
    var run = 0
    /// Counts its accounts.
    var generation = 0
    var machine: SyncMachine
    /// The memory tier, for those who do not change what it shows.
    private(set) var tier: MemoryTier
    var status: SyncStatus?
    var awakeSince: Int64 = 0
    var wakesAt: Int64 = 0
    /// How long after its next start it registers its merge closures, in milliseconds.
    var closureDelay: Int64 = 0
    /// Its process has not registered its merge closures yet.
    var lacksClosures = false
    /// The events that it handles when it wakes.
    var postponed: [SimulatedSystem.Event] = []

    /// The contents of its disk.
    var store: VolatileStore { didSet { (touched, waitingWrites) = (.all, nil) } }
    /// The writes on its disk; `nil` after a change of the disk that may have changed them.
    private var waitingWrites: WaitingWrites?
    /// What the disk has not done yet, in order.
    var commits: Deque<DiskTransaction> = []
    var isDiskFreeAt: Int64 = 0
    var trouble: TimedCondition<ScenarioEvent.DiskFault>?
    /// A clear is on its way to the disk, which must not be read until then.
    var isCleared = false
    /// The disk evicted something, so that a replica may lack keys.
    var hasEvicted = false

    /// The keys whose contents on disk or in memory may have changed since the last checks.
    var touched = TouchedKeys.all
    /// Whether memory may call other values live than at the last checks.
    var hasNewFreshness = true
    /// The keys that had writes under way then, and the position that the device had to know.
    var written: Set<Int> = []
    var inspectedPast: Oracle.Point?
    /// The contents of each key at its last complete inspection, and the state that they belong to.
    var inspected: [InspectedKey?] = []
    var inspectedState: SyncState?
    /// The writes at the last inspection of the outbox, and ``Oracle/decisions``.
    var inspectedWrites: WaitingWrites?
    var inspectedDecisions = 0

    var timer: (deadline: Int64, serial: Int)?
    var wallOffset: Int64 = 0
    var link = Link()
    /// The messages that wait for an answer, by the machine's name for them.
    var open: [RequestID: Int] = [:]
    /// The messages that the device has given up, whose answers may still arrive, where a search asks.
    var late: Set<Int> = []
    /// The number that the next write had when the process started.
    private(set) var firstNumber: Int64 = 0
    /// The last write that the process has sent.
    var lastSent: Int64 = 0
    /// What the server refuses it.
    var refusal: TimedCondition<ScenarioEvent.Refusal>?
    /// Counts its tokens; the server takes those after ``expiredToken``.
    var token = 1
    var expiredToken = 0

    /// What its next tokens allow; `nil` for everything.
    var granted: ScenarioEvent.Access?
    /// What its tokens allow, by their numbers, where that is not everything.
    var tokenRights: [Int: Rights] = [:]
    /// When its tokens end, by their numbers, where they do.
    var tokenEnds: [Int: Int64] = [:]
    /// The token of the request for changes that the server answered last.
    var feedToken = 0

    // MARK: Injected bugs

    /// What a crash leaves behind, where the disk says that it has more.
    var durable: VolatileStore?
    var hasStoppedSending = false
    /// The highest number of a write that had no verdict when the process started.
    var lastUndecided: Int64 = 0
    /// The records over which increments are replayed that they contain.
    var replayedOver: [LocalWriteID: Revision] = [:]

    /// So small that it evicts.
    private static func tier(_ settings: SyncSettings) -> MemoryTier { MemoryTier(costLimit: 64 << 10, filter: settings.filter, shards: 1) }

    /// How many elements an answer may have that its transport takes, as a limit on bytes would.
    let answerLimit: Int

    init(
        _ number: Int, _ declaration: Scenario.Device, _ settings: SyncSettings, _ client: ClientIdentifier, answerLimit: Int
    ) {
        self.number = number
        self.answerLimit = answerLimit
        self.declaration = declaration
        self.settings = settings
        machine = SyncMachine(settings: settings, client: client)
        tier = Self.tier(settings)
        store = VolatileStore(client: client)
    }

    /// Milliseconds since it was switched on.
    func uptime(at now: Int64) -> Int64 { now + 1_000_000 * Int64(number + 1) }

    func now(at time: Int64, random: UInt64) -> EventContext {
        let wall = SimulatedSystem.wallOrigin + time + wallOffset
        return EventContext(uptime: uptime(at: time), wall: Timestamp(milliseconds: wall), random: random)
    }

    /// A new process, with nothing but the disk.
    func boot() {
        run += 1
        if let nextFilter { settings.filter = nextFilter }
        (nextFilter, seen) = (nil, [:])
        machine = SyncMachine(settings: settings, client: store.state.client)
        tier = Self.tier(settings)
        touched = .all
        (commits, open, postponed, timer, status, isCleared, inspectedState, inspectedWrites) = ([], [:], [], nil, nil, false, nil, nil)
        (late, firstNumber, lastSent) = ([], store.state.nextNumber, 0)
        isDiskFreeAt = 0
    }

    /// The memory tier, for those who may change any key of it.
    var memory: MemoryTier {
        touched = .all
        return tier
    }

    /// The memory tier, for those who change only this key of it.
    func memory(of key: RecordKey) -> MemoryTier {
        touched.insert(key)
        return tier
    }

    func setFreshness(isLive: Bool, pass: Int64) {
        hasNewFreshness = true
        tier.setFreshness(isLive: isLive, pass: pass)
    }

    /// Carries out a transaction on the disk. Returns the indices of the entry operations that had no effect.
    func commit(_ transaction: DiskTransaction) -> [Int] {
        let writes = transaction.outbox.isEmpty && !transaction.removesEntries ? waitingWrites : nil
        var touched = touched
        touched.insert(keysOf: transaction)
        defer { (self.touched, waitingWrites) = (touched, writes) }
        return store.commit(transaction)
    }

    /// The writes on the disk. O(1) until the disk's writes change, then O(n log n).
    func writes(_ oracle: Oracle) -> WaitingWrites {
        if let waitingWrites { return waitingWrites }
        let writes = WaitingWrites(store, oracle.numbers)
        waitingWrites = writes
        return writes
    }

    /// The entry on disk; none while a clear is under way.
    func entry(of key: RecordKey) -> Entry? { isCleared ? nil : store.entries[key] }

    /// The record that a write refers to and that a read compares with the server's.
    func known(_ key: RecordKey) -> Entry? { settings.covers(key) ? entry(of: key) : isCleared ? nil : seen[key] }

    /// What the tiers below the memory show.
    func view(of key: RecordKey) -> KeyView {
        let entry = entry(of: key)
        return withMachine { $0.view(of: key, stored: entry) }
    }

    /// Reads from the machine in its place: reading a class's property would copy it, which is a tenth of a run's time.
    func withMachine<Result>(_ body: (inout SyncMachine) -> Result) -> Result { body(&machine) }
}

/// The keys that a check has to look at.
enum TouchedKeys {
    case all
    case some(Set<RecordKey>)

    mutating func insert(_ key: RecordKey) {
        guard case .some(var keys) = self else { return }
        self = .some([])
        keys.insert(key)
        self = .some(keys)
    }

    /// Adds the keys that a transaction may change.
    mutating func insert(keysOf transaction: DiskTransaction) {
        if transaction.removesEntries { self = .all }
        for operation in transaction.entries {
            switch operation {
            case .put(let entry, _): insert(entry.key)
            case .confirm(let revalidation), .withoutValue(let revalidation, _): insert(revalidation.key)
            case .evict(.key(let key), _), .invalidate(.key(let key), _), .remove(let key): insert(key)
            case .evict, .invalidate, .finishPass, .narrow, .inherit: self = .all
            }
        }
    }
}

/// The network between a device and the server.
struct Link {
    /// The direction in which messages are lost silently.
    var partition: TimedCondition<ScenarioEvent.Direction>?
    /// Until when nothing leaves, and the device knows it.
    var unpluggedUntil: Int64 = 0
    var slowUntil: Int64 = 0
    /// The status with which a proxy answers for the server.
    var proxy: TimedCondition<Int>?
    /// The faults of the next messages.
    var messageFaults: [(way: ScenarioEvent.Way, messageFault: ScenarioEvent.MessageFault)] = []

    func loses(_ way: ScenarioEvent.Way, at now: Int64) -> Bool {
        switch partition?.present(at: now) {
        case .both: true
        case .requests: way == .request
        case .replies: way == .reply
        case nil: false
        }
    }

    /// Takes the fault of a message that sets out now, if there is one.
    mutating func takeFault(_ way: ScenarioEvent.Way) -> ScenarioEvent.MessageFault? {
        guard let place = messageFaults.firstIndex(where: { $0.way == way }) else { return nil }
        return messageFaults.remove(at: place).messageFault
    }
}
