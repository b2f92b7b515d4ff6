import FreshetWire

/// The feed: from what came to what is stored.
extension SyncMachine {
    mutating func planQuiet(_ cursor: Cursor, _ since: Since) -> Plan? {
        guard isNext(since) else { return nil }
        var plan = Plan(.page(upToDate: true))
        if state.verification == .fromStart { finishFromStart(cursor, in: &plan) }
        if cursor != state.cursor { plan.state.append(.cursor(cursor)) }
        settleAll(.confirmed, in: &plan)
        return plan
    }

    mutating func planPage(_ page: ChangePage, _ since: Since) -> Plan? {
        guard isNext(since) else { return nil }
        var plan = Plan(.page(upToDate: page.upToDate))
        if case .after(let position) = since {
            for change in page.changes where change.revision > position.revision { take(change, page.cursor.epoch, in: &plan) }
        } else {
            begin(page.cursor, since, upToDate: page.upToDate, in: &plan)
            for change in page.changes { take(change, page.cursor.epoch, pass: state.pass + 1, in: &plan) }
        }
        if page.upToDate, state.verification == .fromStart || since == .start { finishFromStart(page.cursor, in: &plan) }
        if page.cursor != state.cursor { plan.state.append(.cursor(page.cursor)) }
        settleAll(.confirmed, in: &plan)
        return plan
    }

    /// Whether an answer goes on from what is on disk. One that was asked for while the page before it was stored does not if that failed:
    /// then it is dropped, and asked for again.
    private mutating func isNext(_ since: Since) -> Bool {
        guard case .after(let position) = since, position != state.cursor else { return true }
        feed.stored()
        return false
    }

    /// The first position of all, or after a reset. What was read before it may have changed between then and now, so a new pass begins.
    private mutating func begin(_ cursor: Cursor, _ since: Since, upToDate: Bool, in plan: inout Plan) {
        plan.state += [.epoch(cursor.epoch), .pass(state.pass + 1), .scope(scope)]
        plan.floors.append((.everything, cursor.revision))
        plan.outdatesReads = true
        if since == .now {
            plan.state.append(.verification(.ofHeldKeys))
        } else if !upToDate {
            plan.state.append(.verification(.fromStart))
        }
    }

    /// The pass from the start is over: what it did not bring is not there.
    private mutating func finishFromStart(_ cursor: Cursor, in plan: inout Plan) {
        let pass = state.cursor == nil ? state.pass + 1 : state.pass
        for key in overlaidKeys where settings.filter.matches(key) {
            guard let base = pending(key, in: plan)?.base, base.ended(pass, at: cursor) == nil else { continue }
            let absent = Entry(
                key: key, epoch: cursor.epoch, revision: cursor.revision, asOf: cursor.revision, pass: pass, content: nil,
                verifiedAt: now.wall, origin: .feed)
            apply(.put(absent, onlyIfHeld: false), to: key, .verified, in: &plan)
        }
        endPass(pass, at: cursor, in: &plan)
        plan.state.append(.verification(.complete))
    }

    /// What a pass has not confirmed goes, but for what is known beyond the position from which the feed goes on: that would come back older.
    mutating func endPass(_ pass: Int64, at position: Cursor, in plan: inout Plan) {
        let operation = EntryOperation.endPass(pass, at: position)
        plan.add(operation, .verified)
        for key in overlaidKeys {
            guard var pending = pending(key, in: plan) else { continue }
            pending.apply(operation, horizon)
            plan.stage(pending, .verified)
        }
    }

    private mutating func take(_ change: Change, _ epoch: Epoch, pass: Int64? = nil, in plan: inout Plan) {
        let position = Cursor(epoch: epoch, revision: change.revision)
        let pass = pass ?? state.pass
        plan.floors.append((change.scope, change.revision))
        switch change.effect {
        case .put(let key, let content, _, _): take(change, put: key, content, position, pass, in: &plan)
        case .delete(let key):
            plan.notes.append(StoryNote(at: now.wall, scope: .key(key), what: .deleted(change.revision)))
            let isOurs = outbox.keys[key] != nil
            if isOurs || settings.following == .held {
                let absent = Entry(
                    key: key, epoch: epoch, revision: change.revision, asOf: change.revision, pass: pass, content: nil,
                    modified: change.modified, verifiedAt: now.wall, origin: .feed)
                confirmOwn(change, key, position, in: &plan) { machine, certainty, plan in
                    machine.apply(.put(absent, onlyIfHeld: !isOurs), to: key, .deleted, certainty: certainty, in: &plan)
                }
            } else {
                plan.add(.evict(.key(key), before: position), .deleted)
            }
        case .invalidate(.key(let key)):
            plan.notes.append(StoryNote(at: now.wall, scope: .key(key), what: .invalidated(change.revision)))
            apply(.evict(.key(key), before: position), to: key, .invalidated, in: &plan)
        case .invalidate(let scope):
            plan.notes.append(StoryNote(at: now.wall, scope: scope, what: .invalidated(change.revision)))
            let operation = EntryOperation.evict(scope, before: position)
            plan.add(operation, .invalidated)
            for key in overlaidKeys where scope.contains(key) {
                guard var pending = pending(key, in: plan) else { continue }
                pending.apply(operation, horizon)
                plan.stage(pending, .invalidated)
            }
        }
    }

    private mutating func take(
        _ change: Change, put key: RecordKey, _ content: Content?, _ position: Cursor, _ pass: Int64, in plan: inout Plan
    ) {
        let revision = change.revision
        let isOurs = outbox.keys[key] != nil
        confirmOwn(change, key, position, in: &plan) { machine, certainty, plan in
            // A value over the limit is left out; our own we know.
            let content = content ?? machine.ownContent(change, key)
            if let content {
                let entry = Entry(
                    key: key, epoch: position.epoch, revision: revision, asOf: revision, pass: pass, content: content,
                    modified: change.modified, verifiedAt: machine.now.wall, origin: .feed)
                let onlyIfHeld = machine.settings.following == .held && !isOurs
                machine.apply(.put(entry, onlyIfHeld: onlyIfHeld), to: key, .changed, certainty: certainty, in: &plan)
            } else {
                plan.notes.append(StoryNote(at: machine.now.wall, scope: .key(key), what: .valueLeftOut(revision)))
                let news = Confirmation(
                    key: key, epoch: position.epoch, revision: revision, asOf: revision, pass: pass, verifiedAt: machine.now.wall)
                machine.apply(.confirm(news), to: key, .verified, certainty: certainty, in: &plan)
                machine.apply(.evict(.key(key), before: position), to: key, .invalidated, certainty: certainty, in: &plan)
            }
        }
    }

    /// If the change is a write of ours that still waits for its verdict, this is the verdict.
    private mutating func confirmOwn(
        _ change: Change, _ key: RecordKey, _ position: Cursor, in plan: inout Plan,
        apply: (inout SyncMachine, PendingKey.Certainty?, inout Plan) -> Void
    ) {
        guard let author = change.author, author.client == state.client, outbox.keys[key] != nil else { return apply(&self, nil, &plan) }
        let row = pending(key, in: plan)?.rows.first { $0.number == author.write && $0.state == .pending }
        apply(&self, PendingKey.Certainty(revision: change.revision, number: author.write + 1, isExact: true), &plan)
        if let row { decide(row, .applied(position), in: &plan) }
    }

    private func ownContent(_ change: Change, _ key: RecordKey) -> Content? {
        guard let author = change.author, author.client == state.client else { return nil }
        guard let row = outbox.keys[key]?.rows.first(where: { $0.number == author.write }), case .put(let content) = row.operation else {
            return nil
        }
        return content
    }

    mutating func pageStored(upToDate: Bool) {
        feed.stored()
        // The verification of held keys takes its time: catch up after it.
        feed.isCaughtUp = upToDate && state.verification != .ofHeldKeys
        if upToDate {
            feed.complete = state.cursor
            // Only a poll shows that it lasts: another server may have asked for the next reset by then.
            if feed.isPolling { resetBackoff.reset() }
        }
    }
}
