import FreshetWire

/// The decisions of a device that are not stored yet: one transaction, and its consequences once it is on disk.
///
/// One plan is under way at a time, made from the state on disk, so decisions cannot conflict. Nothing of a plan shows
/// before the disk has committed it.
struct TransactionPlan: Hashable, Sendable {
    /// The step that follows the disk's answer.
    enum OnCommit: Hashable, Sendable {
        case page(upToDate: Bool)
        case sets([SetRequest], accepted: [LocalWriteID])
        case outcomes
        case fetched([Entry])
        case reset
        /// The server's last number of this device.
        case reconciled(last: Int64)
        case cachedKeysRevalidated
        /// The keys whose values were too large for the response.
        case refreshed(large: [RecordKey])
        case merged
        case discarded(CallerID)
        /// The store that the device belongs to.
        case bound
        /// The device follows a part of what it followed before.
        case narrowed
        /// The earlier name of the device.
        case renamed(ClientIdentifier)
        case cleared(CallerID?)
    }

    struct Decision: Hashable, Sendable {
        var writeID: LocalWriteID
        var key: RecordKey
        var outcome: LocalWriteOutcome
    }

    struct LowerBound: Hashable, Sendable {
        var scope: InvalidationScope
        var revision: Revision
    }

    var onCommit: OnCommit
    var entries: [EntryOperation] = []
    var state: [StateChange] = []
    var rejections: [RejectionOperation] = []
    var clear: ClientIdentifier?
    var removesRecords = false
    /// The new states of keys in the outbox, in the order in which they were touched.
    private(set) var staged: [PendingKey] = []
    private var stagedIndices: [RecordKey: Int] = [:]
    /// The numbers of the writes whose verdicts the plan stores.
    var decided: [Int64] = []
    var outcomes: [Decision] = []
    var notes: [HistoryEvent] = []
    /// Whether reads in flight must be repeated: they may be older than the beginning of the pass.
    var outdatesReads = false
    /// Whether the plan begins another pass: a reset follows, since the requests in flight are of the earlier one.
    var repeatsPass = false
    /// New lower bounds for the reads in flight.
    var lowerBounds: [LowerBound] = []

    init(_ onCommit: OnCommit) { self.onCommit = onCommit }

    /// Whether the disk may hold a record afterwards.
    var storesRecords: Bool {
        !entries.isEmpty || rejections.contains { if case .put(let write) = $0 { write.problem.current != nil } else { false } }
    }

    /// Makes room for the operations of a page with so many changes.
    mutating func reserve(_ changes: Int) {
        entries.reserveCapacity(changes)
        lowerBounds.reserveCapacity(changes)
    }

    mutating func add(_ operation: EntryOperation) { entries.append(operation) }

    /// Returns the state of the key after this plan; `nil` if the plan has not touched it.
    func staged(_ key: RecordKey) -> PendingKey? { stagedIndices[key].map { staged[$0] } }

    /// Stages the key's new state in place of an earlier one.
    mutating func stage(_ pending: PendingKey) {
        if let index = stagedIndices[pending.key] {
            staged[index] = pending
        } else {
            stagedIndices[pending.key] = staged.count
            staged.append(pending)
        }
    }
}

extension TransactionPlan {
    /// Leaves out the records that the feed does not keep up to date, and removes those under writes that leave the outbox: the rule of
    /// coverage (``SyncSettings/covers(_:)``) for every source of records. The device keeps the position at which it saw them.
    mutating func leaveOutUncovered(_ settings: SyncSettings, _ local: LocalState) {
        guard settings.filter != .all, clear == nil else { return }
        var seen: [Cursor] = []
        entries.removeAll { [staged, stagedIndices] operation in
            guard case .put(let entry, _) = operation, !settings.covers(entry.key) else { return false }
            let pending = stagedIndices[entry.key].map { staged[$0] } ?? local.outbox.keys[entry.key]
            guard pending?.rows.isEmpty ?? true else { return false }
            seen.append(Cursor(epoch: entry.epoch, revision: entry.asOf))
            return true
        }
        for index in staged.indices where staged[index].rows.isEmpty && !settings.covers(staged[index].key) {
            guard let base = staged[index].base else { continue }
            staged[index].forgetRecord()
            seen.append(Cursor(epoch: base.epoch, revision: base.asOf))
            add(.remove(base.key))
        }
        for position in seen { raiseFloor(to: position, local.sync) }
    }

    /// Notes that the device has seen a record which it does not follow, as of this position.
    mutating func raiseFloor(to position: Cursor, _ state: SyncState) {
        var after = state
        for change in self.state { after.apply(change) }
        for known in [after.cursor, after.floor] {
            if let known, known.epoch == position.epoch, known.revision >= position.revision { return }
        }
        self.state.append(.floor(Cursor(epoch: position.epoch, revision: position.revision)))
    }

    /// Returns the transaction for the disk; `nil` if there is nothing to store.
    func transaction(_ id: TransactionID, over outbox: Outbox) -> DiskTransaction? {
        let operations = clear == nil ? staged.flatMap { $0.operations(since: outbox.keys[$0.key]) } : []
        guard clear != nil || !entries.isEmpty || !state.isEmpty || !operations.isEmpty || !rejections.isEmpty else { return nil }
        return DiskTransaction(
            id: id, clear: clear, removesRecords: removesRecords, entries: entries, outbox: operations, rejections: rejections, state: state
        )
    }

    /// Publishes the changes of the plan, which is on disk now.
    ///
    /// - Parameters:
    ///   - skipped: the operations that had no effect.
    ///   - before: the views that the staged keys had.
    ///   - outbox: the writes after the plan.
    func publish(_ skipped: Set<Int>, _ before: [KeyView?], over outbox: Outbox, _ turn: inout Turn) {
        turn.reserveNotes(notes.count + entries.count)
        turn.note(notes)
        var publications: [Publication] = []
        publications.reserveCapacity(entries.count + staged.count)
        // By index: an operation is as large as several strings, and iterating over the array would copy each.
        for index in entries.indices {
            let isSkipped = skipped.contains(index)
            if case .put(let entry, _) = entries[index], entry.origin == .feed, entry.content != nil {
                turn.note(.key(entry.key), isSkipped ? .changeSkipped(entry.revision) : .changed(entry.revision))
            }
            guard !isSkipped else { continue }
            switch entries[index] {
            case .put(let entry, _):
                guard staged(entry.key) == nil else { continue }
                // A response to a refresh may be older than an invalidation that the disk has.
                if case .refreshed = onCommit {
                    publications.append(.changed(entry.key))
                } else {
                    publications.append(.view(outbox.view(of: entry.key, stored: entry)))
                }
            case .confirm(let revalidation):
                if staged(revalidation.key) == nil { publications.append(.confirmed(revalidation)) }
            case .withoutValue(let revalidation, _):
                if staged(revalidation.key) == nil { publications.append(.changed(revalidation.key)) }
            case .invalidate(.key(let key), _):
                if staged(key) == nil { publications.append(.changed(key)) }
            case .invalidate(let scope, let position): publications.append(.invalidated(scope, at: position))
            case .evict(.key(let key), _):
                if staged(key) == nil { publications.append(.view(outbox.view(of: key, stored: nil))) }
            case .evict(let scope, let position): publications.append(.evicted(scope, before: position))
            case .finishPass(let pass, let position): publications.append(.passFinished(pass, at: position))
            // The memory holds no such view, but for those over writes: see ``SyncMachine/view(of:stored:)``.
            case .remove, .narrow: break
            case .inherit(let inheritance): publications.append(.inherited(inheritance))
            }
        }
        for (index, pending) in staged.enumerated() {
            let view = outbox.view(of: pending.key, stored: pending.base)
            if view != before[index] { publications.append(.view(view)) }
        }
        if !publications.isEmpty { turn.emit(.publish(publications)) }
    }
}
