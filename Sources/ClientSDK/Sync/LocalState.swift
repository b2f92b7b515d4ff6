import FreshetWire

/// The device's own data on disk: its state and its outbox; and the writes and the transaction that are being stored.
///
/// No field changes before the disk has committed the change.
struct LocalState: Hashable, Sendable {
    private var state: SyncState
    private var writes = Outbox()
    private var unstored = UnstoredWrites()
    private var transactions = Transactions()
    private var rejected = RejectionList()
    private(set) var firstCopy = FirstCopy()
    /// Whether the disk may hold entries, or rejected writes with the records that they met.
    private var holdsRecords = true

    init(client: ClientIdentifier) { state = SyncState(client: client) }

    /// As it is on disk.
    var sync: SyncState { state }
    /// As it is on disk.
    var outbox: Outbox { writes }
    var epoch: Epoch? { state.epoch }
    /// As they are on disk.
    var rejections: RejectionList { rejected }
    var rejectionCount: Int { rejected.count }
    /// Whether cached keys are to be verified before newer changes are requested.
    var isRevalidating: Bool { state.revalidation == .ofCachedKeys && state.cursor != nil }
    var isVerified: Bool { state.revalidation == .complete }
    /// How many keys have writes that are not on disk yet.
    var keyCount: Int { unstored.keyCount }

    /// Starts the process. The views of writes that were pending when the last process ended are published before any read.
    mutating func start(_ persisted: PersistedState, _ turn: inout Turn) {
        state = persisted.state
        writes = Outbox(persisted)
        rejected = RejectionList(persisted.rejections)
        let views = writes.sortedKeys.map { Publication.view(view(of: $0, stored: nil)) }
        if !views.isEmpty { turn.emit(.publish(views)) }
    }

    // MARK: Looking

    /// Whether the disk may hold records, now or when the inputs are stored, or writes that wait only for a record.
    var mayHoldRecords: Bool { holdsRecords || transactions.mayStoreRecords || writes.awaitsBase }

    func view(of key: RecordKey, stored: Entry?) -> KeyView { writes.view(of: key, stored: stored) }

    /// Whether writes of this device apply to the key's entry, on disk or being stored.
    func mustKeep(_ key: RecordKey) -> Bool { writes.keys[key] != nil || unstored.contains(key) }

    /// Returns the record over which the key's writes are replayed; `known` for a key without writes.
    func base(of key: RecordKey, else known: Entry?) -> Entry? { writes.keys[key].map(\.base) ?? known }

    /// Returns an entry for the absence of a record, for a key without a row and without writes; `nil` unless the
    /// device's copy is complete and includes the key.
    ///
    /// - Parameter isReadable: whether the token may read the key. A device does not know it of a part of a namespace.
    func absence(of key: RecordKey, isReadable: Bool, _ settings: SyncSettings) -> Entry? {
        guard settings.following == .everything, settings.covers(key), isVerified, let cursor = state.cursor,
            let time = state.completeAt, !mustKeep(key), isReadable || cursor.rights == nil
        else { return nil }
        return Entry(
            key: key, epoch: cursor.epoch, revision: cursor.revision, asOf: cursor.revision, pass: state.pass, content: nil,
            verifiedAt: time,
            origin: .feed)
    }

    /// Returns the keys, in order, for which only a read can show that a write of this device became part of the
    /// record: the feed does not bring the key's changes, or the write may have made none.
    func keysToRead(_ filter: ChangeFilter) -> [RecordKey] { writes.keysAwaitingBase.filter { mustRead($0, filter) } }

    func mustRead(_ key: RecordKey, _ filter: ChangeFilter) -> Bool {
        guard let rows = writes.keys[key]?.rows else { return false }
        if rows.counts.settled > 0 { return true }
        guard rows.counts.applied > 0 else { return false }
        guard filter.matches(key) else { return true }
        // A copy of this device had sent the write, and the feed has passed it: no change will bring it.
        guard let cursor = state.cursor, let position = rows.lazy.compactMap(\.position).first, position.epoch == cursor.epoch else {
            return false
        }
        return position.revision <= cursor.revision
    }

    // MARK: The user's writes

    /// - Parameter isKnownAbsent: whether the device knows, without a row, that there is no record. A conditional
    ///   write may rely on this.
    mutating func add(_ request: SetRequest, isKnownAbsent: Bool = false) {
        var request = request
        request.isKnownAbsent = isKnownAbsent
        if unstored.isEmpty { transactions.add(.sets) }
        unstored.add(request, base: base(of: request.key, else: request.base))
    }

    /// Makes one plan of all waiting writes. Refuses those whose values cannot take the operation.
    mutating func planSets(_ sender: Sender, _ turn: inout Turn) -> TransactionPlan? {
        let requests = unstored.takeAll()
        var builder = PlanBuilder(.sets([], accepted: []), turn, self, sender)
        let refused = builder.add(requests) { [unstored] in unstored.base(of: $0) }
        for (request, failure) in refused { complete(request, .failed(failure), &turn) }
        return refused.count == requests.count ? nil : builder.plan
    }

    /// Answers a write that is on disk, or will not be stored.
    mutating func complete(_ request: SetRequest, _ result: CallResult, _ turn: inout Turn) {
        unstored.release(request)
        turn.emit(.complete(request.callerID, result))
    }

    /// Removes the writes, and the calls to discard rejected ones, that are not on disk yet. Returns the ids of
    /// their callers, in order.
    mutating func dropSets() -> [CallerID] {
        var callerIDs: [CallerID] = []
        switch transactions.underWay?.onCommit {
        case .sets(let requests, _): callerIDs = requests.map(\.callerID)
        case .discarded(let callerID): callerIDs = [callerID]
        default: break
        }
        return callerIDs + transactions.removeDiscards() + unstored.removeAll()
    }

    // MARK: Transactions

    var isIdle: Bool { transactions.isIdle }
    var inputCount: Int { transactions.inputCount }
    /// Whether there are data of the user that the server does not have.
    var hasOwnData: Bool { !writes.keys.isEmpty || rejected.count > 0 || !unstored.isEmpty }
    func isUnderWay(_ id: TransactionID) -> Bool { transactions.isUnderWay(id) }
    mutating func add(_ input: QueuedInput) { transactions.add(input) }
    mutating func nextInput() -> QueuedInput? { transactions.next() }
    mutating func dropFetches() { transactions.dropFetches() }

    /// Drops inputs that came from the server. Returns the keys whose reads are being stored already.
    mutating func dropResponses() -> Set<RecordKey> {
        transactions.dropResponses()
        guard case .fetched(let entries)? = transactions.underWay?.onCommit else { return [] }
        return Set(entries.map(\.key))
    }

    /// Hands the plan to the disk. Returns whether there is something to store.
    mutating func begin(_ plan: TransactionPlan, generation: Int64, _ turn: inout Turn) -> Bool {
        var plan = plan
        plan.leaveOutUncovered(turn.settings, self)
        let id = transactions.begin(plan, generation: generation)
        guard let transaction = plan.transaction(id, over: writes) else { return false }
        turn.emit(.commit(transaction))
        return true
    }

    /// Applies and publishes the transaction that the disk has committed.
    mutating func committed(_ skipped: Set<Int>, _ turn: inout Turn) -> TransactionPlan? {
        guard let plan = transactions.end() else { return nil }
        if let client = plan.clear {
            state = SyncState(client: client)
            for change in plan.state { state.apply(change) }
            if !unstored.isEmpty { transactions.add(.sets) }
            return plan
        }
        holdsRecords = plan.storesRecords || holdsRecords && !plan.removesRecords
        let dropped = state.droppedRejections
        let before = state
        for change in plan.state { state.apply(change) }
        note(plan, after: before)
        for operation in plan.rejections { rejected.apply(operation) }
        if state.droppedRejections > dropped {
            let text = "rejected writes were dropped, since too many wait to be retried or discarded"
            turn.log(.error, "\(state.droppedRejections - dropped) \(text)")
        }
        let views = plan.staged.map { writes.keys[$0.key]?.view }
        for pending in plan.staged { writes.put(pending) }
        if case .renamed = plan.onCommit { writes.renumber() }
        unstored.apply(plan.entries)
        plan.publish(skipped, views, over: writes, &turn)
        return plan
    }

    /// Counts what a page has brought to the first copy.
    private mutating func note(_ plan: TransactionPlan, after before: SyncState) {
        guard state.whole == nil, case .page = plan.onCommit, let cursor = state.cursor else { return firstCopy = FirstCopy() }
        if before.cursor == nil { firstCopy = FirstCopy() }
        firstCopy.add(plan.entries, from: before.cursor, to: cursor)
    }

    /// Ends the transaction that the disk has not committed.
    mutating func failed() -> TransactionPlan? { transactions.end() }

    /// Begins a clear: removes all state, and fails pending writes. The answer to a transaction under way is ignored;
    /// the clearing transaction follows it.
    mutating func clear(_ turn: inout Turn) {
        for key in writes.sortedKeys {
            for row in writes.keys[key]?.rows ?? OutboxRows() where row.isPending { turn.emit(.outcome(row.writeID, key, .cleared)) }
        }
        transactions.removeAll()
        writes = Outbox()
        rejected = RejectionList()
    }

    /// Begins a clear that keeps the outbox: removes the records, and shows the writes over none. Requires that no
    /// transaction is under way.
    mutating func forgetRecords(_ turn: inout Turn) {
        for key in writes.sortedKeys {
            guard var pending = writes.keys[key] else { continue }
            pending.forgetRecord()
            writes.put(pending)
        }
        unstored.forgetBases()
        let views = writes.sortedKeys.map { Publication.view(view(of: $0, stored: nil)) }
        turn.emit(.publish([.cleared] + views))
    }

    /// See ``SyncMachine/relativeState(at:)``.
    mutating func makeRelative() {
        transactions.makeRelative()
        firstCopy = FirstCopy()
    }
}
