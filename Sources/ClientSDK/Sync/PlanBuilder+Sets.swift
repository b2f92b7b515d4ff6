import FreshetWire

/// Plans for the user's writes.
extension PlanBuilder {
    /// Adds all waiting writes. Returns those whose values cannot take the operation.
    mutating func add(_ requests: [SetRequest], over base: (RecordKey) -> Entry?) -> [(request: SetRequest, failure: SyncFailure)] {
        var accepted: [(SetRequest, LocalWriteID)] = []
        var refused: [(request: SetRequest, failure: SyncFailure)] = []
        var number = state.nextNumber
        var writeID = state.nextWriteID
        for request in requests {
            let seen = base(request.key)
            var pending = pending(request.key) ?? PendingKey(key: request.key, base: covers(request.key) ? seen : nil)
            do throws(SyncFailure) {
                if let retried = request.retries, !rejections.contains(retried) { throw .noRejection }
                let (row, overlay) = try row(for: request, over: pending, seen: seen, LocalWriteID(writeID), number)
                // A file that followed more may hold the record until the change of settings is stored.
                if pending.rows.isEmpty, !covers(request.key) { applyOnDisk(.remove(request.key)) }
                pending.append(row, showing: overlay)
                stage(pending)
                note(.key(request.key), .written(row.writeID))
                if let retried = request.retries { change(.remove(retried)) }
                accepted.append((request, row.writeID))
                if !row.isHeld { number += 1 }
                writeID += 1
            } catch { refused.append((request, error)) }
        }
        setOnCommit(.sets(accepted.map(\.0), accepted: accepted.map(\.1)))
        change(.nextNumber(number), .nextWriteID(writeID))
        return refused
    }

    /// Returns the row of a write, and the overlay of its key with the write.
    ///
    /// - Parameter seen: the record that the user saw last; where the device does not follow it, it may have changed since.
    private func row(
        for request: SetRequest, over pending: PendingKey, seen: Entry?, _ writeID: LocalWriteID, _ number: Int64
    ) throws(SyncFailure) -> (OutboxRow, Overlay) {
        let before = covers(request.key) || !pending.rows.isEmpty ? pending.overlay : Overlay(seen)
        let operation = Self.operation(of: request, over: before)
        var after = pending.overlay
        // Only of a record that it follows can the device know that it does not take the operation.
        do { try after.apply(operation) } catch  where covers(request.key) { throw error } catch {}
        var row = OutboxRow(
            writeID: writeID, number: number, key: request.key, operation: operation, policy: request.policy,
            baseRevision: (pending.base ?? seen).map(revision) ?? (request.isKnownAbsent ? .zero : nil), created: now.wall,
            nonce: nonce(of: writeID))
        // A merge is a new write, and would undo a later write that was sent before it.
        if pending.rows.counts.merging > 0 { (row.state, row.number) = (.held, OutboxRow.unnumbered) }
        guard request.policy != .lastWriterWins else { return (row, after) }
        // An earlier write of this device without an outcome decides the state that this one must find.
        if let earlier = pending.rows.last {
            switch earlier.state {
            case .pending, .held, .merging: row.precondition = .after(earlier.writeID)
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
            case .unknown where request.isKnownAbsent: break
            case .unknown, .elsewhere: throw .baseUnknown
            }
        }
        return (row, after)
    }

    /// Returns the operation to send. An increment can be rejected if the record that its user saw has gone by its arrival.
    private static func operation(of request: SetRequest, over before: Overlay) -> WriteOperation {
        guard request.rejectsIfGone, case .increment(var increment) = request.operation else { return request.operation }
        if before.isRecord { increment.onMissing = .reject }
        return .increment(increment)
    }

    /// Returns a nonce that distinguishes the write from one to which a copy of this device gives the same number.
    func nonce(of writeID: LocalWriteID) -> Int64 {
        var random = SeededRandom(now.random ^ UInt64(bitPattern: writeID.number))
        return random.below(Revision.maximum.number) + 1
    }

    /// Returns the revision that the server must find if its record is this one. For a record of another history it is
    /// the maximum, which never matches.
    func revision(of entry: Entry) -> Revision {
        guard !entry.isAbsent else { return .zero }
        return entry.epoch == state.epoch ? entry.revision : .maximum
    }
}
