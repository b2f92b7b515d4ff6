import FreshetWire

/// What the disk holds of the device's own: its state and its outbox, the writes on their way there, and the one transaction under way.
///
/// Nothing of it changes before the disk has it.
struct LocalState: Hashable, Sendable {
    private var state: SyncState
    private var writes = Outbox()
    private var intake = Intake()
    private var transactions = Transactions()
    private var rejected = RejectionList()

    init(client: ClientIdentifier) { state = SyncState(client: client) }

    /// As it is on disk.
    var sync: SyncState { state }
    /// As it is on disk.
    var outbox: Outbox { writes }
    var epoch: Epoch? { state.epoch }
    /// As they are on disk.
    var rejections: RejectionList { rejected }
    var rejectionCount: Int { rejected.count }
    /// Whether held keys are to be verified before anything newer is asked for.
    var isVerifying: Bool { state.verification == .ofHeldKeys && state.cursor != nil }
    var isVerified: Bool { state.verification == .complete }
    /// How many keys have writes that are not on disk yet.
    var claimCount: Int { intake.claimCount }

    /// The process has started. What was pending when the last one ended is shown before anyone can ask.
    mutating func start(_ persisted: PersistedState, _ turn: inout Turn) {
        state = persisted.state
        writes = Outbox(persisted)
        rejected = RejectionList(persisted.rejections)
        let views = writes.sortedKeys.map { Publication.view(view(of: $0, stored: nil), .written) }
        if !views.isEmpty { turn.emit(.publish(views)) }
    }

    // MARK: Looking

    func view(of key: RecordKey, stored: Entry?) -> KeyView { writes.keys[key]?.view ?? KeyView(key, stored) }

    /// Whether writes of this device stand on the key's entry, on disk or on their way there.
    func needs(_ key: RecordKey) -> Bool { writes.keys[key] != nil || intake.claims(key) }

    /// The record of the key, as its writes stand on it; `known` for a key without any.
    func base(of key: RecordKey, else known: Entry?) -> Entry? { writes.keys[key].map(\.base) ?? known }

    /// That there is no record, of a key without a row and without writes; `nil` unless the device has all that it follows, and follows the key.
    func absence(of key: RecordKey, _ settings: SyncSettings) -> Entry? {
        guard settings.following == .everything, settings.filter.matches(key), isVerified, let cursor = state.cursor,
            let time = state.completeAt, !needs(key)
        else { return nil }
        return Entry(
            key: key, epoch: cursor.epoch, revision: cursor.revision, asOf: cursor.revision, pass: state.pass, content: nil,
            verifiedAt: time,
            origin: .feed)
    }

    /// The keys of which only a read can tell that a write of this device became part of the record, in order: the feed does not bring the
    /// key's changes, or the write may have made none.
    func keysToRead(_ filter: ChangeFilter) -> [RecordKey] { writes.keysAwaitingBase.filter { mustRead($0, filter) } }

    func mustRead(_ key: RecordKey, _ filter: ChangeFilter) -> Bool {
        guard let rows = writes.keys[key]?.rows else { return false }
        if rows.counts.settled > 0 { return true }
        guard rows.counts.applied > 0 else { return false }
        guard filter.matches(key) else { return true }
        // A copy of this device had sent it, and the feed has passed it: no change will bring it.
        guard let cursor = state.cursor, let position = rows.lazy.compactMap(\.position).first, position.epoch == cursor.epoch else {
            return false
        }
        return position.revision <= cursor.revision
    }

    // MARK: The user's writes

    /// - Parameter isKnownAbsent: whether the device knows, without a row, that there is no record: a write that depends on it may depend on that.
    mutating func add(_ request: SetRequest, isKnownAbsent: Bool = false) {
        var request = request
        request.isKnownAbsent = isKnownAbsent
        if intake.isEmpty { transactions.add(.sets) }
        intake.add(request, base: base(of: request.key, else: request.base))
    }

    /// All that wait, as one plan; refuses those whose values cannot take the operation.
    mutating func planSets(_ sender: Sender, _ turn: inout Turn) -> Plan? {
        let requests = intake.takeAll()
        var builder = PlanBuilder(.sets([], accepted: []), turn, self, sender)
        let refused = builder.add(requests) { [intake] in intake.base(of: $0) }
        for (request, failure) in refused { answer(request, .failed(failure), &turn) }
        return refused.count == requests.count ? nil : builder.plan
    }

    /// The write is on disk, or will not be.
    mutating func answer(_ request: SetRequest, _ answer: Answer, _ turn: inout Turn) {
        intake.release(request)
        turn.emit(.answer(request.token, answer))
    }

    /// Forgets the writes, and the calls to discard rejected ones, that are not on disk yet. Returns those who wait, in order.
    mutating func dropSets() -> [Token] {
        var tokens: [Token] = []
        switch transactions.underWay?.continuation {
        case .sets(let requests, _): tokens = requests.map(\.token)
        case .discarded(let token): tokens = [token]
        default: break
        }
        return tokens + transactions.removeDiscards() + intake.removeAll()
    }

    // MARK: Transactions

    var isIdle: Bool { transactions.isIdle }
    func isUnderWay(_ id: TransactionID) -> Bool { transactions.isUnderWay(id) }
    mutating func add(_ intent: Intent) { transactions.add(intent) }
    mutating func nextIntent() -> Intent? { transactions.next() }
    mutating func dropFetches() { transactions.dropFetches() }

    /// Drops what came from the server. Returns the keys whose reads are on their way to the disk already.
    mutating func dropResponses() -> Set<RecordKey> {
        transactions.dropResponses()
        guard case .fetched(let entries)? = transactions.underWay?.continuation else { return [] }
        return Set(entries.map(\.key))
    }

    /// Hands the plan to the disk. Returns whether there is something to store.
    mutating func begin(_ plan: Plan, generation: Int64, _ turn: inout Turn) -> Bool {
        let id = transactions.begin(plan, generation: generation)
        guard let transaction = plan.transaction(id, over: writes) else { return false }
        turn.emit(.commit(transaction))
        return true
    }

    /// The disk has taken the transaction: everything of it is so from now on, and shows.
    mutating func committed(_ skipped: Set<Int>, _ turn: inout Turn) -> Plan? {
        guard let plan = transactions.end() else { return nil }
        if let client = plan.clear {
            state = SyncState(client: client)
            if !intake.isEmpty { transactions.add(.sets) }
            return plan
        }
        let dropped = state.droppedRejections
        for change in plan.state { state.apply(change) }
        for operation in plan.rejections { rejected.apply(operation) }
        if state.droppedRejections > dropped {
            let text = "rejected writes were dropped, since too many wait to be retried or discarded"
            turn.log(.error, "\(state.droppedRejections - dropped) \(text)")
        }
        let before = plan.staged.map { writes.keys[$0.key]?.view }
        for pending in plan.staged { writes.put(pending) }
        if case .renamed = plan.continuation { writes.renumber() }
        intake.apply(plan.entries)
        plan.publish(skipped, before, { view(of: $0, stored: $1) }, &turn)
        return plan
    }

    /// The disk has not taken the transaction.
    mutating func failed() -> Plan? { transactions.end() }

    /// A clear begins: nothing is shown any more. The answer to a transaction under way will be ignored; the one that clears comes after it.
    mutating func clear(_ turn: inout Turn) {
        for key in writes.sortedKeys {
            for row in writes.keys[key]?.rows ?? OutboxRows() where row.isPending { turn.emit(.verdict(row.receipt, key, .cleared)) }
        }
        transactions.removeAll()
        writes = Outbox()
        rejected = RejectionList()
    }

    /// See ``SyncMachine/relativeState(at:)``.
    mutating func makeRelative() { transactions.makeRelative() }
}
