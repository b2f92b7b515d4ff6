import FreshetWire

/// Routes events to the parts of a ``SyncMachine``, which have private state, and effects from one part to another.
struct SyncCore: Hashable, Sendable {
    private enum Phase: Hashable, Sendable { case idle, running, clearing, stopped }

    private let settings: SyncSettings
    private var phase = Phase.idle
    private var parts: SyncParts
    /// Whether a change of name is being stored.
    private var isRenaming = false

    init(settings: SyncSettings, client: ClientIdentifier) {
        self.settings = settings
        parts = SyncParts(client: client)
    }

    /// Whether the machine expects the event.
    ///
    /// A clear and a reset begin a new generation, which stamps all requests of the machine. An event of an earlier
    /// generation or a cancelled request, or one that comes twice, has no effect and starts no other work (rule 12).
    func isExpected(_ event: SyncEvent) -> Bool {
        guard phase != .stopped else { return false }
        return switch event {
        case .replied(let id, _, _, _, _): id.generation == parts.requests.generation && parts.requests.contains(id)
        // A reset does not undo a transaction that the disk has; a clear does.
        case .committed(let id, _), .commitFailed(let id, _): parts.local.isUnderWay(id)
        case .cachedKeys(let query, _), .cachedKeysFailed(let query, _): parts.isWaiting(for: query)
        case .merged(let writeID, _, let generation): generation == parts.requests.generation && parts.merger.theirs(writeID) != nil
        case .started: phase == .idle
        case .registered, .set, .discard, .fetch, .list, .verify, .abandon, .evicted, .timer, .wake, .clear, .stop: true
        }
    }

    // MARK: Looking

    /// - Parameter stored: the disk's row; one that the feed does not keep up to date is not shown, as of a file that followed more.
    func view(of key: RecordKey, stored: Entry?) -> KeyView { parts.local.view(of: key, stored: settings.covers(key) ? stored : nil) }
    /// See ``SyncMachine/absence(of:)``.
    func absence(of key: RecordKey, isReadable: Bool = false) -> Entry? {
        guard phase == .running, !parts.resetter.isUnderWay, !settings.mayEvict else { return nil }
        return parts.local.absence(of: key, isReadable: isReadable, settings)
    }
    var isClearing: Bool { phase == .clearing }
    var hasOverlay: Bool { !parts.local.outbox.keys.isEmpty }
    var overlaidKeys: [RecordKey] { parts.local.outbox.sortedKeys }
    func mustKeep(_ key: RecordKey) -> Bool { parts.local.mustKeep(key) }
    func keeps(_ rejection: LocalWriteID) -> Bool { parts.local.rejections.contains(rejection) }

    /// The contents of the machine, for tests and tools.
    var inspection: Inspection {
        Inspection(
            state: parts.local.sync, outbox: parts.local.outbox.keys, waitingNumbers: parts.local.outbox.queue.map(\.number),
            unstoredKeys: parts.local.keyCount, readsInFlight: parts.reader.underWay, requestsSent: parts.requests.sentCount,
            isResetting: parts.resetter.reset != nil, isClearing: isClearing, generation: parts.requests.generation)
    }

    /// See ``SyncMachine/state``.
    var state: SyncState { parts.local.sync }

    /// The present freshness of the device's data.
    var status: SyncStatus {
        SyncStatus(
            settings, parts.reachability, parts.follower, parts.sender, parts.local, parts.merger, parts.refresher,
            isRunning: phase == .running)
    }

    /// See ``SyncMachine/relativeState(at:)``.
    mutating func makeRelative(to uptime: Int64) { parts.makeRelative(to: uptime) }

    // MARK: Events

    mutating func handle(_ event: SyncEvent, _ turn: inout Turn) {
        defer { repeat { advance(&turn) } while parts.takeListReads(&turn) }
        switch event {
        case .started(let persisted): start(persisted, &turn)
        case .set(let request): take(request, &turn)
        case .discard(let writeID, let callerID):
            if phase == .idle { turn.emit(.complete(callerID, .failed(.stopped))) } else { parts.local.add(.discard(writeID, callerID)) }
        case .fetch(let request): take(request, &turn)
        case .list(let request) where phase == .idle: turn.emit(.complete(request.callerID, .failed(.stopped)))
        case .list(let request): parts.lister.add(request, turn)
        case .verify(let callerID): parts.verify(callerID, isStarted: phase != .idle, &turn)
        case .abandon(let callerID): parts.abandon(callerID, &turn)
        case .committed(_, let skipped): committed(Set(skipped), &turn)
        case .commitFailed(_, let failure): commitFailed(failure, &turn)
        case .cachedKeys(let query, let keys): parts.take(keys, for: query, &turn)
        case .cachedKeysFailed(let query, let failure): parts.failed(query, failure, &turn)
        case .evicted(let keys): for key in keys { turn.note(.key(key), .evicted) }
        case .registered(let name): parts.merger.register(name, parts.local.outbox, &turn)
        case .replied(let id, let reply, let lastWrite, let store, let age):
            parts.requests.note(age: age, of: id)
            switch parts.binding.check(reply, from: store, knownEpoch: parts.local.epoch, settings) {
            case .accepted: take(reply, lastWrite, to: id, &turn)
            case .binds(let store):
                parts.local.add(.bind(store))
                take(reply, lastWrite, to: id, &turn)
            case .refused(let failure): take(.failure(failure), nil, to: id, &turn)
            }
        case .merged(let writeID, let resolution, _): parts.local.add(.merged(writeID, resolution))
        case .timer: fireWatchdogs(&turn)
        case .wake: parts.wake(&turn)
        case .clear(let client, let keepsOutbox, let principal, let callerID):
            clear(Resetter.Clear(client: client, keepsOutbox: keepsOutbox, principal: principal, callerID: callerID), &turn)
        case .stop:
            parts.cancelAll(&turn)
            fail(.stopped, &turn)
            phase = .stopped
        }
    }

    private mutating func start(_ persisted: PersistedState, _ turn: inout Turn) {
        phase = .running
        parts.local.start(persisted, &turn)
        parts.binding = StoreBinding(persisted.state.store)
        parts.sender.start(persisted)
        if persisted.needsRefresh { parts.refresher.add() }
        parts.begin(settings)
    }

    private mutating func take(_ request: SetRequest, _ turn: inout Turn) {
        guard phase != .idle else { return turn.emit(.complete(request.callerID, .failed(.stopped))) }
        // The server refuses the write if there is a record after all.
        parts.local.add(request, isKnownAbsent: request.policy != .lastWriterWins && absence(of: request.key, isReadable: true) != nil)
    }

    private mutating func take(_ request: FetchRequest, _ turn: inout Turn) {
        // A list may have begun again since it asked for the read.
        guard !parts.lister.contains(request.callerID) || parts.lister.isReading(request.callerID) else { return }
        guard phase == .running || phase == .clearing else { return turn.emit(.complete(request.callerID, .failed(.stopped))) }
        if let outage = parts.reachability.outage {
            // Callers get this failure at once; the feed is retried soon, so a later caller may get a value.
            parts.follower.hurrySoon(turn)
            return turn.emit(.complete(request.callerID, .failed(.offline(outage))))
        }
        guard !request.items.isEmpty else { return turn.emit(.complete(request.callerID, .views([]))) }
        // Before the clear is stored, nothing is known.
        parts.reader.add(request, parts.local.sync, turn) { item in
            phase == .running ? parts.local.base(of: item.key, else: item.known) : nil
        }
    }

    // MARK: Requests

    private mutating func take(_ reply: Reply, _ lastWrite: Int64?, to id: RequestID, _ turn: inout Turn) {
        guard let request = parts.requests.remove(id), !parts.repeatsWithoutName(request, after: reply) else { return }
        if request.purpose == .continuation {
            return parts.resetter.take(reply, hadFreshToken: request.hadFreshToken, &turn)
        }
        let reply = request.bringsRecords ? reply : reply.withoutCurrentRecords
        if let epoch = reply.epoch, let known = parts.local.epoch, epoch != known {
            // Sent in the known history, answered in another.
            parts.released(request)
            if case .fetch(let keys) = request.purpose { for key in keys { turn.note(.key(key), .fetchOfOtherEpoch(epoch)) } }
            let text = "the server's history is \(epoch), not \(known)"
            return reset(to: epoch, forgets: false, because: text, continuation: reply.continuation, &turn)
        }
        if request.isRead { parts.compareRights(reply, &turn) }
        switch request.purpose {
        case .feed(let since, let wait):
            let effects = parts.follower.take(
                reply, lastWrite, to: request, since: since, wait: wait, parts.local.sync, &parts.reachability, &turn)
            carryOut(effects, &turn)
        case .writes(let numbers): carryOut(parts.sender.take(reply, lastWrite, to: request, numbers, parts.local.outbox, &turn), &turn)
        case .clientStatus:
            carryOut(parts.sender.takeStatus(reply, to: request, of: parts.local.sync.client, parts.local.outbox, &turn), &turn)
        case .fetch(let keys): parts.takeFetched(reply, lastWrite, to: request, keys, &turn)
        case .revalidation(let keys):
            carryOut(parts.revalidator.take(reply, lastWrite, to: request, keys, parts.local.sync, &parts.reachability, &turn), &turn)
        case .refresh(let keys): carryOut(parts.refresher.take(reply, lastWrite, to: request, keys, &turn), &turn)
        case .list(let callerID): parts.lister.take(reply, to: request, of: callerID, parts.local.sync, &turn)
        case .continuation: break
        }
    }

    private mutating func carryOut(_ effects: [Effect], _ turn: inout Turn) {
        for effect in effects {
            switch effect {
            case .store(let input): parts.local.add(input)
            case .reset(let epoch, let forgets, let reason, let continuation):
                reset(to: epoch, forgets: forgets, because: reason, continuation: continuation, &turn)
            case .regainedContact:
                parts.sender.regainedContact()
                parts.reader.regainedContact()
                parts.refresher.regainedContact()
            case .removeRecords(let problem) where parts.local.mayHoldRecords:
                turn.log(.warning, "removing all records from this device, which may not read them any more: \(problem)")
                clear(Resetter.Clear(client: parts.local.sync.client, keepsOutbox: true, failure: .refused(problem)), &turn)
            case .removeRecords: parts.repeatReads(&turn)
            case .reachedServer: if case .transport? = parts.reachability.trouble { parts.follower.hurry(turn) }
            }
        }
    }

    /// Ends the requests that got no response in time, independently of the transport.
    private mutating func fireWatchdogs(_ turn: inout Turn) {
        for id in parts.requests.overdue(at: turn.now.uptime) where parts.requests.contains(id) {
            turn.emit(.cancel(id))
            take(.failure(.watchdog), nil, to: id, &turn)
        }
    }

    mutating func answer(verifiedBy status: SyncStatus, _ turn: inout Turn) { parts.answer(verifiedBy: status, &turn) }

    // MARK: Reset and clear

    /// Begins a reset: no request is sent before it is on disk, but for the one that asks where the device continues.
    private mutating func reset(
        to epoch: Epoch?, forgets: Bool, because reason: String, continuation: Problem.Continuation? = nil, _ turn: inout Turn
    ) {
        turn.log(.warning, "verifying the cache: \(reason)")
        parts.beginGeneration(&turn)
        turn.note(.everything, .reset)
        let mayContinue = !forgets && (epoch == nil || epoch != parts.local.epoch) && parts.local.sync.canContinue
        parts.resetter.add(
            epoch, forgets: forgets, mayContinue ? continuation.map { .continues($0) } ?? .unknown : .none, &turn)
    }

    /// Drops the responses in flight: they state the numbers of the earlier name, so they are requested again.
    private mutating func renamed(from earlier: ClientIdentifier, _ turn: inout Turn) {
        let text = "the name \(earlier) is another device's, as after a copy or a rollback of the directory, or another user's"
        turn.log(.warning, "\(text): this device is \(parts.local.sync.client) from now on")
        parts.beginGeneration(&turn)
        parts.sender.renamed(&turn)
        isRenaming = false
    }

    private mutating func clear(_ clear: Resetter.Clear, _ turn: inout Turn) {
        if let earlier = parts.resetter.add(clear, after: parts.local.inputCount) { turn.emit(.complete(earlier, .failed(.cleared))) }
        // One that keeps the outbox begins once the disk has the accepted writes: see `advanceTransactions`.
        guard parts.resetter.clear?.keepsOutbox == false else { return parts.beginGeneration(&turn) }
        parts.cancelAll(&turn)
        fail(.cleared, &turn)
        parts.clear(&turn)
        isRenaming = false
        phase = .clearing
        turn.emit(.publish([.cleared]))
    }

    private mutating func hideRecords(_ clear: Resetter.Clear, _ turn: inout Turn) {
        phase = .clearing
        parts.forgetRecords(clear.failure, &turn)
        // Without a write to keep, nothing of the earlier user stays.
        guard clear.callerID != nil, !parts.local.hasOwnData else { return }
        parts.resetter.clearEverything()
        parts.clear(&turn)
        isRenaming = false
    }

    /// Answers every waiting caller with this failure.
    private mutating func fail(_ failure: SyncFailure, _ turn: inout Turn) {
        var callerIDs = parts.local.dropSets()
        if failure == .stopped, let callerID = parts.resetter.clear?.callerID { callerIDs.append(callerID) }
        turn.complete(callerIDs + parts.removeReads() + parts.verifications.removeAll(), .failed(failure))
    }

    // MARK: Starting work

    private mutating func advance(_ turn: inout Turn) {
        guard phase == .running || phase == .clearing else { return }
        parts.expireReads(&turn)
        advanceTransactions(&turn)
        guard phase == .running else { return }
        guard !parts.resetter.isUnderWay else {
            parts.resetter.advance(parts.local.sync, &parts.requests, &turn)
            return advanceTransactions(&turn)
        }
        if parts.sender.mayRename(parts.local.sync, parts.local.outbox, turn), !isRenaming, parts.local.epoch != nil {
            isRenaming = true
            parts.local.add(.rename)
            return advanceTransactions(&turn)
        }
        parts.sendRequests(settings, &turn)
    }

    /// Returns the next time at which work can start that waits only for the clock.
    func deadline(after uptime: Int64) -> Int64? {
        guard phase == .running || phase == .clearing else { return nil }
        return parts.deadline(after: uptime, settings)
    }

    // MARK: Transactions

    private func builder(_ onCommit: TransactionPlan.OnCommit, _ turn: Turn) -> PlanBuilder {
        PlanBuilder(onCommit, turn, parts.local, parts.sender)
    }

    private mutating func advanceTransactions(_ turn: inout Turn) {
        while parts.local.isIdle {
            if let clear = parts.resetter.clear {
                if phase == .running, parts.resetter.takeInput(), let input = parts.local.nextInput() {
                    if let plan = plan(input, &turn) { begin(plan, &turn) }
                    continue
                }
                if phase == .running { hideRecords(clear, &turn) }
                guard let clear = parts.resetter.dueClear(turn) else { return }
                var builder = builder(.cleared(clear.callerID), turn)
                builder.add(clear)
                begin(builder.plan, &turn)
                continue
            }
            // While a reset waits for the disk, the user's writes still get their answer.
            if let reset = parts.resetter.dueReset(turn) {
                var builder = builder(.reset, turn)
                builder.add(reset)
                begin(builder.plan, &turn)
                continue
            }
            guard let input = parts.local.nextInput() else { return }
            if let plan = plan(input, &turn) { begin(plan, &turn) }
        }
    }

    private mutating func plan(_ input: QueuedInput, _ turn: inout Turn) -> TransactionPlan? {
        if let epoch = input.epoch, let known = parts.local.epoch, epoch != known {
            reset(to: epoch, forgets: false, because: "the server's history is \(epoch), not \(known)", &turn)
            return nil
        }
        switch input {
        case .page(let page, let since, let lastWrite): return parts.plan(page, since, lastWrite, &turn)
        case .noChange(let cursor, let since, let lastWrite):
            return parts.plan(ChangePage(changes: [], cursor: cursor, upToDate: true), since, lastWrite, &turn)
        case .sets: return parts.local.planSets(parts.sender, &turn)
        case .fetched(let read, let lastWrite): return parts.reader.plan(read, lastWrite, parts.rule, builder(.fetched([]), turn), &turn)
        case .cachedKeysRevalidated(let keys, let response, let lastWrite):
            return parts.revalidator.plan(keys, response, lastWrite, parts.rule, builder(.cachedKeysRevalidated, turn))
        case .refreshed(let keys, let response, let lastWrite):
            return parts.refresher.plan(keys, response, lastWrite, parts.rule, builder(.refreshed(large: []), turn))
        case .results, .reconcile, .revalidationFinished, .merged, .discard, .bind, .narrow, .rename, .leaveName:
            return PlanBuilder.plan(for: input, &turn, parts.local, parts.sender, parts.merger)
        }
    }

    /// Hands the plan to the disk; one without anything to store is complete at once.
    private mutating func begin(_ plan: TransactionPlan, _ turn: inout Turn) {
        if !parts.local.begin(plan, generation: parts.requests.generation, &turn) { committed([], &turn) }
    }

    // MARK: The disk's answers

    private mutating func committed(_ skipped: Set<Int>, _ turn: inout Turn) {
        guard let plan = parts.local.committed(skipped, &turn) else { return }
        parts.resetter.stored()
        for lowerBound in plan.lowerBounds { parts.reader.raiseLowerBound(lowerBound.scope, to: lowerBound.revision) }
        if plan.outdatesReads { parts.repeatFetches(&turn) }
        for decision in plan.outcomes {
            parts.merger.decided(decision.writeID)
            turn.emit(.outcome(decision.writeID, decision.key, decision.outcome))
        }
        if plan.entries.contains(where: \.leavesWorkToRefresh) { parts.refresher.add() }
        conclude(plan, &turn)
        guard plan.repeatsPass else { return }
        if parts.resetter.isUnderWay { return parts.beginGeneration(&turn) }
        reset(to: parts.local.epoch, forgets: false, because: "a record was evicted that the feed does not bring again", &turn)
    }

    private mutating func conclude(_ plan: TransactionPlan, _ turn: inout Turn) {
        switch plan.onCommit {
        case .page(let upToDate): parts.storedPage(upToDate: upToDate, turn)
        case .sets(let callers, let writeIDs):
            for (request, writeID) in zip(callers, writeIDs) { parts.local.complete(request, .accepted(writeID), &turn) }
        case .outcomes:
            parts.sender.decided(plan.decided)
            if !plan.outcomes.isEmpty { parts.sender.keptName() }
        case .fetched(let entries):
            for entry in entries {
                if parts.local.sync.cursor == nil { parts.follower.noteRead(through: Cursor(epoch: entry.epoch, revision: entry.asOf)) }
                parts.merger.noteRead(entry.key, parts.local.outbox)
                let isKnown = !parts.local.mustRead(entry.key, settings.filter)
                parts.reader.stored(entry.key, parts.local.view(of: entry.key, stored: entry), isKnown: isKnown, &turn)
            }
        case .reset:
            parts.resetter.resetStored()
            parts.merger.forget()
            if parts.local.sync.mustReconcile { parts.reader.resetLowerBounds() }
        case .reconciled(let last): parts.sender.reconciled(last: last)
        case .cachedKeysRevalidated: parts.revalidator.stored(&parts.reachability)
        case .refreshed(let large):
            parts.refresher.stored(large: large)
            for key in large { parts.reader.refresh(large: key, parts.local.sync) }
        case .merged: parts.merger.stored()
        case .discarded(let callerID): turn.emit(.complete(callerID, .discarded))
        case .bound, .narrowed: break
        case .renamed(let earlier): renamed(from: earlier, &turn)
        case .cleared(let callerID):
            // Another clear may have been called since.
            guard parts.resetter.clear?.callerID == callerID else { return }
            parts.resetter.cleared()
            phase = .running
            if let callerID { turn.emit(.complete(callerID, .cleared)) }
        }
    }

    private mutating func commitFailed(_ failure: DiskFailure, _ turn: inout Turn) {
        guard let plan = parts.local.failed() else { return }
        turn.log(.error, "the disk did not take a transaction: \(failure)")
        if case .renamed = plan.onCommit { isRenaming = false }
        parts.notStored(plan, failure, &turn)
    }
}
