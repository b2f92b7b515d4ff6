import FreshetClient
import FreshetWire

/// What broken implementations do to a disk; see ``InjectedBug`` and ``SmallBug``.
extension VolatileStore {
    /// Replaces the entry of a key, or removes it, against the rules of the disk.
    mutating func overwrite(_ key: RecordKey, with entry: Entry?) {
        let eviction = entries[key].map { EntryOperation.evict(.key(key), before: Cursor(epoch: $0.epoch, revision: .maximum)) }
        let operations = [eviction, entry.map { .put($0, onlyIfCached: false) }].compactMap { $0 }
        _ = commit(DiskTransaction(id: TransactionID(0), entries: operations))
    }

    /// Stores the entries that the disk has skipped because they are older. Returns the indices of the operations that remain skipped.
    mutating func storeOlder(_ transaction: DiskTransaction, skipped: [Int]) -> [Int] {
        skipped.filter { index in
            guard case .put(let entry, _) = transaction.entries[index], let stored = entries[entry.key], stored != entry else {
                return true
            }
            overwrite(entry.key, with: entry)
            return false
        }
    }

    /// Takes the entries of these keys from an earlier state, and nothing else: the cursor is there, the records are not.
    mutating func loseRecords(of keys: [RecordKey], since earlier: VolatileStore) {
        for key in keys where earlier.entries[key] != entries[key] { overwrite(key, with: earlier.entries[key]) }
    }

    /// Removes all writes that are under way.
    mutating func dropOutbox() {
        _ = commit(DiskTransaction(id: TransactionID(0), outbox: rows.keys.sorted().map { .remove($0) }))
    }

    /// Counts all entries as verified, in the passes to come too.
    mutating func trustEntries() {
        let operations = entries.values.map { entry in
            EntryOperation.confirm(
                Revalidation(
                    key: entry.key, epoch: entry.epoch, revision: entry.revision, asOf: entry.asOf, pass: state.pass + 5,
                    verifiedAt: entry.verifiedAt))
        }
        _ = commit(DiskTransaction(id: TransactionID(0), entries: operations))
    }

    /// Stores each merge patch that the transaction says was applied as if it were the whole value.
    mutating func inventValues(_ transaction: DiskTransaction) {
        for case .put(let row) in transaction.outbox {
            guard case .patch(let patch) = row.operation, case .applied(let position) = row.state else { continue }
            let entry = Entry(
                key: row.key, epoch: position.epoch, revision: position.revision, asOf: position.revision, pass: state.pass,
                content: Content(checkedJSON: patch), verifiedAt: row.created, origin: .ownWrite)
            _ = commit(DiskTransaction(id: TransactionID(0), entries: [.put(entry, onlyIfCached: false)]))
        }
    }
}

extension DiskTransaction {
    /// Whether the device loses its position by it.
    var isReset: Bool { state.contains(.cursor(nil)) }
}
