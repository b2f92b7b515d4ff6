import FreshetClient
import FreshetWire

/// The device's disk and its process.
extension SmallDevice {
    /// Carries out the next transaction and says so.
    mutating func commitNext(_ server: SmallServer) {
        let transaction = transactions.removeFirst()
        // What the disk says it has and has not; a crash shows it.
        let isLate = sabotage == .acceptBeforeSync || (sabotage == .cursorFirst && !transaction.entries.isEmpty)
        durable = isLate ? durable ?? store : nil
        let skipped = commit(transaction, server)
        handle(.committed(transaction.id, skipped: skipped))
        guard transaction.clear != nil, !isCleared else { return }
        for response in strays { storeLate(response) }
        strays = []
    }

    @discardableResult
    private mutating func commit(_ transaction: DiskTransaction, _ server: SmallServer) -> [Int] {
        var stored = transaction
        switch sabotage {
        case .ignoreInvalidation: stored.entries.removeAll { if case .evict = $0 { true } else { false } }
        case .reuseNumber where transaction.clear == nil: stored.state.removeAll { if case .nextNumber = $0 { true } else { false } }
        default: break
        }
        let before = store
        var skipped = store.commit(stored)
        // The indices of a shorter list mean nothing to the machine.
        if stored.entries.count != transaction.entries.count { skipped = [] }
        if sabotage == .storeOlder { skipped = storeOlder(transaction, skipped) }
        spoil(after: transaction)
        if transaction.clear != nil {
            isCleared = transactions.contains { $0.clear != nil }
            judge.cleared()
        }
        judge.stored(transaction, before: before, after: store, server, &complaint)
        return skipped
    }

    mutating func failNext() {
        let transaction = transactions.removeFirst()
        handle(.commitFailed(transaction.id, .full))
    }

    mutating func answerQuery() {
        let query = queries.removeFirst()
        handle(.heldKeys(query, store.heldKeys(query)))
    }

    mutating func evict(_ key: Int) {
        guard !machine.needs(setup.keys[key]) else { return }
        store.evict(setup.keys[key])
        if store.entries[setup.keys[key]] == nil, !machine.overlaidKeys.contains(setup.keys[key]) { shown[key] = nil }
    }

    /// The process dies and starts again: what is not on disk is gone, and what was sent may still arrive.
    mutating func crash(commits: Bool, _ server: SmallServer) {
        if commits, !transactions.isEmpty { commit(transactions.removeFirst(), server) }
        loseUnsynced()
        for call in calls { giveUp(call) }
        (calls, transactions, queries, merges, deadline, isLive, isCleared) = ([], [], [], [], nil, false, false)
        hasStoppedSending = false
        shown = shown.map { _ in nil }
        judge.crashed(store)
        machine = SyncMachine(settings: settings, client: store.state.client)
        var persisted = store.persisted
        if sabotage == .forgetOutbox { persisted.outbox = [] }
        if sabotage == .forgetWatermark { persisted.watermarks = [:] }
        handle(.started(persisted))
    }

    private mutating func loseUnsynced() {
        guard let durable else { return }
        self.durable = nil
        guard sabotage == .cursorFirst else { return store = durable }
        // The cursor is there, the records are not.
        for key in setup.keys where durable.entries[key] != store.entries[key] { overwrite(key, with: durable.entries[key]) }
    }

    private mutating func overwrite(_ key: RecordKey, with entry: Entry?) {
        var operations: [EntryOperation] = []
        if let stored = store.entries[key] {
            operations.append(.evict(.key(key), before: Cursor(epoch: stored.epoch, revision: .maximum)))
        }
        if let entry { operations.append(.put(entry, onlyIfHeld: false)) }
        _ = store.commit(DiskTransaction(id: TransactionID(0), entries: operations))
    }

    // MARK: Sabotage

    private mutating func storeOlder(_ transaction: DiskTransaction, _ skipped: [Int]) -> [Int] {
        var left: [Int] = []
        for index in skipped {
            guard case .put(let entry, _) = transaction.entries[index], let stored = store.entries[entry.key], stored != entry else {
                left.append(index)
                continue
            }
            overwrite(entry.key, with: entry)
        }
        return left
    }

    private mutating func spoil(after transaction: DiskTransaction) {
        var more = DiskTransaction(id: TransactionID(0))
        let isReset = transaction.state.contains(.cursor(nil))
        switch sabotage {
        case .resetDropsOutbox where isReset: more.outbox = store.rows.keys.sorted().map { .remove($0) }
        case .trustAfterReset where isReset:
            for key in setup.keys {
                guard let entry = store.entries[key] else { continue }
                let trusted = Confirmation(
                    key: key, epoch: entry.epoch, revision: entry.revision, asOf: entry.asOf, pass: store.state.pass + 5,
                    verifiedAt: entry.verifiedAt)
                more.entries.append(.confirm(trusted))
            }
        case .inventValue:
            for case .put(let row) in transaction.outbox {
                guard case .patch(let patch) = row.operation, case .applied(let position) = row.state else { continue }
                let entry = Entry(
                    key: row.key, epoch: position.epoch, revision: position.revision, asOf: position.revision, pass: store.state.pass,
                    content: Content(checkedJSON: patch), verifiedAt: row.created, origin: .ownWrite)
                more.entries.append(.put(entry, onlyIfHeld: false))
            }
        default: return
        }
        _ = store.commit(more)
    }

    /// The view of a device that replays a write that waits for its merge over any record.
    func spoiled(_ view: KeyView) -> KeyView {
        let base = KeyView(view.key, view.entry).value
        guard sabotage == .replayMerging, view.value == base else { return view }
        var replay = Replay(base)
        for row in store.rows.values where row.key == view.key && row.isMerging { replay.apply(row.operation) }
        var view = view
        view.value = replay.value
        return view
    }

    /// A response to a request of before a clear is stored although nobody waits for it.
    mutating func storeLate(_ response: SmallResponse) {
        let (records, cursor): ([Record], Cursor)
        switch response.reply {
        case .page(let page):
            records = page.changes.compactMap { change in
                guard case .put(let key, let content?, _, _) = change.effect else { return nil }
                return Record(key: key, revision: change.revision, content: content, modified: Timestamp(milliseconds: 0))
            }
            cursor = page.cursor
        case .reads(let response): (records, cursor) = (response.records, response.cursor)
        case .record(let record, let position): (records, cursor) = ([record], position)
        default: return
        }
        for record in records {
            let entry = Entry(
                key: record.key, epoch: cursor.epoch, revision: record.revision, asOf: cursor.revision, pass: store.state.pass,
                content: record.content, verifiedAt: Timestamp(milliseconds: 0), origin: .fetch)
            _ = store.commit(DiskTransaction(id: TransactionID(0), entries: [.put(entry, onlyIfHeld: false)]))
        }
    }
}
