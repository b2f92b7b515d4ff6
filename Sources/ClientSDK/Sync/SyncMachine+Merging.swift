import FreshetWire

/// Conflicts that the user's closure resolves: the rejected write goes on as a new one over the record that it met.
extension SyncMachine {
    mutating func advanceMerges() {
        guard now.uptime >= mergesNotBefore else { return }
        for key in outbox.mergingKeys {
            guard let pending = outbox.keys[key] else { continue }
            for row in pending.rows where row.state == .merging && openMerges[row.receipt] == nil {
                guard case .merge(let name) = row.policy else { continue }
                guard let base = pending.base, readForMerge.contains(key) || hasMoved(base, since: row) else {
                    // The rejection did not tell what is there now, so ask.
                    if fetches.items[key] == nil { refresh(key) }
                    continue
                }
                openMerges[row.receipt] = base
                var mine = Overlay(row.ancestor)
                try? mine.apply(row.operation)
                actions.append(
                    .merge(
                        MergeRequest(
                            receipt: row.receipt, key: key, name: name, base: row.ancestor, mine: mine.value.content,
                            theirs: base.content)))
            }
        }
        readForMerge.formIntersection(outbox.mergingKeys)
    }

    /// Whether the record is another than the one that the write wanted to find.
    private func hasMoved(_ base: Entry, since row: OutboxRow) -> Bool {
        guard base.epoch == state.epoch, base.pass == state.pass else { return false }
        guard case .revision(let revision) = row.precondition, revision != .maximum else { return false }
        return (base.content == nil ? .zero : base.revision) != revision
    }

    mutating func planMerged(_ receipt: Receipt, _ resolution: Resolution) -> Plan? {
        guard let theirs = openMerges[receipt], let key = outbox.mergingKeys.first(where: { holds($0, receipt) }),
            var pending = outbox.keys[key], let index = pending.rows.firstIndex(where: { $0.receipt == receipt })
        else { return nil }
        var plan = Plan(.merged)
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
                    attempts: row.attempts + 1,
                    created: row.created))
            plan.state = [.nextNumber(state.nextNumber + 1), .nextReceipt(state.nextReceipt + 1)]
            plan.verdicts.append((receipt, key, .merged(into: next)))
        } else {
            let detail =
                resolution == .takeTheirs
                ? "the record had changed, and the merge kept the other value"
                : "the record had changed, and no merge closure of that name is registered: register it before opening the cache"
            plan.verdicts.append((receipt, key, .rejected(Problem(.preconditionFailed, detail))))
        }
        plan.stage(pending, operation == nil ? .rolledBack : .written)
        for verdict in plan.verdicts {
            plan.notes.append(StoryNote(at: now.wall, scope: .key(key), what: verdict.verdict.note(receipt)))
        }
        settle([key], .rolledBack, in: &plan)
        return plan
    }

    private func holds(_ key: RecordKey, _ receipt: Receipt) -> Bool {
        outbox.keys[key]?.rows.contains { $0.receipt == receipt && $0.state == .merging } ?? false
    }
}
