import FreshetWire

/// The feed: from what came to what is stored.
extension SyncMachine {
    mutating func planQuiet(_ cursor: Cursor, _ since: Since, _ lastWrite: Int64?) -> Plan? {
        let page = ChangePage(changes: [], cursor: cursor, upToDate: true)
        guard isNext(since), hasWatermarks(for: page, since, lastWrite) else { return nil }
        let stated = lastWrite.map { WriteWatermark(epoch: cursor.epoch, number: $0) }
        var plan = Plan(.page(upToDate: true))
        if state.verification == .fromStart { finishFromStart(cursor, stated, in: &plan) }
        if cursor != state.cursor { plan.state.append(.cursor(cursor)) }
        raiseAll(to: stated, in: &plan)
        settleAll(.confirmed, in: &plan)
        return plan
    }

    mutating func planPage(_ page: ChangePage, _ since: Since, _ lastWrite: Int64?) -> Plan? {
        guard isNext(since), hasWatermarks(for: page, since, lastWrite) else { return nil }
        let stated = lastWrite.map { WriteWatermark(epoch: page.cursor.epoch, number: $0) }
        var plan = Plan(.page(upToDate: page.upToDate))
        if case .after(let position) = since {
            for change in page.changes where change.revision > position.revision { take(change, page.cursor.epoch, stated, in: &plan) }
        } else {
            begin(page.cursor, since, upToDate: page.upToDate, in: &plan)
            for change in page.changes { take(change, page.cursor.epoch, stated, pass: state.pass + 1, in: &plan) }
        }
        if page.upToDate, state.verification == .fromStart || since == .start { finishFromStart(page.cursor, stated, in: &plan) }
        if page.cursor != state.cursor { plan.state.append(.cursor(page.cursor)) }
        if page.upToDate { raiseAll(to: stated, in: &plan) }
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

    /// Whether the response says of every record that it describes which writes of this device the record contains. If not, the
    /// response is dropped, and the next request asks for the number.
    ///
    /// A poll that waits gets the same bytes as everybody, without a number. That is enough unless it brings another's change of a record
    /// with writes of this device under way.
    private mutating func hasWatermarks(for page: ChangePage, _ since: Since, _ lastWrite: Int64?) -> Bool {
        guard lastWrite == nil, hasOverlay else { return true }
        let epoch = page.cursor.epoch
        func needsWatermark(_ key: RecordKey) -> Bool {
            outbox.keys[key]?.needsWatermark(in: epoch, sentThrough: sender.sentThrough) ?? false
        }
        let isLacking: Bool
        if case .after = since, state.verification == .complete {
            isLacking = page.changes.contains { change in
                guard change.author?.client != state.client, case .key(let key) = change.scope else { return false }
                return needsWatermark(key)
            }
        } else {
            isLacking = overlaidKeys.contains(where: needsWatermark)
        }
        guard isLacking else { return true }
        feed.stored()
        feed.isCaughtUp = false
        // What was asked for from there on has no ground now.
        if let request = feed.request { cancel(request) }
        return false
    }

    /// The feed has nothing more: every record that it tells of is as it was when the server had decided these writes.
    private mutating func raiseAll(to stated: WriteWatermark?, in plan: inout Plan) {
        guard let stated, after(plan).verification == .complete else { return }
        for key in overlaidKeys where settings.filter.matches(key) {
            guard var pending = pending(key, in: plan) else { continue }
            pending.raise(to: stated)
            if pending != self.pending(key, in: plan) { plan.stage(pending, .confirmed) }
        }
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
    private mutating func finishFromStart(_ cursor: Cursor, _ stated: WriteWatermark?, in plan: inout Plan) {
        let pass = state.cursor == nil ? state.pass + 1 : state.pass
        for key in overlaidKeys where settings.filter.matches(key) {
            guard let base = pending(key, in: plan)?.base, base.ended(pass, at: cursor) == nil else { continue }
            let absent = Entry(
                key: key, epoch: cursor.epoch, revision: cursor.revision, asOf: cursor.revision, pass: pass, content: nil,
                verifiedAt: now.wall, origin: .feed)
            apply(.put(absent, onlyIfHeld: false), to: key, .verified, stated: stated, in: &plan)
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
            pending.apply(operation)
            plan.stage(pending, .verified)
        }
    }

    private mutating func take(
        _ change: Change, _ epoch: Epoch, _ stated: WriteWatermark?, pass: Int64? = nil, in plan: inout Plan
    ) {
        let position = Cursor(epoch: epoch, revision: change.revision)
        let pass = pass ?? state.pass
        let stated = stated ?? ownWatermark(change, epoch)
        plan.floors.append((change.scope, change.revision))
        switch change.effect {
        case .put(let key, let content, _, _): take(change, put: key, content, position, stated, pass, in: &plan)
        case .delete(let key):
            plan.notes.append(StoryNote(at: now.wall, scope: .key(key), what: .deleted(change.revision)))
            let isOurs = outbox.keys[key] != nil
            if isOurs || settings.following == .held {
                let absent = Entry(
                    key: key, epoch: epoch, revision: change.revision, asOf: change.revision, pass: pass, content: nil,
                    modified: change.modified, verifiedAt: now.wall, origin: .feed)
                apply(.put(absent, onlyIfHeld: !isOurs), to: key, .deleted, stated: stated, in: &plan)
                decideOwn(change, key, position, in: &plan)
            } else {
                plan.add(.evict(.key(key), before: position), .deleted)
            }
        case .invalidate(.key(let key)):
            plan.notes.append(StoryNote(at: now.wall, scope: .key(key), what: .invalidated(change.revision)))
            // Says nothing of the record, so nothing of the writes in it.
            apply(.evict(.key(key), before: position), to: key, .invalidated, in: &plan)
        case .invalidate(let scope):
            plan.notes.append(StoryNote(at: now.wall, scope: scope, what: .invalidated(change.revision)))
            let operation = EntryOperation.evict(scope, before: position)
            plan.add(operation, .invalidated)
            for key in overlaidKeys where scope.contains(key) {
                guard var pending = pending(key, in: plan) else { continue }
                pending.apply(operation)
                plan.stage(pending, .invalidated)
            }
        }
    }

    private mutating func take(
        _ change: Change, put key: RecordKey, _ content: Content?, _ position: Cursor, _ stated: WriteWatermark?, _ pass: Int64,
        in plan: inout Plan
    ) {
        let revision = change.revision
        // A value over the limit is left out; our own we know.
        if let content = content ?? ownContent(change, key) {
            let entry = Entry(
                key: key, epoch: position.epoch, revision: revision, asOf: revision, pass: pass, content: content,
                modified: change.modified, verifiedAt: now.wall, origin: .feed)
            let onlyIfHeld = settings.following == .held && outbox.keys[key] == nil
            apply(.put(entry, onlyIfHeld: onlyIfHeld), to: key, .changed, stated: stated, in: &plan)
        } else {
            plan.notes.append(StoryNote(at: now.wall, scope: .key(key), what: .valueLeftOut(revision)))
            let news = Confirmation(
                key: key, epoch: position.epoch, revision: revision, asOf: revision, pass: pass, verifiedAt: now.wall)
            apply(.confirm(news), to: key, .verified, stated: stated, in: &plan)
            apply(.evict(.key(key), before: position), to: key, .invalidated, stated: stated, in: &plan)
        }
        decideOwn(change, key, position, in: &plan)
    }

    /// What a change of this device says by itself: its record's last write is this one, so the record contains those before it and none after.
    private func ownWatermark(_ change: Change, _ epoch: Epoch) -> WriteWatermark? {
        guard let author = change.author, author.client == state.client else { return nil }
        return WriteWatermark(epoch: epoch, number: author.write)
    }

    /// If the change is a write of this device that waits for its verdict, this is the verdict.
    private mutating func decideOwn(_ change: Change, _ key: RecordKey, _ position: Cursor, in plan: inout Plan) {
        guard let author = change.author, author.client == state.client,
            let row = pending(key, in: plan)?.rows.first(where: { $0.number == author.write && $0.state == .pending })
        else { return }
        decide(row, .applied(position), in: &plan)
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
            // Only a poll shows that it lasts: another server may have asked for the next reset by then.
            if feed.isPolling { resetBackoff.reset() }
        }
    }
}
