import FreshetClient
import FreshetWire

/// The knowledge of a device's user: the naive side of every comparison. It never asks the machine.
struct SmallOracle: Hashable {
    /// A write of the user, or one that a merge made.
    struct Written: Hashable {
        var callerID: CallerID?
        var key: RecordKey
        var operation: WriteOperation
        /// Known once the write is on disk.
        var writeID: LocalWriteID?
        var number: Int64 = 0
        /// Whether its verdict was reported, or may have been just before a crash.
        var isReported = false
        /// The history that rejected it, while it waits for its merge.
        var rejectedIn: Epoch?
    }

    struct Read: Hashable {
        var callerID: CallerID
        var key: Int
        /// Where the server was when the read was asked for.
        var asked: Cursor
    }

    struct ReportedOutcome: Hashable {
        var writeID: LocalWriteID
        var verdict: LocalWriteOutcome
    }

    /// Not on disk yet.
    private(set) var calls: [Written] = []
    /// On disk, in the order of their numbers.
    private(set) var writes: [Written] = []
    /// Those that have left the disk in this step.
    private(set) var left: [Written] = []
    private(set) var reported: [ReportedOutcome] = []
    private(set) var reads: [Read] = []
    /// The newest position shown of each key.
    var highest: [Cursor?]
    /// Where the current reading of the feed began. The server does not send earlier invalidations, and need not.
    var origin: Cursor?
    var clears = 0
    private(set) var isClearing = false
    /// Whether a response has arrived since the last clear.
    var hasContact = false
    private var marks: Int64 = 0

    init(keys: Int) { highest = Array(repeating: nil, count: keys) }

    // MARK: What the user does

    mutating func nextMark(_ device: Int) -> String {
        marks += 1
        return "\(device == 0 ? "a" : "b")\(marks)"
    }

    mutating func called(_ operation: WriteOperation, _ key: RecordKey) -> CallerID {
        let callerID = CallerID(marks)
        calls.append(Written(callerID: callerID, key: key, operation: operation))
        return callerID
    }

    mutating func asked(_ key: Int, _ server: SmallHistory) -> CallerID {
        let used = Set(reads.map(\.callerID.number))
        let callerID = CallerID((1_000...).first { !used.contains($0) } ?? 0)
        reads.append(Read(callerID: callerID, key: key, asked: server.cursor))
        return callerID
    }

    mutating func clearCalled() { isClearing = true }

    // MARK: What the device reports

    mutating func accepted(_ callerID: CallerID, _ writeID: LocalWriteID, _ store: VolatileStore, _ failure: inout SmallFailure?) {
        guard !writes.contains(where: { $0.writeID == writeID && $0.callerID == callerID }) else { return }
        guard !left.contains(where: { $0.writeID == writeID }) else { return }
        failure = failure ?? SmallFailure(.durableBeforeAcknowledged, "a write is accepted that is not on disk")
    }

    mutating func failed(_ callerID: CallerID) {
        calls.removeAll { $0.callerID == callerID }
        reads.removeAll { $0.callerID == callerID }
    }

    mutating func reported(_ verdict: LocalWriteOutcome, on writeID: LocalWriteID) {
        if case .cleared = verdict { return }
        reported.append(ReportedOutcome(writeID: writeID, verdict: verdict))
        if let place = writes.firstIndex(where: { $0.writeID == writeID }) { writes[place].isReported = true }
    }

    mutating func read(_ callerID: CallerID, _ views: [KeyView], _ failure: inout SmallFailure?) {
        guard let place = reads.firstIndex(where: { $0.callerID == callerID }) else { return }
        let read = reads.remove(at: place)
        guard let entry = views.first?.entry else { return }
        let isOlder =
            entry.epoch == read.asked.epoch ? entry.asOf < read.asked.revision : entry.epoch.token < read.asked.epoch.token
        guard isOlder else { return }
        failure =
            failure
            ?? SmallFailure(
                .linearizable, "a read gives the state of \(entry.epoch)-\(entry.asOf), and the server was at \(read.asked) before it")
    }

    // MARK: The disk

    mutating func stored(
        _ transaction: DiskTransaction, before: VolatileStore, after: VolatileStore, _ server: SmallServer,
        _ failure: inout SmallFailure?
    ) {
        for operation in transaction.outbox {
            switch operation {
            case .put(let row): stored(row, before.state.client, server, &failure)
            case .remove(let writeID): removed(writeID, before.state.client, after, server, &failure)
            case .watermark: break
            }
        }
        writes.sort { ($0.number, $0.writeID?.number ?? 0) < ($1.number, $1.writeID?.number ?? 0) }
    }

    private mutating func stored(
        _ row: OutboxRow, _ client: ClientIdentifier, _ server: SmallServer, _ failure: inout SmallFailure?
    ) {
        if let text = Self.fault(of: row, client, server) { failure = failure ?? SmallFailure(.pendingMeansPending, text) }
        if let place = writes.firstIndex(where: { $0.writeID == row.writeID }) {
            writes[place].number = row.number
            writes[place].rejectedIn = if case .merging(let epoch) = row.state { epoch } else { nil }
            return
        }
        // A write that reaches the disk between a clear and its transaction belongs to the previous account.
        let place = isClearing ? nil : calls.firstIndex { $0.key == row.key && $0.operation == row.operation }
        if place == nil, !isClearing, row.attempts == 0 {
            failure = failure ?? SmallFailure(.nothingInvented, "write \(row.number) is on disk, and nobody made it")
        }
        var write = place.map { calls.remove(at: $0) } ?? Written(key: row.key, operation: row.operation)
        write.writeID = row.writeID
        write.number = row.number
        writes.append(write)
    }

    /// What the disk says of a write that the server's histories do not bear out.
    private static func fault(of row: OutboxRow, _ client: ClientIdentifier, _ server: SmallServer) -> String? {
        switch row.state {
        case .pending, .held: return nil
        case .applied(let position):
            let applied = server.history(of: position.epoch)?.appliedRevision(of: row.number, by: client)
            return applied == position.revision.number ? nil : "write \(row.number) counts as applied at \(position), and is not"
        case .settled(let position):
            let isDecided = server.history(of: position.epoch)?.decision(on: row.number, of: client) != nil
            return isDecided ? nil : "write \(row.number) counts as decided, and is not"
        case .merging(let epoch):
            let decision = epoch.flatMap { server.history(of: $0)?.decision(on: row.number, of: client) }
            if case .rejected? = decision?.verdict { return nil }
            return "write \(row.number) is to be merged, and the history \(epoch?.token ?? "nil") has not rejected it"
        }
    }

    /// A write leaves when it was decided, and only into a record that contains it.
    private mutating func removed(
        _ writeID: LocalWriteID, _ client: ClientIdentifier, _ after: VolatileStore, _ server: SmallServer,
        _ failure: inout SmallFailure?
    ) {
        guard let place = writes.firstIndex(where: { $0.writeID == writeID }) else { return }
        let write = writes.remove(at: place)
        left.append(write)
        guard server.histories.contains(where: { $0.decision(on: write.number, of: client) != nil }) else {
            failure = failure ?? SmallFailure(.readYourWrites, "write \(write.number) leaves, and was never decided")
            return
        }
        guard let epoch = after.state.epoch, let applied = server.history(of: epoch)?.appliedRevision(of: write.number, by: client),
            let entry = after.entries[write.key], entry.epoch == epoch
        else { return }
        if entry.revision.number < applied {
            failure = failure ?? SmallFailure(.readYourWrites, "write \(write.number) leaves before the record contains it")
        }
    }

    mutating func cleared() {
        (writes, left, reported, highest, origin) = ([], [], [], highest.map { _ in nil }, nil)
        (isClearing, hasContact) = (false, false)
    }

    mutating func crashed(_ store: VolatileStore) {
        (calls, left, reported, reads, isClearing) = ([], [], [], [], false)
        for place in writes.indices {
            guard let writeID = writes[place].writeID, let row = store.rows[writeID] else { continue }
            writes[place].isReported = !row.isPending
        }
    }

    /// Forgets the verdicts and removed writes of the step that is over.
    mutating func endStep() { (left, reported) = ([], []) }
}

extension SmallServer {
    func wasRejected(_ number: Int64, _ client: ClientIdentifier) -> Bool {
        histories.contains { if case .rejected? = $0.decision(on: number, of: client)?.verdict { true } else { false } }
    }
}
