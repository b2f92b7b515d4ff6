import FreshetWire

/// Plans for reads, verifications and resets.
extension PlanBuilder {
    /// Adds a read that passed the staleness check.
    mutating func add(fetched entry: Entry, at cursor: Cursor, _ lastWrite: Int64?) {
        if state.epoch == nil, plan.state.isEmpty { change(.epoch(cursor.epoch)) }
        let stated = lastWrite.map { WriteWatermark(epoch: cursor.epoch, number: $0) }
        apply(.put(entry, onlyIfCached: false), to: entry.key, stated: stated)
        note(.key(entry.key), .fetched(entry.content == nil ? nil : entry.revision, asOf: cursor.revision))
    }

    // MARK: Verification

    mutating func add(revalidated keys: [CachedKey], _ response: ReadsResponse, _ lastWrite: Int64?) {
        let cursor = response.cursor
        let stated = lastWrite.map { WriteWatermark(epoch: cursor.epoch, number: $0) }
        let records = Dictionary(response.records.map { ($0.key, $0) }, uniquingKeysWith: { $1 })
        let missing = Set(response.missing)
        let forbidden = Set(response.forbidden)
        for held in keys {
            let key = held.key
            if forbidden.contains(key) {
                evict(forbidden: key, at: cursor)
                continue
            }
            note(.key(key), .revalidated(asOf: cursor.revision))
            let known = records[key]?.revision ?? (missing.contains(key) ? nil : held.revision)
            if let record = records[key], let content = record.content {
                let entry = Entry(
                    key: key, epoch: cursor.epoch, revision: record.revision, asOf: cursor.revision, pass: state.pass, content: content,
                    modified: record.modified, verifiedAt: now.wall, origin: .fetch)
                apply(.put(entry, onlyIfCached: true), to: key, stated: stated)
            } else if let known {
                // Unchanged, or too large for the response: only the same revision may stay.
                let revalidation = Revalidation(
                    key: key, epoch: cursor.epoch, revision: known, asOf: cursor.revision, pass: state.pass, verifiedAt: now.wall)
                apply(.confirm(revalidation), to: key, stated: stated)
                if records[key] != nil, settings.following == .everything, covers(key) {
                    apply(.withoutValue(revalidation, keepsValue: false), to: key, stated: stated)
                } else {
                    apply(.evict(.key(key), before: cursor), to: key, stated: stated)
                }
            } else {
                let absent = Entry(
                    key: key, epoch: cursor.epoch, revision: cursor.revision, asOf: cursor.revision, pass: state.pass, content: nil,
                    verifiedAt: now.wall, origin: .fetch)
                apply(.put(absent, onlyIfCached: true), to: key, stated: stated)
            }
        }
        removeIncluded()
    }

    /// Adds a response about records that were invalidated or lack their values.
    ///
    /// The rules of the entries suffice without a staleness check: an older response replaces no newer entry, and ends no later
    /// invalidation (``Entry/replacing(_:)``). Entries that have left the device in the meantime do not come back.
    ///
    /// - Returns: the keys whose values were too large for the response.
    mutating func add(refreshed keys: [CachedKey], _ response: ReadsResponse, _ lastWrite: Int64?) -> [RecordKey] {
        let cursor = response.cursor
        let stated = lastWrite.map { WriteWatermark(epoch: cursor.epoch, number: $0) }
        let records = Dictionary(response.records.map { ($0.key, $0) }, uniquingKeysWith: { $1 })
        let missing = Set(response.missing)
        let forbidden = Set(response.forbidden)
        var large: [RecordKey] = []
        for held in keys {
            let key = held.key
            if forbidden.contains(key) {
                evict(forbidden: key, at: cursor)
                continue
            }
            guard let record = records[key] else {
                if missing.contains(key) {
                    let absent = Entry(
                        key: key, epoch: cursor.epoch, revision: cursor.revision, asOf: cursor.revision, pass: state.pass, content: nil,
                        verifiedAt: now.wall, origin: .fetch)
                    apply(.put(absent, onlyIfCached: true), to: key, stated: stated)
                } else {
                    let revalidation = Revalidation(
                        key: key, epoch: cursor.epoch, revision: held.revision, asOf: cursor.revision, pass: state.pass,
                        verifiedAt: now.wall)
                    apply(.confirm(revalidation), to: key, stated: stated)
                }
                note(.key(key), .revalidated(asOf: cursor.revision))
                continue
            }
            guard let content = record.content else {
                large.append(key)
                continue
            }
            let entry = Entry(
                key: key, epoch: cursor.epoch, revision: record.revision, asOf: cursor.revision, pass: state.pass, content: content,
                modified: record.modified, verifiedAt: now.wall, origin: .fetch)
            apply(.put(entry, onlyIfCached: true), to: key, stated: stated)
            note(.key(key), .fetched(entry.revision, asOf: cursor.revision))
        }
        removeIncluded()
        return large
    }

    /// Removes the copy of a record that this device may not read, for the response to a read that it had sent while it held
    /// `known`. A record that the feed has brought since is left to the feed.
    mutating func evict(forbidden key: RecordKey, known: Entry?, at cursor: Cursor) {
        guard let known, covers(key) else {
            note(.key(key), .forbidden)
            if pending(key)?.base == nil { forgetRecord(of: key) }
            return
        }
        // A refusal by itself states no rights: of a record that the pass has brought, it contradicts those of the feed.
        evict(forbidden: key, at: cursor)
        if state.cursor == nil || cursor == state.cursor && known.pass >= state.pass { repeatPass() }
    }

    /// Removes the copy of a record that this device may not read any more, and the writes that wait only for it. If the rights of the
    /// response are others than the feed's, all is verified again: the feed would not bring the record back if they change back, and a
    /// copy of everything would say that there is no such record.
    mutating func evict(forbidden key: RecordKey, at cursor: Cursor) {
        note(.key(key), .forbidden)
        if let position = after.cursor, position.rights == nil || position.rights != cursor.rights { repeatPass() }
        applyOnDisk(.evict(.key(key), before: Cursor(epoch: cursor.epoch, revision: .maximum)))
        forgetRecord(of: key)
    }

    private mutating func forgetRecord(of key: RecordKey) {
        guard var pending = pending(key) else { return }
        pending.forgetRecord()
        stage(pending)
    }

    mutating func addEndOfRevalidation(at cursor: Cursor) {
        finishPass(state.pass, at: Self.end(of: cursor))
        change(.revalidation(.complete))
        removeIncluded()
    }

    // MARK: Clear and reset

    mutating func add(_ clear: Resetter.Clear) {
        if clear.keepsOutbox {
            removeRecords()
        } else {
            self.clear(for: clear.client)
            if let principal = clear.principal { change(.principal(principal)) }
        }
    }

    /// Returns where the device continues; `nil` if it cannot. A copy of everything holds no row of a record whose delete was
    /// lost, so it continues only if it has read nothing beyond the fork.
    private func position(in continuation: Problem.Continuation) -> Cursor? {
        guard state.canContinue, state.scope == settings.scope, let cursor = state.cursor, continuation.cursor.epoch != state.epoch,
            settings.following == .cachedKeys || cursor.revision <= continuation.fork
        else { return nil }
        return Cursor(epoch: continuation.cursor.epoch, revision: min(cursor.revision, continuation.fork), rights: cursor.rights)
    }

    /// Keeps the outbox, the overlay and the entries. The entries become unverified, but for those that the new history shares.
    mutating func add(_ reset: Resetter.Reset) {
        let forgets = reset.forgets
        let epoch: Epoch?
        takeScope()
        if forgets { change(.floor(nil)) }
        if case .continues(let continuation) = reset.lineage, let cursor = position(in: continuation), let previous = state.epoch {
            epoch = cursor.epoch
            let inheritance = Inheritance(
                previous: previous, fork: continuation.fork, epoch: cursor.epoch, pass: state.pass + 1, writtenKeys: Set(outbox.keys.keys))
            change(.epoch(epoch), .pass(inheritance.pass), .cursor(cursor), .completeAt(nil), .revalidation(.ofCachedKeys))
            applyOnDisk(.inherit(inheritance))
        } else {
            epoch = reset.epoch
            change(.epoch(epoch))
            beginPass()
        }
        guard epoch == nil || epoch != state.epoch || forgets else { return }
        change(.mustReconcile(true))
        for key in outbox.sortedKeys {
            guard let before = outbox.keys[key] else { continue }
            var pending = before
            pending.leaveHistory()
            if pending != before { stage(pending) }
        }
        guard forgets, let epoch else { return }
        apply(.evict(.everything, before: Cursor(epoch: epoch, revision: .maximum)), toAllIn: .everything)
        for key in outbox.sortedKeys {
            guard var pending = pending(key) else { continue }
            pending.forgetHistory()
            stage(pending)
        }
    }
}
