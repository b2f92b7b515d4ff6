import FreshetWire

/// From verdicts to what is stored, wherever they come from.
extension PlanBuilder {
    /// What became of a write.
    enum Decision {
        case applied(Cursor)
        /// Decided no later than this; whether and where it took effect, only a look at the record tells.
        case settled(Cursor)
        case rejected(Problem, in: Epoch)
    }

    mutating func add(_ results: WriteResults, _ lastWrite: Int64?) {
        for outcome in results.results {
            guard let place = outbox.place(ofNumber: outcome.number),
                let row = pending(place.key)?.rows.row(number: place.number, receipt: place.receipt), row.state == .pending
            else { continue }
            switch outcome.verdict {
            case .applied(let revision?):
                let position = Cursor(epoch: results.cursor.epoch, revision: revision)
                decide(row, .applied(position))
                takeOwnEffect(of: row, at: position)
            case .applied(nil), .settled: decide(row, .settled(results.cursor))
            // What was written over a write that goes on under another name goes with it: its number was used up by a write without effect.
            case .rejected(let problem) where problem.code == .numberTaken || outbox.followsDisplaced(row): displace(row)
            case .rejected(let problem):
                // The record in the state that this answer's number is of.
                if let current = problem.current, current.key == row.key { takeCurrent(current, results.cursor.epoch, lastWrite) }
                decide(row, .rejected(problem, in: results.cursor.epoch))
            }
        }
        settle(.confirmed)
    }

    /// The number was another device's: the write goes on under another name.
    private mutating func displace(_ row: OutboxRow) {
        guard var pending = pending(row.key), let index = pending.rows.index(number: row.number, receipt: row.receipt) else { return }
        markDecided(row.number)
        pending.rows[index].isDisplaced = true
        stage(pending, .written)
        suspectName()
        guard let base = pending.base else { return }
        // A record of a history that is over may contain the write, if the copy that used its number has sent the same one: it is read again.
        if base.epoch != state.epoch {
            return apply(.evict(.key(row.key), before: Cursor(epoch: base.epoch, revision: .maximum)), to: row.key, .invalidated)
        }
        guard case .put(let own) = row.operation, base.content == own else { return }
        // Where the change left its value out, this device's own was taken for it: the record is read again.
        apply(.evict(.key(row.key), before: Cursor(epoch: base.epoch, revision: .maximum)), to: row.key, .invalidated)
        guard settings.following == .everything, isFollowed(row.key) else { return }
        let news = Confirmation(
            key: row.key, epoch: base.epoch, revision: base.revision, asOf: base.asOf, pass: base.pass, verifiedAt: base.verifiedAt)
        apply(.withoutValue(news, keepsValue: false), to: row.key, .invalidated)
    }

    /// Another device has the name too: what has a number by now gets its answer under it.
    mutating func suspectName() {
        if after.renamesAfter == nil { change(.renamesAfter(state.nextNumber - 1)) }
    }

    /// Takes another name. What has no verdict is numbered from 1 on under it, in order; what has one keeps no number, since those of the earlier name say
    /// nothing any more: a record that is stated under the new name is later than all of them.
    mutating func rename(to client: ClientIdentifier) {
        var numbers: [Receipt: Int64] = [:]
        let waiting = outbox.keys.values.flatMap { $0.rows.filter { $0.state == .pending } }.sorted { $0.number < $1.number }
        for (index, row) in waiting.enumerated() { numbers[row.receipt] = Int64(index) + 1 }
        for key in outbox.sortedKeys {
            guard var pending = pending(key) else { continue }
            pending.rename(numbers)
            stage(pending, .written)
        }
        change(.client(client), .nextNumber(Int64(waiting.count) + 1))
    }

    /// The verdict on a write: for the row, for writes that waited for it, and for its writer.
    mutating func decide(_ row: OutboxRow, _ decision: Decision) {
        guard var pending = pending(row.key), let index = pending.rows.index(number: row.number, receipt: row.receipt) else { return }
        markDecided(row.number)
        var verdict: WriteVerdict?
        var fault: Problem?
        var cause = Cause.confirmed
        switch decision {
        case .applied(let position):
            pending.rows[index].state = .applied(position)
            verdict = .applied(position.revision)
            raiseFloor(.key(row.key), to: position.revision)
        case .settled(let position):
            pending.rows[index].state = .settled(position)
            verdict = .applied(nil)
        case .rejected(let rejection, let epoch):
            cause = .rolledBack
            let problem = voided[row.number]
            if case .merge = row.policy, rejection.code == .preconditionFailed, problem == nil, row.attempts < settings.mergeAttempts {
                pending.rows[index].state = .merging(epoch)
            } else {
                pending.rows.remove(at: index)
                fault = problem ?? rejection
            }
        }
        pending.setPrecondition(Self.precondition(after: row, decision), ofThoseAfter: row.receipt)
        stage(pending, cause)
        if let verdict { tell(row.receipt, row.key, verdict) }
        if let fault { reject(row, fault) }
    }

    /// What a write must find that was written over this one.
    private static func precondition(after row: OutboxRow, _ decision: Decision) -> OutboxRow.Precondition {
        switch (decision, row.operation) {
        case (.applied, .delete): return .revision(.zero)
        case (.applied(let position), _): return .revision(position.revision)
        case (.settled, .delete): return .revision(.zero)
        // Nobody knows what is there now: only what the user saw then will do.
        case (.settled, _), (.rejected, _): return unchanged(since: row)
        }
    }

    /// What holds for as long as the record is what the user saw before this write.
    private static func unchanged(since row: OutboxRow) -> OutboxRow.Precondition {
        if case .revision = row.precondition { return row.precondition }
        return .revision(row.baseRevision ?? .maximum)
    }

    /// A put or a delete at a known revision tells the whole record; a patch or an increment does not: the server's value comes by the feed.
    private mutating func takeOwnEffect(of row: OutboxRow, at position: Cursor) {
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
        guard let entry = news(entry, stated) else { return }
        apply(.put(entry, onlyIfHeld: false), to: row.key, .confirmed, stated: stated)
    }

    private mutating func takeCurrent(_ record: Record, _ epoch: Epoch, _ lastWrite: Int64?) {
        guard let content = record.content else { return takeOutline(record, epoch, lastWrite) }
        guard let lastWrite else { return }
        let entry = Entry(
            key: record.key, epoch: epoch, revision: record.revision, asOf: record.revision, pass: state.pass, content: content,
            modified: record.modified, verifiedAt: now.wall, origin: .rejection)
        let stated = WriteWatermark(epoch: epoch, number: lastWrite)
        guard let entry = news(entry, stated) else { return }
        // A read that was asked for before may answer with less, and the entry may be gone by then: what a pass has not brought goes at its end.
        raiseFloor(.key(record.key), to: record.revision)
        apply(.put(entry, onlyIfHeld: false), to: record.key, .rolledBack, stated: stated)
    }

    /// The record was shown without its value, for its size: what the device has of an earlier revision is read again when it is needed.
    ///
    /// What the device knows beyond its cursor stays where the feed follows the key: a page on its way may hold an older value, which nothing
    /// but the entry tells. The feed brings this record too.
    private mutating func takeOutline(_ record: Record, _ epoch: Epoch, _ lastWrite: Int64?) {
        raiseFloor(.key(record.key), to: record.revision)
        guard let base = pending(record.key)?.base, !isFollowed(record.key) || base.mayBeEvicted(state) else { return }
        // The feed may have told a copy of this record already. While all is read again, only what the pass brings may stay.
        guard settings.following == .everything, isFollowed(record.key), state.verification == .complete, state.cursor != nil,
            let lastWrite
        else {
            let position = Cursor(epoch: epoch, revision: record.revision)
            return apply(.evict(.key(record.key), before: position), to: record.key, .invalidated)
        }
        let news = Confirmation(
            key: record.key, epoch: epoch, revision: record.revision, asOf: record.revision, pass: state.pass, verifiedAt: now.wall)
        let stated = WriteWatermark(epoch: epoch, number: lastWrite)
        apply(.withoutValue(news, keepsValue: false), to: record.key, .invalidated, stated: stated)
    }

    /// An outcome's record, which may be as old as the first attempt, if it is newer than what the device has known of the key.
    ///
    /// - Parameter stated: the watermark that comes with the record.
    private func news(_ entry: Entry, _ stated: WriteWatermark) -> Entry? {
        var entry = entry
        // While all is read again, nobody tells of deletes before the beginning: only what the pass brings as well may stay, or what is
        // beyond its end.
        if state.verification != .complete || state.cursor == nil { entry.pass -= 1 }
        let pending = pending(entry.key)
        if let base = pending?.base { return entry.supersedes(base) ? entry : nil }
        // A record that contained these writes, and that was evicted since, may have been newer.
        if let known = pending?.watermark, known.epoch == stated.epoch, known.number >= stated.number { return nil }
        // What the device showed of the key before it was swept away may have been newer, whether the feed is to tell of it or not.
        guard let position = state.cursor ?? state.lostCursor, position.epoch == entry.epoch else { return entry }
        return entry.revision > position.revision ? entry : nil
    }

    /// After a new epoch or a gap, or on a first contact that the feed did not make: how far the server has come with this device in this
    /// history. What it has decided is asked for again, the rest is sent; all under the numbers that they have.
    ///
    /// - Returns: what is wrong with the numbers, if anything is.
    mutating func addReconciliation(last: Int64, at cursor: Cursor) -> String? {
        if state.epoch == nil { change(.epoch(cursor.epoch)) }
        if state.mustReconcile { change(.mustReconcile(false)) }
        guard last >= state.nextNumber else { return nil }
        suspectName()
        return "the server knows write \(last) of \(state.client), and this cache has numbered none from \(state.nextNumber) on: "
            + "the directory was copied or rolled back. It takes a new name"
    }

    /// What the user's closure made of a conflict goes on as a new write over the record that the closure was shown.
    ///
    /// - Returns: whether there is such a conflict.
    mutating func addMerge(_ receipt: Receipt, _ resolution: Resolution, over theirs: Entry) -> Bool {
        guard let key = outbox.mergingKeys.first(where: { isMerging(receipt, $0) }), var pending = outbox.keys[key],
            let index = pending.rows.firstIndex(where: { $0.receipt == receipt })
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
            let next = Receipt(state.nextReceipt)
            let revision = revision(of: theirs)
            pending.insert(
                OutboxRow(
                    receipt: next, number: number, key: key, operation: operation, policy: row.policy,
                    precondition: .revision(revision), baseRevision: revision, ancestor: row.ancestor,
                    original: row.original ?? row.operation, attempts: row.attempts + 1, created: row.created, nonce: nonce(of: next)))
            number += 1
            change(.nextReceipt(state.nextReceipt + 1))
            tell(receipt, key, .merged(into: next))
        } else {
            pending.setPrecondition(Self.unchanged(since: row), ofThoseAfter: receipt)
            reject(row, Problem(.preconditionFailed, "the record had changed, and the merge kept the other value"))
        }
        pending.release(&number)
        if number != state.nextNumber { change(.nextNumber(number)) }
        stage(pending, operation == nil ? .rolledBack : .written)
        settle([key], .rolledBack)
        return true
    }

    private func isMerging(_ receipt: Receipt, _ key: RecordKey) -> Bool {
        outbox.keys[key]?.rows.contains { $0.receipt == receipt && $0.isMerging } ?? false
    }
}

extension WriteVerdict {
    func note(_ receipt: Receipt) -> StoryNote.What {
        switch self {
        case .applied(let revision): .applied(receipt, revision)
        case .rejected(let problem): .rejected(receipt, problem.code)
        case .merged(let other): .merged(receipt, into: other)
        case .cleared: .rejected(receipt, .preconditionFailed)
        }
    }
}
