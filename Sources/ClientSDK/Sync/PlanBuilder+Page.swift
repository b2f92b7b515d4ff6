import FreshetWire

/// Plans for responses of the feed.
extension PlanBuilder {
    /// Whether a response continues from the position on disk. A page that was requested while the previous one was
    /// being stored does not if that one was not stored.
    func isNext(_ since: Since) -> Bool {
        if case .after(let position) = since { position == state.cursor } else { true }
    }

    /// Whether the response states, for every record that it describes, which writes of this device the record contains.
    ///
    /// A poll that waits gets the same bytes as every other poll, without a number. That suffices unless it brings
    /// another client's change of a record with writes of this device in flight.
    func hasWatermarks(for page: ChangePage, _ since: Since, _ lastWrite: Int64?) -> Bool {
        guard lastWrite == nil, !outbox.keys.isEmpty else { return true }
        let epoch = page.cursor.epoch
        guard case .after = since, state.revalidation == .complete else {
            return !outbox.keys.keys.contains { needsWatermark($0, in: epoch) }
        }
        return !page.changes.contains { change in
            guard change.author?.client != state.client, case .key(let key) = change.scope else { return false }
            return needsWatermark(key, in: epoch)
        }
    }

    mutating func add(_ page: ChangePage, _ since: Since, _ lastWrite: Int64?) {
        let stated = lastWrite.map { WriteWatermark(epoch: page.cursor.epoch, number: $0) }
        reserve(page.changes.count)
        takeScope()
        if case .after(let position) = since {
            for index in page.changes.indices where page.changes[index].revision > position.revision {
                take(page.changes[index], page.cursor.epoch, stated, state.pass)
            }
        } else {
            begin(page.cursor, since, upToDate: page.upToDate)
            for index in page.changes.indices { take(page.changes[index], page.cursor.epoch, stated, state.pass + 1) }
        }
        // A page from now brings no records. The last reset may have stored the other pass, under other settings.
        let isFromStart = since == .start || since != .now && state.revalidation == .fromStart
        if page.upToDate, isFromStart { finishFromStart(page.cursor, stated) }
        if page.cursor != state.cursor { change(.cursor(page.cursor)) }
        if page.upToDate, page.cursor != state.cursor || state.completeAt == nil { change(.completeAt(now.wall)) }
        if !page.upToDate, state.completeAt != nil { change(.completeAt(nil)) }
        if page.upToDate, settings.holdsAll, after.revalidation == .complete, state.whole != settings.filter {
            change(.whole(settings.filter))
        }
        if page.upToDate { raiseAll(to: stated) }
        removeIncluded()
    }

    /// Raises the watermarks of all followed keys: the page reached the end of the feed, so their records are of the
    /// state for which the number was stated.
    private mutating func raiseAll(to stated: WriteWatermark?) {
        guard let stated, after.revalidation == .complete else { return }
        for key in outbox.sortedKeys where covers(key) {
            guard let before = pending(key) else { continue }
            var pending = before
            pending.raise(to: stated)
            if pending != before { stage(pending) }
        }
    }

    /// Begins a new pass at the first position, or the first after a reset: entries that were read before may have
    /// changed in between.
    private mutating func begin(_ cursor: Cursor, _ since: Since, upToDate: Bool) {
        change(.epoch(cursor.epoch), .pass(state.pass + 1))
        raiseLowerBound(.everything, to: cursor.revision)
        outdateReads()
        if since == .now {
            change(.revalidation(.ofCachedKeys))
        } else if !upToDate {
            change(.revalidation(.fromStart))
        }
    }

    /// Ends the pass from the start: a record that it did not bring does not exist.
    private mutating func finishFromStart(_ cursor: Cursor, _ stated: WriteWatermark?) {
        let pass = state.cursor == nil ? state.pass + 1 : state.pass
        let end = Self.end(of: cursor)
        for key in outbox.sortedKeys where covers(key) {
            guard let base = pending(key)?.base, base.ended(pass, at: end) == nil else { continue }
            guard cursor.rights == nil else {
                // There may be a record that the token may not read.
                apply(.evict(.key(key), before: Cursor(epoch: cursor.epoch, revision: .maximum)), to: key)
                continue
            }
            let absent = Entry(
                key: key, epoch: cursor.epoch, revision: cursor.revision, asOf: cursor.revision, pass: pass, content: nil,
                verifiedAt: now.wall, origin: .feed)
            apply(.put(absent, onlyIfCached: false), to: key, stated: stated)
        }
        finishPass(pass, at: end)
        change(.revalidation(.complete))
    }

    /// Returns the position before which entries that the pass has not confirmed are removed: for a reader of a part all of them. Those
    /// beyond the position may be of a former token, and the feed brings the readable ones again.
    static func end(of cursor: Cursor) -> Cursor {
        cursor.rights == nil ? cursor : Cursor(epoch: cursor.epoch, revision: .maximum)
    }

    /// Evicts the entries that the pass has not confirmed. Entries known beyond the position from which the feed
    /// continues stay: the feed would bring them back with older values.
    mutating func finishPass(_ pass: Int64, at position: Cursor) {
        apply(.finishPass(pass, at: position), toAllIn: .everything)
    }

    private mutating func take(_ change: Change, _ epoch: Epoch, _ stated: WriteWatermark?, _ pass: Int64) {
        let position = Cursor(epoch: epoch, revision: change.revision)
        let stated = stated ?? ownWatermark(change, epoch)
        raiseLowerBound(change.scope, to: change.revision)
        if let author = change.author, author.client == state.client, author.write >= state.nextNumber { suspectName() }
        switch change.effect {
        case .put(let key, let content, _, _): take(change, put: key, content, position, stated, pass)
        case .delete(let key):
            note(.key(key), .deleted(change.revision))
            let isOurs = outbox.keys[key] != nil
            if isOurs || settings.following == .cachedKeys {
                let absent = Entry(
                    key: key, epoch: epoch, revision: change.revision, asOf: change.revision, pass: pass, content: nil,
                    modified: change.modified, verifiedAt: now.wall, origin: .feed)
                apply(.put(absent, onlyIfCached: !isOurs), to: key, stated: stated)
                decideOwn(change, key, position)
            } else {
                applyOnDisk(.evict(.key(key), before: position))
            }
        case .invalidate(let scope):
            // An invalidation says nothing about the records, and so nothing about the writes in them.
            note(scope, .invalidated(change.revision))
            // A complete copy shows its values until it has read the records again.
            apply(
                settings.following == .everything ? .invalidate(scope, at: position) : .evict(scope, before: position), toAllIn: scope)
        }
    }

    private mutating func take(
        _ change: Change, put key: RecordKey, _ content: Content?, _ position: Cursor, _ stated: WriteWatermark?, _ pass: Int64
    ) {
        let revision = change.revision
        // A value over the limit is left out; for this device's own write the value is known.
        if let content = content ?? ownContent(change, key) {
            let entry = Entry(
                key: key, epoch: position.epoch, revision: revision, asOf: revision, pass: pass, content: content,
                modified: change.modified, verifiedAt: now.wall, origin: .feed)
            let onlyIfCached = settings.following == .cachedKeys && outbox.keys[key] == nil
            apply(.put(entry, onlyIfCached: onlyIfCached), to: key, stated: stated)
        } else {
            note(.key(key), .valueLeftOut(revision))
            let revalidation = Revalidation(
                key: key, epoch: position.epoch, revision: revision, asOf: revision, pass: pass, verifiedAt: now.wall)
            apply(.confirm(revalidation), to: key, stated: stated)
            if settings.following == .everything, covers(key) {
                // Under writes of this device, an earlier value would lack the writes that the record contains.
                apply(.withoutValue(revalidation, keepsValue: outbox.keys[key] == nil), to: key, stated: stated)
            } else {
                apply(.evict(.key(key), before: position), to: key, stated: stated)
            }
        }
        decideOwn(change, key, position)
    }

    /// Returns the watermark of a change by this device: the change is the record's last write, so the record contains
    /// the writes up to it and none after it.
    private func ownWatermark(_ change: Change, _ epoch: Epoch) -> WriteWatermark? {
        guard let author = change.author, author.client == state.client else { return nil }
        return WriteWatermark(epoch: epoch, number: author.write)
    }

    private func ownContent(_ change: Change, _ key: RecordKey) -> Content? {
        guard let author = change.author, author.client == state.client,
            let row = outbox.keys[key]?.rows.first(where: { $0.number == author.write }), case .put(let content) = row.operation,
            case .put(_, _, _, let size) = change.effect, size == content.bytes.count, state.renamesAfter == nil || row.position != nil
        else { return nil }
        return content
    }

    /// Decides a write of this device that waits for its verdict by its change. A write with a nonce waits for the
    /// answer to its batch: the change does not show whether the write was this device's or that of a copy.
    private mutating func decideOwn(_ change: Change, _ key: RecordKey, _ position: Cursor) {
        guard let author = change.author, author.client == state.client,
            let row = pending(key)?.rows.first(where: { $0.number == author.write && $0.state == .pending }),
            row.nonce == nil
        else { return }
        decide(row, .applied(position))
    }
}
