import FreshetWire

/// Builds one transaction from the state on disk. Each extension turns one kind of input into a ``TransactionPlan``.
struct PlanBuilder {
    let settings: SyncSettings
    /// The state on disk.
    let state: SyncState
    /// The outbox on disk.
    let outbox: Outbox
    let now: EventContext
    /// Writes up to this number may have been sent.
    let lastSentNumber: Int64
    /// Writes up to this number may have been sent before the batch whose outcomes are stored.
    let lastSentBefore: Int64
    /// Whether the server refuses the device's name, so that no response states a number of it.
    let isNameRefused: Bool
    /// Writes that the server refuses to parse, each with the problem.
    let refusedWrites: [Int64: Problem]
    /// The list after the plan.
    private(set) var rejections: RejectionList
    private(set) var plan: TransactionPlan

    init(_ onCommit: TransactionPlan.OnCommit, _ turn: Turn, _ local: LocalState, _ sender: Sender) {
        settings = turn.settings
        state = local.sync
        outbox = local.outbox
        now = turn.now
        lastSentNumber = sender.lastSentNumber
        lastSentBefore = sender.lastSentBefore
        isNameRefused = sender.isNameRefused
        refusedWrites = sender.refusedWrites
        rejections = local.rejections
        plan = TransactionPlan(onCommit)
    }

    // MARK: Looking

    /// The state after the plan.
    var after: SyncState {
        var after = state
        for change in plan.state { after.apply(change) }
        return after
    }

    /// The key as the plan leaves it so far; `nil` if it is not in the outbox.
    func pending(_ key: RecordKey) -> PendingKey? { plan.staged(key) ?? outbox.keys[key] }

    /// Whether a response of this epoch that describes the key must state the device's last decided write.
    func needsWatermark(_ key: RecordKey, in epoch: Epoch?) -> Bool {
        !isNameRefused && outbox.keys[key]?.needsWatermark(in: epoch, lastSentNumber: lastSentNumber) ?? false
    }

    /// See ``SyncSettings/covers(_:)``.
    func covers(_ key: RecordKey) -> Bool { settings.covers(key) }

    // MARK: Building

    mutating func reserve(_ changes: Int) { plan.reserve(changes) }
    mutating func change(_ changes: StateChange...) { plan.state += changes }
    mutating func raiseLowerBound(_ scope: InvalidationScope, to revision: Revision) {
        plan.lowerBounds.append(TransactionPlan.LowerBound(scope: scope, revision: revision))
    }
    mutating func outdateReads() { plan.outdatesReads = true }
    mutating func clear(for client: ClientIdentifier) { plan.clear = client }
    mutating func removeRecords() {
        plan.removesRecords = true
        plan.state += state.withoutRecords(settings)
    }
    /// Takes over the present settings. The records that these do not cover leave the device, so it has to read them from nothing
    /// if it follows them again.
    mutating func takeScope() {
        guard state.scope != settings.scope else { return }
        change(.scope(settings.scope), .whole(state.whole?.intersection(settings.filter)))
        applyOnDisk(.narrow(settings.filter, writtenKeys: Set(outbox.keys.keys)))
    }
    /// Notes that the device has seen a record which it does not follow, as of this position.
    mutating func raiseFloor(to position: Cursor) { plan.raiseFloor(to: position, state) }
    /// Begins another pass. A reset follows, which ends the requests in flight and waits ever longer if it is repeated.
    mutating func repeatPass() {
        plan.repeatsPass = true
        beginPass()
    }
    /// Loses the position, so that the feed is read again from its start.
    mutating func beginPass() { plan.state += state.withoutPosition(settings) }
    mutating func setOnCommit(_ onCommit: TransactionPlan.OnCommit) { plan.onCommit = onCommit }
    mutating func stage(_ pending: PendingKey) { plan.stage(pending) }

    mutating func note(_ scope: InvalidationScope, _ kind: HistoryEvent.Kind) {
        plan.notes.append(HistoryEvent(at: now.wall, scope: scope, kind: kind))
    }

    mutating func report(_ writeID: LocalWriteID, _ key: RecordKey, _ outcome: LocalWriteOutcome) {
        plan.outcomes.append(TransactionPlan.Decision(writeID: writeID, key: key, outcome: outcome))
        note(.key(key), outcome.note(writeID))
    }

    /// Rejects a write, and keeps it for its user. The oldest rejections are dropped if there are too many. O(rejections).
    mutating func reject(_ row: OutboxRow, _ problem: Problem) {
        report(row.writeID, row.key, .rejected(problem))
        change(.put(RejectedWrite(row, problem, at: now.wall)))
        while let oldest = rejections.surplus(settings) {
            change(.remove(oldest))
            change(.droppedRejections(after.droppedRejections + 1))
        }
    }

    /// Adds a change of the list of rejected writes.
    mutating func change(_ operation: RejectionOperation) {
        rejections.apply(operation)
        plan.rejections.append(operation)
    }

    /// Marks the number as one whose verdict the plan stores.
    mutating func markDecided(_ number: Int64) { plan.decided.append(number) }

    /// Adds an operation on a key that is not in the outbox.
    mutating func applyOnDisk(_ operation: EntryOperation) { plan.add(operation) }

    /// Adds an operation on one key, for the disk and for the key's base in the outbox.
    ///
    /// - Parameter stated: the watermark of the response that the operation is from.
    mutating func apply(_ operation: EntryOperation, to key: RecordKey, stated: WriteWatermark? = nil) {
        plan.add(operation)
        guard var pending = pending(key) else { return }
        pending.apply(operation, stated: stated ?? (isNameRefused ? pending.watermark(shownBy: operation) : nil))
        plan.stage(pending)
    }

    /// Adds an operation on many keys. O(keys in the outbox).
    mutating func apply(_ operation: EntryOperation, toAllIn scope: InvalidationScope) {
        plan.add(operation)
        for key in outbox.sortedKeys where scope.contains(key) {
            guard var pending = pending(key) else { continue }
            pending.apply(operation)
            plan.stage(pending)
        }
    }

    // MARK: Leaving the overlay

    /// Removes the writes that the records contain from the overlay, for the state after the plan: writes of keys that
    /// the plan touches, and writes that wait only for the record.
    mutating func removeIncluded() {
        removeIncluded(plan.staged.map(\.key) + outbox.keysAwaitingBase.filter { plan.staged($0) == nil })
    }

    mutating func removeIncluded(_ keys: [RecordKey]) {
        let epoch = after.epoch
        for key in keys {
            guard var pending = pending(key) else { continue }
            let writeIDs = pending.removeIncluded(in: epoch)
            guard !writeIDs.isEmpty else { continue }
            for writeID in writeIDs { note(.key(key), .confirmed(writeID)) }
            plan.stage(pending)
        }
    }

    // MARK: Inputs

    /// Returns the plan of an input that needs only the state on disk; `nil` for another input, or if there is
    /// nothing to do.
    static func plan(for input: QueuedInput, _ turn: inout Turn, _ local: LocalState, _ sender: Sender, _ merger: Merger)
        -> TransactionPlan?
    {
        func builder(_ onCommit: TransactionPlan.OnCommit) -> PlanBuilder { PlanBuilder(onCommit, turn, local, sender) }
        switch input {
        case .results(let results, let lastWrite):
            var builder = builder(.outcomes)
            builder.add(results, lastWrite)
            return builder.plan
        case .reconcile(let last, let cursor):
            var builder = builder(.reconciled(last: last))
            if let fault = builder.addReconciliation(last: last, at: cursor) { turn.log(.error, fault) }
            return builder.plan
        case .revalidationFinished:
            guard let cursor = local.sync.cursor else { return nil }
            var builder = builder(.cachedKeysRevalidated)
            builder.addEndOfRevalidation(at: cursor)
            return builder.plan
        case .merged(let writeID, let resolution):
            var builder = builder(.merged)
            guard let theirs = merger.theirs(writeID), builder.addMerge(writeID, resolution, over: theirs) else { return nil }
            return builder.plan
        case .discard(let writeID, let callerID):
            var builder = builder(.discarded(callerID))
            guard builder.rejections.contains(writeID) else {
                turn.emit(.complete(callerID, .failed(.noRejection)))
                return nil
            }
            builder.change(.remove(writeID))
            return builder.plan
        case .rename:
            guard local.sync.renamesAfter != nil else { return nil }
            var builder = builder(.renamed(local.sync.client))
            builder.rename(to: local.sync.client.renamed(turn.now.random))
            return builder.plan
        case .leaveName:
            var builder = builder(.renamed(local.sync.client))
            builder.rename(to: local.sync.client.renamed(turn.now.random))
            return builder.plan
        case .narrow:
            var builder = builder(.narrowed)
            builder.takeScope()
            return builder.plan
        case .bind(let store):
            var builder = builder(.bound)
            builder.change(.store(store))
            return builder.plan
        case .page, .noChange, .sets, .fetched, .cachedKeysRevalidated, .refreshed: return nil
        }
    }
}
