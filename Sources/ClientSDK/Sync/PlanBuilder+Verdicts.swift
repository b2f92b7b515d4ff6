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
                let row = pending(place.key)?.rows.first(where: { $0.receipt == place.receipt && $0.state == .pending })
            else { continue }
            switch outcome.verdict {
            case .applied(let revision?):
                let position = Cursor(epoch: results.cursor.epoch, revision: revision)
                decide(row, .applied(position))
                takeOwnEffect(of: row, at: position)
            case .applied(nil), .settled: decide(row, .settled(results.cursor))
            case .rejected(let problem):
                // The record in the state that this answer's number is of.
                if let current = problem.current, current.key == row.key { takeCurrent(current, results.cursor.epoch, lastWrite) }
                decide(row, .rejected(problem, in: results.cursor.epoch))
            }
        }
        settle(.confirmed)
    }

    /// The verdict on a write: for the row, for writes that waited for it, and for its writer.
    mutating func decide(_ row: OutboxRow, _ decision: Decision) {
        guard var pending = pending(row.key), let index = pending.rows.firstIndex(where: { $0.receipt == row.receipt }) else { return }
        markDecided(row.number)
        var verdict: WriteVerdict?
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
                verdict = .rejected(problem ?? rejection)
            }
        }
        let next = Self.precondition(after: row, decision)
        for place in pending.rows.indices where pending.rows[place].precondition == .after(row.receipt) {
            pending.rows[place].precondition = next
        }
        stage(pending, cause)
        if let verdict { tell(row.receipt, row.key, verdict) }
    }

    /// What a write must find that was written over this one.
    private static func precondition(after row: OutboxRow, _ decision: Decision) -> OutboxRow.Precondition {
        switch (decision, row.operation) {
        case (.applied, .delete): return .revision(.zero)
        case (.applied(let position), _): return .revision(position.revision)
        case (.settled, .delete): return .revision(.zero)
        // Nobody knows what is there now: only what the user saw then will do.
        case (.settled, _), (.rejected, _):
            if case .revision = row.precondition { return row.precondition }
            return .revision(row.baseRevision ?? .maximum)
        }
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
        guard let content = record.content else { return takeOutline(record, epoch) }
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
    private mutating func takeOutline(_ record: Record, _ epoch: Epoch) {
        raiseFloor(.key(record.key), to: record.revision)
        guard let base = pending(record.key)?.base, !isFollowed(record.key) || base.mayBeEvicted(state) else { return }
        apply(.evict(.key(record.key), before: Cursor(epoch: epoch, revision: record.revision)), to: record.key, .invalidated)
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
        change(.nextNumber(last + 1))
        return "the server knows write \(last) of \(state.client), and this cache has numbered none from \(state.nextNumber) on: "
            + "another cache has or had the same client name. Give each its own; a cache that begins anew takes a new one"
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
            case .takeTheirs, .unavailable: nil
            }
        if let operation {
            let next = Receipt(state.nextReceipt)
            let revision = revision(of: theirs)
            pending.rows.append(
                OutboxRow(
                    receipt: next, number: state.nextNumber, key: key, operation: operation, policy: row.policy,
                    precondition: .revision(revision), baseRevision: revision, ancestor: theirs.content,
                    attempts: row.attempts + 1, created: row.created))
            change(.nextNumber(state.nextNumber + 1), .nextReceipt(state.nextReceipt + 1))
            tell(receipt, key, .merged(into: next))
        } else {
            let detail =
                resolution == .takeTheirs
                ? "the record had changed, and the merge kept the other value"
                : "the record had changed, and no merge closure of that name is registered: register it before opening the cache"
            tell(receipt, key, .rejected(Problem(.preconditionFailed, detail)))
        }
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
