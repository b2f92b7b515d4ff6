import FreshetWire

/// From the user's calls to rows on disk.
extension PlanBuilder {
    /// Adds all that wait. Returns those whose values cannot take the operation.
    mutating func add(_ requests: [SetRequest], over base: (RecordKey) -> Entry?) -> [(request: SetRequest, failure: SyncFailure)] {
        var accepted: [(SetRequest, Receipt)] = []
        var refused: [(request: SetRequest, failure: SyncFailure)] = []
        var number = state.nextNumber
        var receipt = state.nextReceipt
        for request in requests {
            var pending = pending(request.key) ?? PendingKey(key: request.key, base: base(request.key))
            do throws(SyncFailure) {
                let row = try row(for: request, over: pending, Receipt(receipt), number)
                pending.rows.append(row)
                stage(pending, .written)
                note(.key(request.key), .written(row.receipt))
                accepted.append((request, row.receipt))
                number += 1
                receipt += 1
            } catch { refused.append((request, error)) }
        }
        continueWith(.sets(accepted.map(\.0), accepted: accepted.map(\.1)))
        change(.nextNumber(number), .nextReceipt(receipt))
        return refused
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
        // An earlier write of this device that has no verdict yet decides what this one must find.
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
}
