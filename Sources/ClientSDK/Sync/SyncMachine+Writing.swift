import FreshetWire

/// From the user's call to the row on disk, and from the verdict to its end.
extension SyncMachine {
    mutating func take(_ request: SetRequest) {
        guard phase != .idle else { return actions.append(.answer(request.token, .failed(.stopped))) }
        let base = outbox.keys[request.key].map(\.base) ?? request.base
        claims[request.key, default: Claim(base: base, count: 0)].count += 1
        queuedSets.append(QueuedSet(request: request))
        if queuedSets.count == 1 { intents.append(.sets) }
    }

    /// All that wait go into one transaction.
    mutating func planSets() -> Plan? {
        let sets = queuedSets
        queuedSets = []
        var kept: [QueuedSet] = []
        var accepted: [Receipt] = []
        var plan = Plan(.sets([], accepted: []))
        var number = state.nextNumber
        var receipt = state.nextReceipt
        for set in sets {
            let request = set.request
            var pending = pending(request.key, in: plan) ?? PendingKey(key: request.key, base: claims[request.key]?.base)
            do throws(SyncFailure) {
                let row = try row(for: request, over: pending, Receipt(receipt), number)
                pending.rows.append(row)
                plan.stage(pending, .written)
                plan.notes.append(StoryNote(at: now.wall, scope: .key(request.key), what: .written(row.receipt)))
                kept.append(set)
                accepted.append(row.receipt)
                number += 1
                receipt += 1
            } catch {
                actions.append(.answer(request.token, .failed(error)))
                release(request.key)
            }
        }
        guard !kept.isEmpty else { return nil }
        plan.continuation = .sets(kept, accepted: accepted)
        plan.state = [.nextNumber(number), .nextReceipt(receipt)]
        return plan
    }

    private func row(
        for request: SetRequest, over pending: PendingKey, _ receipt: Receipt, _ number: Int64
    ) throws(SyncFailure) -> OutboxRow {
        let before = pending.overlay
        var after = before
        try after.apply(request.operation)
        var row = OutboxRow(
            receipt: receipt, number: number, key: request.key, operation: request.operation, policy: request.policy,
            baseRevision: pending.base.map(revision), created: now.wall)
        guard request.policy != .lastWriterWins else { return row }
        // An earlier write of ours that has no verdict yet decides what this one must find.
        if let earlier = pending.rows.last {
            switch earlier.state {
            case .pending: row.precondition = .after(earlier.receipt)
            // Its merge will go behind this one, so this one must not wait for it: it meets the same conflict, and is merged in its turn.
            case .merging: row.precondition = earlier.precondition
            case .applied(let position):
                if case .delete = earlier.operation {
                    row.precondition = .revision(.zero)
                } else {
                    row.precondition = .revision(position.revision)
                }
                if position.epoch != state.epoch { row.precondition = .revision(.maximum) }
            case .settled: row.precondition = .revision(row.baseRevision ?? .maximum)
            }
        } else {
            guard let revision = row.baseRevision else { throw .baseUnknown }
            row.precondition = .revision(revision)
        }
        if case .merge = request.policy {
            switch before.value {
            case .content(let content): row.ancestor = content
            case .absent: break
            case .unknown: throw .baseUnknown
            }
        }
        return row
    }

    /// What the server must find if this record is what it has; a revision of another history is none, and the highest never holds.
    func revision(of entry: Entry) -> Revision {
        guard entry.content != nil else { return .zero }
        return entry.epoch == state.epoch ? entry.revision : .maximum
    }

    private mutating func release(_ key: RecordKey) {
        guard var claim = claims[key] else { return }
        claim.count -= 1
        claims[key] = claim.count > 0 ? claim : nil
    }

    mutating func setsStored(_ sets: [QueuedSet], _ accepted: [Receipt]) {
        for (set, receipt) in zip(sets, accepted) {
            release(set.request.key)
            actions.append(.answer(set.request.token, .accepted(receipt)))
        }
    }

    mutating func setsNotStored(_ sets: [QueuedSet], _ failure: DiskFailure) {
        for set in sets {
            release(set.request.key)
            let failure: SyncFailure =
                switch failure {
                case .full: .storageFull
                case .failed(let text): .storageFailed(text)
                }
            actions.append(.answer(set.request.token, .failed(failure)))
        }
    }

    // MARK: Verdicts

    /// What became of a write.
    enum Decision {
        case applied(Cursor)
        /// Decided no later than this; whether and where it took effect, only a look at the record tells.
        case settled(Cursor)
        case rejected(Problem)
    }

    mutating func planVerdicts(_ results: WriteResults, _ lastWrite: Int64?) -> Plan? {
        var plan = Plan(.verdicts)
        for outcome in results.results {
            guard let place = outbox.place(ofNumber: outcome.number), let pending = pending(place.key, in: plan),
                let row = pending.rows.first(where: { $0.receipt == place.receipt && $0.state == .pending })
            else { continue }
            switch outcome.verdict {
            case .applied(let revision?):
                let position = Cursor(epoch: results.cursor.epoch, revision: revision)
                decide(row, .applied(position), in: &plan)
                takeOwnEffect(of: row, at: position, in: &plan)
            case .applied(nil), .settled: decide(row, .settled(results.cursor), in: &plan)
            case .rejected(let problem):
                // The record as this answer's batch left it.
                if let current = problem.current, current.key == row.key {
                    takeCurrent(current, results.cursor.epoch, lastWrite, in: &plan)
                }
                decide(row, .rejected(problem), in: &plan)
            }
        }
        settleAll(.confirmed, in: &plan)
        return plan
    }

    /// The verdict on a write, wherever it comes from: for the row, for writes that waited for it, and for its writer.
    mutating func decide(_ row: OutboxRow, _ decision: Decision, in plan: inout Plan) {
        guard var pending = pending(row.key, in: plan), let index = pending.rows.firstIndex(where: { $0.receipt == row.receipt }) else {
            return
        }
        let problem = sender.voided.removeValue(forKey: row.number)
        var verdict: WriteVerdict?
        var cause = Cause.confirmed
        switch decision {
        case .applied(let position):
            pending.rows[index].state = .applied(position)
            verdict = .applied(position.revision)
            plan.floors.append((.key(row.key), position.revision))
        case .settled(let position):
            pending.rows[index].state = .settled(position)
            verdict = .applied(nil)
        case .rejected(let rejection):
            cause = .rolledBack
            if case .merge = row.policy, rejection.code == .preconditionFailed, problem == nil, row.attempts < settings.mergeAttempts {
                pending.rows[index].state = .merging
            } else {
                pending.rows.remove(at: index)
                verdict = .rejected(problem ?? rejection)
            }
        }
        let next = Self.precondition(after: row, decision)
        for place in pending.rows.indices where pending.rows[place].precondition == .after(row.receipt) {
            pending.rows[place].precondition = next
        }
        plan.stage(pending, cause)
        if let verdict {
            plan.verdicts.append((row.receipt, row.key, verdict))
            plan.notes.append(StoryNote(at: now.wall, scope: .key(row.key), what: verdict.note(row.receipt)))
        }
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
    private mutating func takeOwnEffect(of row: OutboxRow, at position: Cursor, in plan: inout Plan) {
        let content: Content?
        switch row.operation {
        case .put(let own): content = own
        case .delete: content = nil
        case .patch, .increment: return
        }
        let entry = Entry(
            key: row.key, epoch: position.epoch, revision: position.revision, asOf: position.revision, pass: state.pass, content: content,
            verifiedAt: now.wall, origin: .ownWrite)
        guard let entry = news(entry, in: plan) else { return }
        let stated = WriteWatermark(epoch: position.epoch, number: row.number)
        apply(.put(entry, onlyIfHeld: false), to: row.key, .confirmed, stated: stated, in: &plan)
    }

    private mutating func takeCurrent(_ record: Record, _ epoch: Epoch, _ lastWrite: Int64?, in plan: inout Plan) {
        guard let content = record.content, let lastWrite else { return }
        let entry = Entry(
            key: record.key, epoch: epoch, revision: record.revision, asOf: record.revision, pass: state.pass, content: content,
            modified: record.modified, verifiedAt: now.wall, origin: .rejection)
        guard let entry = news(entry, in: plan) else { return }
        // A read that was asked for before may answer with less, and the entry may be gone by then: what a pass has not brought goes at its end.
        plan.floors.append((.key(record.key), record.revision))
        let stated = WriteWatermark(epoch: epoch, number: lastWrite)
        apply(.put(entry, onlyIfHeld: false), to: record.key, .rolledBack, stated: stated, in: &plan)
    }

    /// An outcome's record, which may be as old as the first attempt, if it goes beyond what the feed has told of the key since.
    private func news(_ entry: Entry, in plan: Plan) -> Entry? {
        var entry = entry
        // While all is read anew, nobody tells of deletes before the beginning: only what the pass brings as well may stay, or what is
        // beyond its end.
        if state.verification != .complete || state.cursor == nil { entry.pass -= 1 }
        if let base = pending(entry.key, in: plan)?.base { return entry.supersedes(base) ? entry : nil }
        // What the device showed of the key before it was swept away may have been newer, whether the feed is to tell of it or not.
        guard let position = state.cursor ?? state.lostCursor, position.epoch == entry.epoch else { return entry }
        return entry.revision > position.revision ? entry : nil
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
