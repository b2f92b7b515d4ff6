import FreshetWire

/// Routes events to the parts of a ``SyncMachine`` and carries their effects from one to another. Each part has private state of its own.
struct SyncCore: Hashable, Sendable {
    private enum Phase: Hashable, Sendable { case idle, running, clearing, stopped }

    private let settings: SyncSettings
    private var phase = Phase.idle
    private var local: LocalState
    private var requests = RequestTable()
    private var follower = Follower()
    private var sender = Sender()
    private var reader = Reader()
    private var verifier = Verifier()
    private var merger = Merger()
    private var resetter = Resetter()
    private var contact = Contact()

    init(settings: SyncSettings, client: ClientIdentifier) {
        self.settings = settings
        local = LocalState(client: client)
    }

    /// Whether the machine waits for what has happened.
    ///
    /// A clear and a reset begin a new generation, and everything that the machine asks for is stamped with it. What belongs to an earlier
    /// one, was cancelled, or comes twice has no effect at all (rule 12), not even as an occasion to start something else.
    func isExpected(_ event: SyncEvent) -> Bool {
        guard phase != .stopped else { return false }
        return switch event {
        case .replied(let id, _, _): id.generation == requests.generation && requests.contains(id)
        // A reset does not take a transaction back that the disk has; a clear does.
        case .committed(let id, _), .commitFailed(let id, _): local.isUnderWay(id)
        case .heldKeys(let query, _), .heldKeysFailed(let query, _):
            query.generation == requests.generation && verifier.isWaiting(for: query)
        case .merged(let receipt, _, let generation): generation == requests.generation && merger.theirs(receipt) != nil
        case .started: phase == .idle
        case .set, .fetch, .abandon, .evicted, .timer, .wake, .clear, .stop: true
        }
    }

    // MARK: Looking

    func view(of key: RecordKey, stored: Entry?) -> KeyView { local.view(of: key, stored: stored) }
    var hasOverlay: Bool { !local.outbox.keys.isEmpty }
    var overlaidKeys: [RecordKey] { local.outbox.sortedKeys }
    func needs(_ key: RecordKey) -> Bool { local.needs(key) }

    /// What the machine holds, for tests and tools to look at.
    var inspection: Inspection {
        Inspection(
            state: local.sync, outbox: local.outbox.keys, waitingNumbers: local.outbox.queue.map(\.number), claims: local.claimCount,
            readsUnderWay: reader.underWay, requestsSent: requests.sentCount, isResetting: resetter.reset != nil,
            isClearing: phase == .clearing, generation: requests.generation)
    }

    /// What the device knows of its freshness now.
    var status: SyncStatus { SyncStatus(settings, contact, follower, sender, local, isRunning: phase == .running) }

    /// See ``SyncMachine/relativeState(at:)``.
    mutating func makeRelative(to uptime: Int64) {
        follower.makeRelative(to: uptime, requests)
        sender.makeRelative(to: uptime, requests)
        verifier.makeRelative(to: uptime, requests)
        reader.makeRelative(to: uptime)
        merger.makeRelative(to: uptime)
        resetter.makeRelative(to: uptime)
        local.makeRelative()
        requests.makeRelative(to: uptime)
    }

    // MARK: Events

    mutating func handle(_ event: SyncEvent, _ turn: inout Turn) {
        defer { advance(&turn) }
        switch event {
        case .started(let persisted): start(persisted, &turn)
        case .set(let request): take(request, &turn)
        case .fetch(let request): take(request, &turn)
        case .abandon(let token): reader.abandon(token)
        case .committed(_, let skipped): committed(Set(skipped), &turn)
        case .commitFailed(_, let failure): commitFailed(failure, &turn)
        case .heldKeys(_, let keys):
            if local.isVerifying, let intent = verifier.take(keys, local.sync, rule, &requests, &turn) { local.add(intent) }
        case .heldKeysFailed(_, let failure): verifier.failed(failure, &contact, &turn)
        case .evicted(let keys): for key in keys { turn.note(.key(key), .evicted) }
        case .replied(let id, let reply, let lastWrite): take(reply, lastWrite, to: id, &turn)
        case .merged(let receipt, let resolution, _): local.add(.merged(receipt, resolution))
        case .timer: fireWatchdogs(&turn)
        case .wake: wake(&turn)
        case .clear(let client, let token): clear(client, token, &turn)
        case .stop:
            cancelAll(&turn)
            fail(.stopped, &turn)
            phase = .stopped
        }
    }

    private mutating func start(_ persisted: PersistedState, _ turn: inout Turn) {
        phase = .running
        local.start(persisted, &turn)
        sender.start(persisted.state)
        if local.sync.cursor != nil, local.sync.scope != settings.scope { resetter.addAtStart(local.epoch) }
    }

    private mutating func take(_ request: SetRequest, _ turn: inout Turn) {
        guard phase != .idle else { return turn.emit(.answer(request.token, .failed(.stopped))) }
        local.add(request)
    }

    private mutating func take(_ request: FetchRequest, _ turn: inout Turn) {
        guard phase == .running || phase == .clearing, !request.items.isEmpty else {
            return turn.emit(.answer(request.token, request.items.isEmpty ? .views([]) : .failed(.stopped)))
        }
        // Before the clear is stored, nothing is known.
        reader.add(request, local.sync) { item in phase == .running ? local.base(of: item.key, else: item.known) : nil }
    }

    // MARK: Requests

    private var rule: WatermarkRule { WatermarkRule(local, sender) }

    private mutating func take(_ reply: Reply, _ lastWrite: Int64?, to id: RequestID, _ turn: inout Turn) {
        guard let request = requests.remove(id) else { return }
        if let epoch = reply.epoch, let known = local.epoch, epoch != known {
            // Sent in the history that we know, answered in another.
            released(request)
            if case .fetch(let keys) = request.purpose { for key in keys { turn.note(.key(key), .fetchOfOtherEpoch(epoch)) } }
            return reset(to: epoch, forgets: false, because: "the server's history is \(epoch), not \(known)", &turn)
        }
        switch request.purpose {
        case .feed(let since, let wait):
            carryOut(follower.take(reply, lastWrite, to: request, since: since, wait: wait, local.sync, &contact, &turn), &turn)
        case .writes(let numbers):
            carryOut(sender.take(reply, lastWrite, to: request, numbers, &turn), &turn)
        case .clientStatus:
            carryOut(sender.takeStatus(reply, to: request, of: local.sync.client, &turn), &turn)
        case .fetch(let keys):
            let arrivals = reader.take(reply, to: request, keys, local.sync, &turn)
            if !arrivals.isEmpty { local.add(.fetched(arrivals, lastWrite: lastWrite)) }
        case .verification(let keys):
            carryOut(verifier.take(reply, lastWrite, to: request, keys, local.sync, &contact, &turn), &turn)
        }
    }

    private mutating func carryOut(_ effects: [Effect], _ turn: inout Turn) {
        for effect in effects {
            switch effect {
            case .store(let intent): local.add(intent)
            case .reset(let epoch, let forgets, let reason): reset(to: epoch, forgets: forgets, because: reason, &turn)
            case .regainedContact:
                sender.regainedContact()
                reader.regainedContact()
            case .reachedServer: if case .transport? = contact.trouble { follower.hurry(turn) }
            }
        }
    }

    /// Lets the part that asked ask again.
    private mutating func released(_ request: RequestTable.Request) {
        switch request.purpose {
        case .feed: follower.released()
        case .writes, .clientStatus: sender.released()
        case .fetch(let keys): reader.released(keys)
        case .verification: verifier.released()
        }
    }

    private mutating func cancel(_ id: RequestID, _ turn: inout Turn) {
        guard let request = requests.remove(id) else { return }
        turn.emit(.cancel(id))
        released(request)
    }

    private mutating func cancelAll(_ turn: inout Turn) { for id in requests.all { cancel(id, &turn) } }

    /// Fires on what got no answer in its time, whatever the transport believes.
    private mutating func fireWatchdogs(_ turn: inout Turn) {
        for id in requests.overdue(at: turn.now.uptime) where requests.contains(id) {
            turn.emit(.cancel(id))
            take(.failure(.watchdog), nil, to: id, &turn)
        }
    }

    /// Connections may be dead without knowing it, and what failed before sleep says nothing about now.
    private mutating func wake(_ turn: inout Turn) {
        cancelAll(&turn)
        follower.wake()
        sender.wake()
        merger.wake()
        verifier.wake()
        reader.wake()
        resetter.wake()
    }

    // MARK: Reset and clear

    /// Begins a reset: nothing is asked until it is on disk.
    private mutating func reset(to epoch: Epoch?, forgets: Bool, because reason: String, _ turn: inout Turn) {
        turn.log(.warning, "verifying the whole cache: \(reason)")
        cancelAll(&turn)
        reader.release(except: local.dropResponses())
        follower.reset()
        sender.reset()
        verifier = Verifier()
        requests.generation += 1
        turn.note(.everything, .reset)
        resetter.add(epoch, forgets: forgets, &turn)
    }

    private mutating func clear(_ client: ClientIdentifier, _ token: Token, _ turn: inout Turn) {
        if let earlier = resetter.add(Resetter.Clear(client: client, token: token)) { turn.emit(.answer(earlier, .failed(.cleared))) }
        cancelAll(&turn)
        fail(.cleared, &turn)
        local.clear(&turn)
        requests.generation += 1
        merger = Merger()
        follower = Follower()
        sender = Sender()
        verifier = Verifier()
        contact = Contact()
        phase = .clearing
        turn.emit(.publish([.cleared]))
    }

    /// Answers every waiting caller with this failure.
    private mutating func fail(_ failure: SyncFailure, _ turn: inout Turn) {
        var tokens = local.dropSets()
        if failure == .stopped, let clear = resetter.clear { tokens.append(clear.token) }
        turn.answer(tokens + reader.removeAll(), .failed(failure))
    }

    // MARK: What can be started now

    private mutating func advance(_ turn: inout Turn) {
        guard phase == .running || phase == .clearing else { return }
        advanceTransactions(&turn)
        guard phase == .running, !resetter.isUnderWay else { return }
        let (state, outbox) = (local.sync, local.outbox)
        follower.advance(state, isVerifying: local.isVerifying, rule, &requests, &turn)
        if local.isVerifying { verifier.advance(state, rule, &requests, &turn) }
        sender.advance(state, outbox, isFeedBusy: follower.isBusy, &requests, &turn)
        let unread = merger.advance(state, outbox, generation: requests.generation, &turn)
        for key in unread + local.keysToRead(settings.filter) {
            if let pending = outbox.keys[key] { reader.refresh(pending, state) }
        }
        reader.advance(state, rule, &requests, &turn)
    }

    /// The next time at which something can be started that waits for the clock alone.
    func deadline(after uptime: Int64) -> Int64? {
        guard phase == .running || phase == .clearing else { return nil }
        var times: [Int64?] = [requests.deadline, follower.liveUntil(settings)]
        if resetter.isUnderWay {
            if local.isIdle { times.append(resetter.deadline.flatMap { $0 > uptime ? $0 : nil }) }
        } else {
            let feed = local.isVerifying ? verifier.deadline : follower.deadline
            let waits = [feed, sender.deadline(local.sync, local.outbox), merger.deadline(local.outbox), reader.nextAttempt(after: uptime)]
            // What could be started by now has been: a time that has passed waits for something else than the clock.
            times += waits.map { time in time.flatMap { $0 > uptime ? $0 : nil } }
        }
        return times.compactMap { $0 }.min()
    }

    // MARK: Transactions

    private func builder(_ continuation: Plan.Continuation, _ turn: Turn) -> PlanBuilder {
        PlanBuilder(continuation, turn, local, sender)
    }

    private mutating func advanceTransactions(_ turn: inout Turn) {
        while local.isIdle {
            if resetter.clear != nil {
                guard let clear = resetter.dueClear(turn) else { return }
                var builder = builder(.cleared(clear.token), turn)
                builder.clear(for: clear.client)
                begin(builder.plan, &turn)
                continue
            }
            // While a reset waits for the disk, the user's writes still get their answer.
            if let reset = resetter.dueReset(turn) {
                var builder = builder(.reset, turn)
                builder.addReset(to: reset.epoch, forgets: reset.forgets)
                begin(builder.plan, &turn)
                continue
            }
            guard let intent = local.nextIntent() else { return }
            if let plan = plan(intent, &turn) { begin(plan, &turn) }
        }
    }

    private mutating func plan(_ intent: Intent, _ turn: inout Turn) -> Plan? {
        if let epoch = intent.epoch, let known = local.epoch, epoch != known {
            reset(to: epoch, forgets: false, because: "the server's history is \(epoch), not \(known)", &turn)
            return nil
        }
        switch intent {
        case .page(let page, let since, let lastWrite): return plan(page, since, lastWrite, &turn)
        case .quiet(let cursor, let since, let lastWrite):
            return plan(ChangePage(changes: [], cursor: cursor, upToDate: true), since, lastWrite, &turn)
        case .sets: return local.planSets(sender, &turn)
        case .fetched(let arrivals, let lastWrite): return reader.plan(arrivals, lastWrite, rule, builder(.fetched([]), turn), &turn)
        case .heldVerified(let keys, let response, let lastWrite):
            return verifier.plan(keys, response, lastWrite, rule, builder(.heldVerified, turn))
        case .results, .reconcile, .verificationOver, .merged: return PlanBuilder.plan(for: intent, &turn, local, sender, merger)
        }
    }

    private mutating func plan(_ page: ChangePage, _ since: Since, _ lastWrite: Int64?, _ turn: inout Turn) -> Plan? {
        var builder = builder(.page(upToDate: page.upToDate), turn)
        guard builder.isNext(since) else {
            follower.overtaken()
            return nil
        }
        guard builder.hasWatermarks(for: page, since, lastWrite) else {
            // The same is asked for again, with the number.
            follower.dropped()
            cancelFollower(&turn)
            return nil
        }
        builder.add(page, since, lastWrite)
        return builder.plan
    }

    /// What was asked for from a page on that is not stored has no ground.
    private mutating func cancelFollower(_ turn: inout Turn) { if let id = follower.underWay { cancel(id, &turn) } }

    /// Hands the plan to the disk; one without anything to store is complete at once.
    private mutating func begin(_ plan: Plan, _ turn: inout Turn) {
        if !local.begin(plan, generation: requests.generation, &turn) { committed([], &turn) }
    }

    // MARK: The disk's answers

    private mutating func committed(_ skipped: Set<Int>, _ turn: inout Turn) {
        guard let plan = local.committed(skipped, &turn) else { return }
        resetter.stored()
        for floor in plan.floors { reader.raiseFloor(floor.scope, to: floor.revision) }
        if plan.outdatesReads {
            for id in requests.fetches { cancel(id, &turn) }
            local.dropFetches()
            reader.release()
        }
        for decision in plan.verdicts {
            merger.decided(decision.receipt)
            turn.emit(.verdict(decision.receipt, decision.key, decision.verdict))
        }
        conclude(plan, &turn)
    }

    private mutating func conclude(_ plan: Plan, _ turn: inout Turn) {
        switch plan.continuation {
        case .page(let upToDate): if follower.stored(upToDate: upToDate, local.sync, turn) { resetter.calm() }
        case .sets(let requests, let receipts):
            for (request, receipt) in zip(requests, receipts) { local.answer(request, .accepted(receipt), &turn) }
        case .verdicts: sender.decided(plan.decided)
        case .fetched(let entries):
            for entry in entries {
                merger.noteRead(entry.key, local.outbox)
                let isKnown = !local.mustRead(entry.key, settings.filter)
                reader.stored(entry.key, view(of: entry.key, stored: entry), isKnown: isKnown, &turn)
            }
        case .reset:
            resetter.resetStored()
            merger.forget()
            if local.sync.mustReconcile { reader.forgetFloors() }
        case .reconciled(let last): sender.reconciled(last: last)
        case .heldVerified: verifier.stored(&contact)
        case .merged: merger.stored()
        case .cleared(let token):
            resetter.cleared()
            phase = .running
            turn.emit(.answer(token, .cleared))
        }
    }

    private mutating func commitFailed(_ failure: DiskFailure, _ turn: inout Turn) {
        guard let plan = local.failed() else { return }
        turn.log(.error, "the disk did not take a transaction: \(failure)")
        switch plan.continuation {
        case .page:
            follower.notStored(failure, &contact, &turn)
            cancelFollower(&turn)
        case .sets(let requests, _):
            for request in requests { local.answer(request, .failed(SyncFailure(failure)), &turn) }
        case .verdicts, .reconciled: sender.notStored(failure, &turn)
        case .fetched(let entries):
            for entry in entries {
                merger.noteRead(entry.key, local.outbox)
                reader.notStored(entry.key, plan.staged(entry.key)?.view ?? KeyView(entry.key, entry), &turn)
            }
        case .reset, .cleared: resetter.notStored(&turn)
        case .heldVerified: verifier.failed(failure, &contact, &turn)
        case .merged: merger.notStored(&turn)
        }
    }
}
