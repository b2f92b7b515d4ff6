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
        case .replied(let id, _, _, _): id.generation == parts.requests.generation && parts.requests.contains(id)
        // A reset does not undo a transaction that the disk has; a clear does.
        case .committed(let id, _), .commitFailed(let id, _): parts.local.isUnderWay(id)
        case .heldKeys(let query, _), .heldKeysFailed(let query, _):
            query.generation == parts.requests.generation && (parts.verifier.isWaiting(for: query) || parts.refresher.isWaiting(for: query))
        case .merged(let receipt, _, let generation): generation == parts.requests.generation && parts.merger.theirs(receipt) != nil
        case .started: phase == .idle
        case .registered, .set, .discard, .fetch, .abandon, .evicted, .timer, .wake, .clear, .stop: true
        }
    }

    // MARK: Looking

    func view(of key: RecordKey, stored: Entry?) -> KeyView { parts.local.view(of: key, stored: stored) }
    /// See ``SyncMachine/absence(of:)``.
    func absence(of key: RecordKey) -> Entry? {
        guard phase == .running, !parts.resetter.isUnderWay, !settings.mayEvict else { return nil }
        return parts.local.absence(of: key, settings)
    }
    var isClearing: Bool { phase == .clearing }
    var hasOverlay: Bool { !parts.local.outbox.keys.isEmpty }
    var overlaidKeys: [RecordKey] { parts.local.outbox.sortedKeys }
    func needs(_ key: RecordKey) -> Bool { parts.local.needs(key) }
    func keeps(_ rejection: Receipt) -> Bool { parts.local.rejections.contains(rejection) }

    /// The contents of the machine, for tests and tools.
    var inspection: Inspection {
        Inspection(
            state: parts.local.sync, outbox: parts.local.outbox.keys, waitingNumbers: parts.local.outbox.queue.map(\.number),
            claims: parts.local.claimCount, readsUnderWay: parts.reader.underWay, requestsSent: parts.requests.sentCount,
            isResetting: parts.resetter.reset != nil, isClearing: isClearing, generation: parts.requests.generation)
    }

    /// See ``SyncMachine/state``.
    var state: SyncState { parts.local.sync }

    /// The present freshness of the device's data.
    var status: SyncStatus {
        SyncStatus(
            settings, parts.contact, parts.follower, parts.sender, parts.local, parts.merger, parts.refresher, isRunning: phase == .running)
    }

    /// See ``SyncMachine/relativeState(at:)``.
    mutating func makeRelative(to uptime: Int64) { parts.makeRelative(to: uptime) }

    // MARK: Events

    mutating func handle(_ event: SyncEvent, _ turn: inout Turn) {
        defer { advance(&turn) }
        switch event {
        case .started(let persisted): start(persisted, &turn)
        case .set(let request): take(request, &turn)
        case .discard(let receipt, let token):
            if phase == .idle { turn.emit(.answer(token, .failed(.stopped))) } else { parts.local.add(.discard(receipt, token)) }
        case .fetch(let request): take(request, &turn)
        case .abandon(let token): parts.reader.abandon(token)
        case .committed(_, let skipped): committed(Set(skipped), &turn)
        case .commitFailed(_, let failure): commitFailed(failure, &turn)
        case .heldKeys(let query, let keys) where parts.refresher.isWaiting(for: query):
            parts.refresher.take(keys, parts.local.sync, rule, parts.reader, &parts.requests, &turn)
        case .heldKeysFailed(let query, _) where parts.refresher.isWaiting(for: query): parts.refresher.failed(&turn)
        case .heldKeys(_, let keys):
            if parts.local.isVerifying, let intent = parts.verifier.take(keys, parts.local.sync, rule, &parts.requests, &turn) {
                parts.local.add(intent)
            }
        case .heldKeysFailed(_, let failure): parts.verifier.failed(failure, &parts.contact, &turn)
        case .evicted(let keys): for key in keys { turn.note(.key(key), .evicted) }
        case .registered(let name): parts.merger.register(name, parts.local.outbox, &turn)
        case .replied(let id, let reply, let lastWrite, let store):
            switch parts.binding.judge(reply, from: store, knownEpoch: parts.local.epoch, settings) {
            case .taken: take(reply, lastWrite, to: id, &turn)
            case .binds(let store):
                parts.local.add(.bind(store))
                take(reply, lastWrite, to: id, &turn)
            case .refused(let failure): take(.failure(failure), nil, to: id, &turn)
            }
        case .merged(let receipt, let resolution, _): parts.local.add(.merged(receipt, resolution))
        case .timer: fireWatchdogs(&turn)
        case .wake: parts.wake(&turn)
        case .clear(let client, let token): clear(client, token, &turn)
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
        if parts.local.sync.cursor != nil, parts.local.sync.scope != settings.scope { parts.resetter.addAtStart(parts.local.epoch) }
    }

    private mutating func take(_ request: SetRequest, _ turn: inout Turn) {
        guard phase != .idle else { return turn.emit(.answer(request.token, .failed(.stopped))) }
        parts.local.add(request, isKnownAbsent: request.policy != .lastWriterWins && absence(of: request.key) != nil)
    }

    private mutating func take(_ request: FetchRequest, _ turn: inout Turn) {
        guard phase == .running || phase == .clearing else { return turn.emit(.answer(request.token, .failed(.stopped))) }
        if let outage = parts.contact.outage {
            // Callers get this failure at once; the feed is retried soon, so a later caller may get a value.
            parts.follower.hurrySoon(turn)
            return turn.emit(.answer(request.token, .failed(.offline(outage))))
        }
        guard !request.items.isEmpty else { return turn.emit(.answer(request.token, .views([]))) }
        // Before the clear is stored, nothing is known.
        parts.reader.add(request, parts.local.sync, turn) { item in
            phase == .running ? parts.local.base(of: item.key, else: item.known) : nil
        }
    }

    // MARK: Requests

    private var rule: WatermarkRule { parts.rule }

    private mutating func take(_ reply: Reply, _ lastWrite: Int64?, to id: RequestID, _ turn: inout Turn) {
        guard let request = parts.requests.remove(id) else { return }
        if let epoch = reply.epoch, let known = parts.local.epoch, epoch != known {
            // Sent in the known history, answered in another.
            parts.released(request)
            if case .fetch(let keys) = request.purpose { for key in keys { turn.note(.key(key), .fetchOfOtherEpoch(epoch)) } }
            return reset(to: epoch, forgets: false, because: "the server's history is \(epoch), not \(known)", &turn)
        }
        switch request.purpose {
        case .feed(let since, let wait):
            carryOut(
                parts.follower.take(reply, lastWrite, to: request, since: since, wait: wait, parts.local.sync, &parts.contact, &turn), &turn
            )
        case .writes(let numbers):
            carryOut(parts.sender.take(reply, lastWrite, to: request, numbers, &turn), &turn)
        case .clientStatus:
            carryOut(parts.sender.takeStatus(reply, to: request, of: parts.local.sync.client, &turn), &turn)
        case .fetch(let keys):
            let arrivals = parts.reader.take(reply, to: request, keys, parts.local.sync, &turn)
            if !arrivals.isEmpty { parts.local.add(.fetched(arrivals, lastWrite: lastWrite)) }
        case .verification(let keys):
            carryOut(parts.verifier.take(reply, lastWrite, to: request, keys, parts.local.sync, &parts.contact, &turn), &turn)
        case .refresh(let keys):
            carryOut(parts.refresher.take(reply, lastWrite, to: request, keys, &turn), &turn)
        }
    }

    private mutating func carryOut(_ effects: [Effect], _ turn: inout Turn) {
        for effect in effects {
            switch effect {
            case .store(let intent): parts.local.add(intent)
            case .reset(let epoch, let forgets, let reason): reset(to: epoch, forgets: forgets, because: reason, &turn)
            case .regainedContact:
                parts.sender.regainedContact()
                parts.reader.regainedContact()
                parts.refresher.regainedContact()
            case .reachedServer: if case .transport? = parts.contact.trouble { parts.follower.hurry(turn) }
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

    // MARK: Reset and clear

    /// Begins a reset: no request is sent before it is on disk.
    private mutating func reset(to epoch: Epoch?, forgets: Bool, because reason: String, _ turn: inout Turn) {
        turn.log(.warning, "verifying the whole cache: \(reason)")
        parts.beginGeneration(&turn)
        parts.sender.reset()
        turn.note(.everything, .reset)
        parts.resetter.add(epoch, forgets: forgets, &turn)
    }

    /// Drops the responses in flight: they state the numbers of the earlier name, so they are requested again.
    private mutating func renamed(from earlier: ClientIdentifier, _ turn: inout Turn) {
        turn.log(
            .warning,
            "another device has the name \(earlier), as after a copy or a rollback of the directory: this one is \(parts.local.sync.client) from now on"
        )
        parts.beginGeneration(&turn)
        parts.sender.renamed()
        // The closures' results are of an earlier generation.
        parts.merger.forget()
        isRenaming = false
    }

    private mutating func clear(_ client: ClientIdentifier, _ token: Token, _ turn: inout Turn) {
        if let earlier = parts.resetter.add(Resetter.Clear(client: client, token: token)) { turn.emit(.answer(earlier, .failed(.cleared))) }
        parts.cancelAll(&turn)
        fail(.cleared, &turn)
        parts.clear(&turn)
        isRenaming = false
        phase = .clearing
        turn.emit(.publish([.cleared]))
    }

    /// Answers every waiting caller with this failure.
    private mutating func fail(_ failure: SyncFailure, _ turn: inout Turn) {
        var tokens = parts.local.dropSets()
        if failure == .stopped, let clear = parts.resetter.clear { tokens.append(clear.token) }
        turn.answer(tokens + parts.reader.removeAll(), .failed(failure))
    }

    // MARK: Starting work

    private mutating func advance(_ turn: inout Turn) {
        guard phase == .running || phase == .clearing else { return }
        parts.reader.expire(&turn)
        advanceTransactions(&turn)
        guard phase == .running, !parts.resetter.isUnderWay else { return }
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

    private func builder(_ continuation: Plan.Continuation, _ turn: Turn) -> PlanBuilder {
        PlanBuilder(continuation, turn, parts.local, parts.sender)
    }

    private mutating func advanceTransactions(_ turn: inout Turn) {
        while parts.local.isIdle {
            if parts.resetter.clear != nil {
                guard let clear = parts.resetter.dueClear(turn) else { return }
                var builder = builder(.cleared(clear.token), turn)
                builder.clear(for: clear.client)
                begin(builder.plan, &turn)
                continue
            }
            // While a reset waits for the disk, the user's writes still get their answer.
            if let reset = parts.resetter.dueReset(turn) {
                var builder = builder(.reset, turn)
                builder.addReset(to: reset.epoch, forgets: reset.forgets)
                begin(builder.plan, &turn)
                continue
            }
            guard let intent = parts.local.nextIntent() else { return }
            if let plan = plan(intent, &turn) { begin(plan, &turn) }
        }
    }

    private mutating func plan(_ intent: Intent, _ turn: inout Turn) -> Plan? {
        if let epoch = intent.epoch, let known = parts.local.epoch, epoch != known {
            reset(to: epoch, forgets: false, because: "the server's history is \(epoch), not \(known)", &turn)
            return nil
        }
        switch intent {
        case .page(let page, let since, let lastWrite): return plan(page, since, lastWrite, &turn)
        case .quiet(let cursor, let since, let lastWrite):
            return plan(ChangePage(changes: [], cursor: cursor, upToDate: true), since, lastWrite, &turn)
        case .sets: return parts.local.planSets(parts.sender, &turn)
        case .fetched(let arrivals, let lastWrite): return parts.reader.plan(arrivals, lastWrite, rule, builder(.fetched([]), turn), &turn)
        case .heldVerified(let keys, let response, let lastWrite):
            return parts.verifier.plan(keys, response, lastWrite, rule, builder(.heldVerified, turn))
        case .refreshed(let keys, let response, let lastWrite):
            return parts.refresher.plan(keys, response, lastWrite, rule, builder(.refreshed(large: []), turn))
        case .results, .reconcile, .verificationOver, .merged, .discard, .bind, .rename:
            return PlanBuilder.plan(for: intent, &turn, parts.local, parts.sender, parts.merger)
        }
    }

    private mutating func plan(_ page: ChangePage, _ since: Since, _ lastWrite: Int64?, _ turn: inout Turn) -> Plan? {
        var builder = builder(.page(upToDate: page.upToDate), turn)
        guard builder.isNext(since) else {
            parts.follower.overtaken()
            return nil
        }
        guard builder.hasWatermarks(for: page, since, lastWrite) else {
            // The same page is requested again, with the number.
            parts.follower.dropped()
            parts.cancelFollower(&turn)
            return nil
        }
        builder.add(page, since, lastWrite)
        return builder.plan
    }

    /// Hands the plan to the disk; one without anything to store is complete at once.
    private mutating func begin(_ plan: Plan, _ turn: inout Turn) {
        if !parts.local.begin(plan, generation: parts.requests.generation, &turn) { committed([], &turn) }
    }

    // MARK: The disk's answers

    private mutating func committed(_ skipped: Set<Int>, _ turn: inout Turn) {
        guard let plan = parts.local.committed(skipped, &turn) else { return }
        parts.resetter.stored()
        for floor in plan.floors { parts.reader.raiseFloor(floor.scope, to: floor.revision) }
        if plan.outdatesReads {
            for id in parts.requests.fetches { parts.cancel(id, &turn) }
            parts.local.dropFetches()
            parts.reader.release()
        }
        for decision in plan.verdicts {
            parts.merger.decided(decision.receipt)
            turn.emit(.verdict(decision.receipt, decision.key, decision.verdict))
        }
        if plan.entries.contains(where: \.leavesWorkToRefresh) { parts.refresher.add() }
        conclude(plan, &turn)
    }

    private mutating func conclude(_ plan: Plan, _ turn: inout Turn) {
        switch plan.continuation {
        case .page(let upToDate): if parts.follower.stored(upToDate: upToDate, parts.local.sync, turn) { parts.resetter.calm() }
        case .sets(let callers, let receipts):
            for (request, receipt) in zip(callers, receipts) { parts.local.answer(request, .accepted(receipt), &turn) }
        case .verdicts: parts.sender.decided(plan.decided)
        case .fetched(let entries):
            for entry in entries {
                parts.merger.noteRead(entry.key, parts.local.outbox)
                let isKnown = !parts.local.mustRead(entry.key, settings.filter)
                parts.reader.stored(entry.key, view(of: entry.key, stored: entry), isKnown: isKnown, &turn)
            }
        case .reset:
            parts.resetter.resetStored()
            parts.merger.forget()
            if parts.local.sync.mustReconcile { parts.reader.forgetFloors() }
        case .reconciled(let last): parts.sender.reconciled(last: last)
        case .heldVerified: parts.verifier.stored(&parts.contact)
        case .refreshed(let large):
            parts.refresher.stored(large: large)
            for key in large { parts.reader.refresh(large: key, parts.local.sync) }
        case .merged: parts.merger.stored()
        case .discarded(let token): turn.emit(.answer(token, .discarded))
        case .bound: break
        case .renamed(let earlier): renamed(from: earlier, &turn)
        case .cleared(let token):
            parts.resetter.cleared()
            phase = .running
            turn.emit(.answer(token, .cleared))
        }
    }

    private mutating func commitFailed(_ failure: DiskFailure, _ turn: inout Turn) {
        guard let plan = parts.local.failed() else { return }
        turn.log(.error, "the disk did not take a transaction: \(failure)")
        switch plan.continuation {
        case .page:
            parts.follower.notStored(failure, &parts.contact, &turn)
            parts.cancelFollower(&turn)
        case .sets(let callers, _):
            for request in callers { parts.local.answer(request, .failed(SyncFailure(failure)), &turn) }
        case .verdicts, .reconciled: parts.sender.notStored(failure, &turn)
        case .fetched(let entries):
            for entry in entries {
                parts.merger.noteRead(entry.key, parts.local.outbox)
                parts.reader.notStored(entry.key, plan.staged(entry.key)?.view ?? KeyView(entry.key, entry), &turn)
            }
        case .reset, .cleared: parts.resetter.notStored(&turn)
        case .heldVerified: parts.verifier.failed(failure, &parts.contact, &turn)
        case .refreshed: parts.refresher.failed(&turn)
        case .merged: parts.merger.notStored(&turn)
        case .discarded(let token): turn.emit(.answer(token, .failed(SyncFailure(failure))))
        case .bound: parts.binding.notStored(parts.local.sync.store)
        case .renamed:
            isRenaming = false
            parts.sender.notStored(failure, &turn)
        }
    }
}
