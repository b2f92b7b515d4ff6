import FreshetClient
import FreshetWire

/// The device's disk and its process.
extension SmallDevice {
    /// Carries out the next transaction and reports it.
    mutating func commitNext(_ server: SmallServer) {
        let transaction = transactions.removeFirst()
        // What the disk says it has and has not; a crash shows it.
        let isLate = bug == .acceptBeforeSync || (bug == .cursorFirst && !transaction.entries.isEmpty)
        durable = isLate ? durable ?? store : nil
        let skipped = commit(transaction, server)
        handle(.committed(transaction.id, skipped: skipped))
        guard transaction.clear != nil, !isCleared else { return }
        for response in lateResponses { storeLate(response) }
        lateResponses = []
    }

    @discardableResult
    private mutating func commit(_ transaction: DiskTransaction, _ server: SmallServer) -> [Int] {
        var stored = transaction
        switch bug {
        case .ignoreInvalidation: stored.entries.removeAll { if case .evict = $0 { true } else { false } }
        case .reuseNumber where transaction.clear == nil: stored.state.removeAll { if case .nextNumber = $0 { true } else { false } }
        default: break
        }
        let before = store
        var skipped = store.commit(stored)
        // The indices of a shorter list mean nothing to the machine.
        if stored.entries.count != transaction.entries.count { skipped = [] }
        if bug == .storeOlder { skipped = store.storeOlder(transaction, skipped: skipped) }
        spoil(after: transaction)
        if transaction.clear != nil {
            isCleared = transactions.contains { $0.clear != nil }
            oracle.cleared()
        }
        oracle.stored(transaction, before: before, after: store, server, &failure)
        return skipped
    }

    mutating func failNext() {
        let transaction = transactions.removeFirst()
        handle(.commitFailed(transaction.id, .full))
    }

    mutating func answerQuery() {
        let query = queries.removeFirst()
        handle(.cachedKeys(query, store.cachedKeys(query)))
    }

    mutating func evict(_ key: Int) {
        guard !machine.mustKeep(setup.keys[key]) else { return }
        store.evict(setup.keys[key])
        if store.entries[setup.keys[key]] == nil, !machine.overlaidKeys.contains(setup.keys[key]) { shown[key] = nil }
    }

    /// The process dies and starts again. Data that is not on disk is lost, and requests that were sent may still arrive.
    mutating func crash(commits: Bool, _ server: SmallServer) {
        if commits, !transactions.isEmpty { commit(transactions.removeFirst(), server) }
        loseUnsynced()
        for call in calls { giveUp(call) }
        (calls, transactions, queries, merges, deadline, isLive, isCleared) = ([], [], [], [], nil, false, false)
        hasStoppedSending = false
        shown = shown.map { _ in nil }
        oracle.crashed(store)
        machine = SyncMachine(settings: settings, client: store.state.client)
        var persisted = store.persisted
        if bug == .forgetOutbox { persisted.outbox = [] }
        if bug == .forgetWatermark { persisted.watermarks = [:] }
        handle(.registered(setup.closure))
        handle(.started(persisted))
    }

    private mutating func loseUnsynced() {
        guard let durable else { return }
        self.durable = nil
        guard bug == .cursorFirst else { return store = durable }
        store.loseRecords(of: setup.keys, since: durable)
    }

    // MARK: Injected bugs

    private mutating func spoil(after transaction: DiskTransaction) {
        switch bug {
        case .resetDropsOutbox where transaction.isReset: store.dropOutbox()
        case .trustAfterReset where transaction.isReset: store.trustEntries()
        case .inventValue: store.inventValues(transaction)
        default: break
        }
    }

    /// The view of a device that replays a write that waits for its merge over any record.
    func spoiled(_ view: KeyView) -> KeyView {
        let base = KeyView(view.key, view.entry).value
        guard bug == .replayMerging, view.value == base else { return view }
        var replay = Replay(base)
        for row in store.rows.values where row.key == view.key && row.isMerging { replay.apply(row.operation) }
        var view = view
        view.value = replay.value
        return view
    }

    /// Stores a response to a request from before a clear, although nothing waits for it.
    mutating func storeLate(_ response: SmallResponse) {
        for transaction in response.reply.lateTransactions(pass: store.state.pass, at: Timestamp(milliseconds: 0)) {
            _ = store.commit(transaction)
        }
    }
}
