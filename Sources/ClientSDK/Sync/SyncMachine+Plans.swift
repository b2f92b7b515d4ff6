import FreshetWire

/// From intents to transactions, one at a time, and on from the disk's answers.
extension SyncMachine {
    mutating func advancePlans() {
        while plan == nil {
            if let clear = pendingClear {
                guard now.uptime >= notBefore else { return }
                begin(planClear(clear.client, clear.token))
                continue
            }
            // While a reset waits for the disk, the user's writes still get their answer.
            if let reset = pendingReset, now.uptime >= max(notBefore, reset.notBefore) {
                begin(planReset(reset.epoch, forgets: reset.forgets))
                continue
            }
            guard !intents.isEmpty else { return }
            let intent = intents.removeFirst()
            guard let plan = makePlan(intent) else { continue }
            begin(plan)
        }
    }

    private mutating func makePlan(_ intent: Intent) -> Plan? {
        if let epoch = intent.epoch, let known = state.epoch, epoch != known {
            reset(to: epoch, forgets: false, because: "the server's history is \(epoch), not \(known)")
            return nil
        }
        return switch intent {
        case .page(let page, let since, let lastWrite): planPage(page, since, lastWrite)
        case .quiet(let cursor, let since, let lastWrite): planQuiet(cursor, since, lastWrite)
        case .sets: planSets()
        case .results(let results, let lastWrite): planVerdicts(results, lastWrite)
        case .fetched(let arrivals, let lastWrite): planFetched(arrivals, lastWrite)
        case .reconcile(let last, let cursor): planReconcile(last, cursor)
        case .heldVerified(let keys, let response, let lastWrite): planHeldVerified(keys, response, lastWrite)
        case .verificationOver: planVerificationOver()
        case .merged(let receipt, let resolution): planMerged(receipt, resolution)
        }
    }

    /// Hands the plan to the disk; one without anything to store is complete at once.
    private mutating func begin(_ plan: Plan) {
        lastTransaction += 1
        let id = TransactionID(lastTransaction)
        let outboxOperations = plan.clear == nil ? plan.staged.flatMap { $0.operations(since: outbox.keys[$0.key]) } : []
        self.plan = (id, plan)
        guard plan.clear != nil || !plan.entries.isEmpty || !plan.state.isEmpty || !outboxOperations.isEmpty else {
            return committed(id, [])
        }
        actions.append(
            .commit(DiskTransaction(id: id, clear: plan.clear, entries: plan.entries, outbox: outboxOperations, state: plan.state)))
    }

    // MARK: The disk's answers

    mutating func committed(_ id: TransactionID, _ skipped: Set<Int>) {
        guard let (current, plan) = plan, current == id else { return }
        self.plan = nil
        notBefore = 0
        if plan.clear != nil { return cleared(plan) }
        for change in plan.state { state.apply(change) }
        let before = plan.staged.map { outbox.keys[$0.key]?.view }
        for pending in plan.staged { outbox.put(pending) }
        updateClaims(plan)
        for (scope, revision) in plan.floors { fetches.raise(scope, to: revision) }
        if plan.outdatesReads { askAgain() }
        for note in plan.notes { story.add(note) }
        publish(plan, skipped, before)
        for (receipt, key, verdict) in plan.verdicts {
            openMerges[receipt] = nil
            actions.append(.verdict(receipt, key, verdict))
        }
        conclude(plan, skipped)
    }

    private mutating func conclude(_ plan: Plan, _ skipped: Set<Int>) {
        switch plan.continuation {
        case .page(let upToDate): pageStored(upToDate: upToDate)
        case .sets(let sets, let accepted): setsStored(sets, accepted)
        case .verdicts: sender.isDeciding = false
        case .fetched(let outcomes): fetchesStored(outcomes)
        case .reset: resetStored()
        case .reconciled(let last):
            sender.isReconciling = false
            sender.sawGap = false
            sender.resumesAfter = last
        case .heldVerified:
            verifier.isStoring = false
            verifier.again = []
            if case .disk? = feed.trouble { feed.trouble = nil }
        case .merged: mergesBackoff.reset()
        case .cleared: break
        }
    }

    mutating func commitFailed(_ id: TransactionID, _ failure: DiskFailure) {
        guard let (current, plan) = plan, current == id else { return }
        self.plan = nil
        log(.error, "the disk did not take a transaction: \(failure)")
        switch plan.continuation {
        case .page: pageNotStored(failure)
        case .sets(let sets, _): setsNotStored(sets, failure)
        case .verdicts, .reconciled: verdictsNotStored(failure)
        case .fetched(let outcomes): fetchesNotStored(outcomes, plan)
        case .reset, .cleared: notBefore = now.uptime + resetBackoff.next(settings, &chance)
        case .heldVerified:
            verifier.isStoring = false
            verificationStalled(.disk(failure))
        case .merged:
            // The closure is asked again.
            openMerges = [:]
            mergesNotBefore = now.uptime + mergesBackoff.next(settings, &chance)
        }
    }

    private mutating func updateClaims(_ plan: Plan) {
        guard !claims.isEmpty else { return }
        for key in claims.keys.sorted() {
            guard var claim = claims[key] else { continue }
            for operation in plan.entries { claim.base = operation.applied(to: claim.base, of: key) }
            claims[key] = claim
        }
    }

    // MARK: Showing

    private mutating func publish(_ plan: Plan, _ skipped: Set<Int>, _ before: [KeyView?]) {
        var publications: [Publication] = []
        for case (let index, .put(let entry, _)) in plan.entries.enumerated() where entry.origin == .feed && entry.content != nil {
            note(.key(entry.key), skipped.contains(index) ? .changeSkipped(entry.revision) : .changed(entry.revision))
        }
        for (index, operation) in plan.entries.enumerated() where !skipped.contains(index) {
            switch operation {
            case .put(let entry, _):
                if plan.staged(entry.key) == nil { publications.append(.view(view(of: entry.key, stored: entry), plan.causes[index])) }
            case .confirm(let news):
                if plan.staged(news.key) == nil { publications.append(.confirmed(news)) }
            case .evict(.key(let key), _):
                if plan.staged(key) == nil { publications.append(.view(view(of: key, stored: nil), plan.causes[index])) }
            case .evict(let scope, let position): publications.append(.swept(scope, before: position))
            case .endPass(let pass, let position): publications.append(.passEnded(pass, at: position))
            }
        }
        for (index, pending) in plan.staged.enumerated() {
            let view = pending.rows.isEmpty ? KeyView(pending.key, pending.base) : pending.view
            if view != before[index] { publications.append(.view(view, plan.stagedCauses[index])) }
        }
        if !publications.isEmpty { actions.append(.publish(publications)) }
    }

    // MARK: Building blocks

    /// The key as the plan leaves it so far, if it is in the outbox.
    func pending(_ key: RecordKey, in plan: Plan) -> PendingKey? { plan.staged(key) ?? outbox.keys[key] }

    /// The state that the plan leads to.
    func after(_ plan: Plan) -> SyncState {
        var after = state
        for change in plan.state { after.apply(change) }
        return after
    }

    /// Adds an operation on one key to the plan, for the disk and for the key's base in the outbox.
    ///
    /// - Parameter stated: the watermark of the response that the operation is from.
    mutating func apply(
        _ operation: EntryOperation, to key: RecordKey, _ cause: Cause, stated: WriteWatermark? = nil, in plan: inout Plan
    ) {
        plan.add(operation, cause)
        guard var pending = pending(key, in: plan) else { return }
        pending.apply(operation, stated: stated)
        plan.stage(pending, cause)
    }

    /// Lets writes leave the overlay that the records of the keys contain, under the state that the plan leads to.
    mutating func settle(_ keys: [RecordKey], _ cause: Cause, in plan: inout Plan) {
        let epoch = after(plan).epoch
        for key in keys {
            guard var pending = pending(key, in: plan) else { continue }
            let receipts = pending.settle(in: epoch)
            guard !receipts.isEmpty else { continue }
            for receipt in receipts { plan.notes.append(StoryNote(at: now.wall, scope: .key(key), what: .confirmed(receipt))) }
            plan.stage(pending, plan.staged(key) == nil ? cause : plan.stagedCause(key))
        }
    }

    /// Settles all keys that the plan touched and all that wait for the base.
    mutating func settleAll(_ cause: Cause, in plan: inout Plan) {
        var keys = plan.staged.map(\.key)
        keys += outbox.keysAwaitingBase.filter { plan.staged($0) == nil }
        settle(keys, cause, in: &plan)
    }
}

extension Plan {
    func stagedCause(_ key: RecordKey) -> Cause { stagedPlace(key).map { stagedCauses[$0] } ?? .changed }
}
