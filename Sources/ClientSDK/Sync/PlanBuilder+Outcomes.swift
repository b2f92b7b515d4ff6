import FreshetWire

/// Plans for verdicts, from all sources.
extension PlanBuilder {
    /// The server's decision on a write.
    enum Decision {
        case applied(Cursor)
        /// Decided at this position at the latest. Only a read of the record shows whether and where the write took effect.
        case settled(Cursor)
        case rejected(Problem, in: Epoch)
    }

    mutating func add(_ results: WriteResults, _ lastWrite: Int64?) {
        for outcome in results.results {
            guard let queued = outbox.entry(ofNumber: outcome.number),
                let row = pending(queued.key)?.rows.row(number: queued.number, writeID: queued.writeID), row.state == .pending
            else { continue }
            switch outcome.verdict {
            case .applied(let revision?):
                let position = Cursor(epoch: results.cursor.epoch, revision: revision)
                decide(row, .applied(position))
                takeOwnEffect(of: row, at: position, results.cursor.rights)
            // The forgotten outcome is another write's, as after a rollback: this one had no effect.
            case .settled where row.wasNumberUsed(under: state.client) || row.nonce != nil && row.number > lastSentBefore:
                displace(row, origin: row.origin ?? Write.Origin(client: state.client, number: row.number))
            // This device has sent it as a void write only, and a copy that applied it had applied the earlier one too.
            case .settled where outbox.followsDisplaced(row): displace(row, origin: nil)
            case .applied(nil), .settled: decide(row, .settled(results.cursor))
            case .rejected(let problem) where problem.code == .numberTaken:
                displace(row, origin: row.origin ?? Write.Origin(client: state.client, number: row.number))
            // A write over a displaced one is displaced too: its number was used up by a void write. That one's outcome
            // would be found under the number, so it is no origin.
            case .rejected where outbox.followsDisplaced(row):
                displace(row, origin: row.wasNumberUsed(under: state.client) ? nil : row.origin)
            case .rejected(var problem):
                // The record in the state for which this response states the number.
                if let current = problem.current, current.key == row.key { takeCurrent(current, results.cursor, lastWrite) }
                // The device may lose the right to this record without the feed's noticing it, whose rights are others.
                if let cursor = state.cursor, cursor.rights != results.cursor.rights { problem.current = nil }
                decide(row, .rejected(problem, in: results.cursor.epoch))
            }
        }
        removeIncluded()
    }

    /// Marks a write as displaced, because its number was another device's: it is sent under another name.
    private mutating func displace(_ row: OutboxRow, origin: Write.Origin?) {
        guard var pending = pending(row.key), let index = pending.rows.index(number: row.number, writeID: row.writeID) else { return }
        markDecided(row.number)
        pending.rows[index].isDisplaced = true
        if row.nonce != nil { pending.rows[index].origin = origin }
        stage(pending)
        suspectName()
        guard let base = pending.base else { return }
        // A record of a past history may contain the write, if the copy that used its number sent the same one: the
        // record is read again.
        if base.epoch != state.epoch {
            // A copy of everything that continues from its position gets no record again that it has evicted.
            if settings.following == .everything, state.revalidation == .ofCachedKeys { repeatPass() }
            return apply(.evict(.key(row.key), before: Cursor(epoch: base.epoch, revision: .maximum)), to: row.key)
        }
        guard case .put(let own) = row.operation, base.content == own else { return }
        // If the change left its value out, this device's value was taken for it: the record is read again.
        apply(.evict(.key(row.key), before: Cursor(epoch: base.epoch, revision: .maximum)), to: row.key)
        guard settings.following == .everything, covers(row.key) else { return }
        let revalidation = Revalidation(
            key: row.key, epoch: base.epoch, revision: base.revision, asOf: base.asOf, pass: base.pass, verifiedAt: base.verifiedAt)
        apply(.withoutValue(revalidation, keepsValue: false), to: row.key)
        // The feed reports an invalidation once.
        guard let invalidation = base.invalidatedAt else { return }
        apply(.invalidate(.key(row.key), at: Cursor(epoch: base.epoch, revision: invalidation)), to: row.key)
    }

    /// Prepares a change of name, since another device has the same one. Writes that have a number by now get their
    /// answers under it.
    mutating func suspectName() {
        if after.renamesAfter == nil { change(.renamesAfter(state.nextNumber - 1)) }
    }

    /// Changes the device's name. Writes without an outcome are numbered from 1 under it, in order. Writes with a
    /// verdict keep no number, since the numbers of the earlier name mean nothing any more: a record that is stated
    /// under the new name is later than all of them.
    mutating func rename(to client: ClientIdentifier) {
        var numbers: [LocalWriteID: Int64] = [:]
        let waiting = outbox.keys.values.flatMap { $0.rows.filter { $0.state == .pending } }.sorted { $0.number < $1.number }
        for (index, row) in waiting.enumerated() { numbers[row.writeID] = Int64(index) + 1 }
        for key in outbox.sortedKeys {
            guard var pending = pending(key) else { continue }
            pending.rename(numbers)
            stage(pending)
        }
        change(.client(client), .nextNumber(Int64(waiting.count) + 1))
    }

    /// Applies the verdict on a write to its row and to the writes that waited for it, and reports it to the writer.
    mutating func decide(_ row: OutboxRow, _ decision: Decision) {
        guard var pending = pending(row.key), let index = pending.rows.index(number: row.number, writeID: row.writeID) else { return }
        markDecided(row.number)
        var outcome: LocalWriteOutcome?
        var fault: Problem?
        switch decision {
        case .applied(let position):
            settle(&pending, index, .applied(position), at: position)
            outcome = .applied(position.revision)
            raiseLowerBound(.key(row.key), to: position.revision)
        case .settled(let position):
            settle(&pending, index, .settled(position), at: position)
            outcome = .applied(nil)
        case .rejected(let rejection, let epoch):
            let problem = refusedWrites[row.number]
            if case .merge = row.policy, rejection.code == .preconditionFailed, problem == nil, row.attempts < settings.mergeAttempts {
                pending.rows[index].state = .merging(epoch)
            } else {
                pending.rows.remove(at: index)
                fault = problem ?? rejection
            }
        }
        pending.setPrecondition(Self.precondition(after: row, decision), ofThoseAfter: row.writeID)
        stage(pending)
        if let outcome { report(row.writeID, row.key, outcome) }
        if let fault { reject(row, fault) }
    }

    /// Keeps a write that has its verdict until the record contains it. No record will contain a write outside of what the device
    /// follows, so that one leaves, and with it a record from before it.
    private mutating func settle(_ pending: inout PendingKey, _ index: OutboxRows.Index, _ state: OutboxRow.State, at position: Cursor) {
        guard covers(pending.key) else {
            pending.rows.remove(at: index)
            let eviction = EntryOperation.evict(.key(pending.key), before: position)
            applyOnDisk(eviction)
            pending.apply(eviction)
            return raiseFloor(to: position)
        }
        pending.rows[index].state = state
    }

    /// Returns the precondition of a write that was made over this one.
    private static func precondition(after row: OutboxRow, _ decision: Decision) -> OutboxRow.Precondition {
        switch (decision, row.operation) {
        case (.applied, .delete): return .revision(.zero)
        case (.applied(let position), _): return .revision(position.revision)
        case (.settled, .delete): return .revision(.zero)
        // The present record is unknown: the later write requires the record that its user saw.
        case (.settled, _), (.rejected, _): return unchanged(since: row)
        }
    }

    /// Returns a precondition that holds as long as the record is the one that the user saw before this write.
    private static func unchanged(since row: OutboxRow) -> OutboxRow.Precondition {
        if case .revision = row.precondition { return row.precondition }
        return .revision(row.baseRevision ?? .maximum)
    }

    /// Stores the record that a put or a delete produced at a known revision. The result of a patch or an increment
    /// comes by the feed.
    private mutating func takeOwnEffect(of row: OutboxRow, at position: Cursor, _ rights: RightsDigest?) {
        let content: Content?
        switch row.operation {
        case .put(let own): content = own
        case .delete: content = nil
        case .patch, .increment: return
        }
        let entry = Entry(
            key: row.key, epoch: position.epoch, revision: position.revision, asOf: position.revision, pass: state.pass, content: content,
            verifiedAt: now.wall, origin: .ownWrite)
        let stated = WriteWatermark(epoch: position.epoch, number: row.number)
        guard covers(row.key), isReadable(row.key, rights), let entry = newer(entry, stated) else { return }
        apply(.put(entry, onlyIfCached: false), to: row.key, stated: stated)
    }

    /// Whether the feed brings the changes of a record that the server described under these rights: both are of the same rights, and
    /// these cover the record, as a record shows that the device holds in this pass. Another record comes by a read or by the feed, as do
    /// all while the device has no position: the token may be another one than that of the response.
    private func isReadable(_ key: RecordKey, _ rights: RightsDigest?) -> Bool {
        guard let cursor = state.cursor, cursor.rights == rights else { return false }
        return rights == nil || pending(key)?.base?.isConfirmed(in: state.pass) ?? false
    }

    private mutating func takeCurrent(_ record: Record, _ cursor: Cursor, _ lastWrite: Int64?) {
        guard isReadable(record.key, cursor.rights) else { return }
        let epoch = cursor.epoch
        guard let content = record.content else { return takeOutline(record, epoch, lastWrite) }
        guard let lastWrite else { return }
        let entry = Entry(
            key: record.key, epoch: epoch, revision: record.revision, asOf: record.revision, pass: state.pass, content: content,
            modified: record.modified, verifiedAt: now.wall, origin: .rejection)
        let stated = WriteWatermark(epoch: epoch, number: lastWrite)
        guard let entry = newer(entry, stated) else { return }
        // A read that was requested before may return less, and the entry may be evicted by then: the end of a pass
        // evicts entries that the pass has not brought.
        raiseLowerBound(.key(record.key), to: record.revision)
        apply(.put(entry, onlyIfCached: false), to: record.key, stated: stated)
    }

    /// Applies a record without its value, which was too large: the device's value of an earlier revision is read
    /// again when it is needed.
    ///
    /// An entry that is known beyond the cursor stays where the feed follows the key: a page in flight may hold an
    /// older value, and only the entry shows that this value is older. The feed brings this record too.
    private mutating func takeOutline(_ record: Record, _ epoch: Epoch, _ lastWrite: Int64?) {
        raiseLowerBound(.key(record.key), to: record.revision)
        guard let base = pending(record.key)?.base, !covers(record.key) || base.isEvictable(state) else { return }
        // The feed may have brought this record to a copy already. In a pass from the start, only records that the pass
        // has confirmed may stay: of those, the feed brings every later delete.
        let isConfirmed = state.revalidation != .fromStart || base.epoch == epoch && base.pass == state.pass
        guard settings.following == .everything, covers(record.key), isConfirmed, state.cursor != nil, let lastWrite else {
            let position = Cursor(epoch: epoch, revision: record.revision)
            return apply(.evict(.key(record.key), before: position), to: record.key)
        }
        let revalidation = Revalidation(
            key: record.key, epoch: epoch, revision: record.revision, asOf: record.revision, pass: state.pass, verifiedAt: now.wall)
        let stated = WriteWatermark(epoch: epoch, number: lastWrite)
        apply(.withoutValue(revalidation, keepsValue: false), to: record.key, stated: stated)
    }

    /// Returns the record of an outcome if it is newer than all that the device has known of the key. It may be as old
    /// as the first attempt.
    ///
    /// - Parameter stated: the watermark that comes with the record.
    private func newer(_ entry: Entry, _ stated: WriteWatermark) -> Entry? {
        var entry = entry
        // A pass from the start does not report deletes before its beginning: only entries that the pass brings, or
        // that are beyond its end, may stay.
        if state.revalidation != .complete { entry.pass -= 1 }
        let pending = pending(entry.key)
        if let base = pending?.base { return entry.supersedes(base) ? entry : nil }
        // A record that contained these writes, and that was evicted since, may have been newer.
        if let known = pending?.watermark, known.epoch == stated.epoch, known.number >= stated.number { return nil }
        // The device may have shown a newer state of the key before it was evicted, whether or not the feed still
        // has to report it.
        guard let position = state.cursor, position.epoch == entry.epoch else { return nil }
        return entry.revision > position.revision ? entry : nil
    }

    /// Applies the server's last number of this device in this history, after a new epoch or a gap, or on a first
    /// contact that was not the feed's. Writes up to the number are asked for again, the others are sent, all under
    /// their present numbers.
    ///
    /// - Returns: the fault of the numbers; `nil` if they are right.
    mutating func addReconciliation(last: Int64, at cursor: Cursor) -> String? {
        if state.epoch == nil { change(.epoch(cursor.epoch)) }
        if state.mustReconcile { change(.mustReconcile(false)) }
        noteUsedNumbers(through: last)
        guard last >= state.nextNumber else { return nil }
        suspectName()
        return "the server knows write \(last) of \(state.client), and this cache has numbered none from \(state.nextNumber) on: "
            + "the directory was copied or rolled back. It takes a new name"
    }

    /// Notes the writes whose numbers another device has used before this one has sent them. The server may have
    /// forgotten with which nonces: docs/decisions/0040-copied-devices.md. A number above `last` is free in this epoch, though
    /// it may have been used in an earlier one.
    private mutating func noteUsedNumbers(through last: Int64) {
        for entry in outbox.queue {
            guard var pending = pending(entry.key), let index = pending.rows.index(number: entry.number, writeID: entry.writeID) else {
                continue
            }
            var row = pending.rows[index]
            if entry.number <= last, entry.number > lastSentNumber, row.nonce != nil, row.origin == nil {
                row.origin = Write.Origin(client: state.client, number: row.number)
            } else if entry.number > last, row.wasNumberUsed(under: state.client) {
                row.origin = nil
            } else {
                continue
            }
            pending.rows[index] = row
            stage(pending)
        }
    }

    /// Turns the closure's result for a conflict into a new write over the record that the closure got.
    ///
    /// - Returns: whether there is such a conflict.
    mutating func addMerge(_ writeID: LocalWriteID, _ resolution: Resolution, over theirs: Entry) -> Bool {
        guard let key = outbox.mergingKeys.first(where: { isMerging(writeID, $0) }), var pending = outbox.keys[key],
            let index = pending.rows.firstIndex(where: { $0.writeID == writeID })
        else { return false }
        let row = pending.rows.remove(at: index)
        let operation: WriteOperation? =
            switch resolution {
            case .put(let content): .put(content)
            case .delete: .delete
            case .takeTheirs: nil
            }
        var number = state.nextNumber
        if let operation {
            let next = LocalWriteID(state.nextWriteID)
            let revision = revision(of: theirs)
            pending.insert(
                OutboxRow(
                    writeID: next, number: number, key: key, operation: operation, policy: row.policy,
                    precondition: .revision(revision), baseRevision: revision, ancestor: row.ancestor,
                    original: row.original ?? row.operation, attempts: row.attempts + 1, created: row.created, nonce: nonce(of: next)))
            number += 1
            change(.nextWriteID(state.nextWriteID + 1))
            report(writeID, key, .merged(into: next))
        } else {
            pending.setPrecondition(Self.unchanged(since: row), ofThoseAfter: writeID)
            reject(row, Problem(.preconditionFailed, "the record had changed, and the merge kept the other value"))
        }
        pending.release(&number)
        if number != state.nextNumber { change(.nextNumber(number)) }
        stage(pending)
        removeIncluded([key])
        return true
    }

    private func isMerging(_ writeID: LocalWriteID, _ key: RecordKey) -> Bool {
        outbox.keys[key]?.rows.contains { $0.writeID == writeID && $0.isMerging } ?? false
    }
}

extension LocalWriteOutcome {
    func note(_ writeID: LocalWriteID) -> HistoryEvent.Kind {
        switch self {
        case .applied(let revision): .applied(writeID, revision)
        case .rejected(let problem): .rejected(writeID, problem.code)
        case .merged(let other): .merged(writeID, into: other)
        case .cleared: .rejected(writeID, .preconditionFailed)
        }
    }
}
