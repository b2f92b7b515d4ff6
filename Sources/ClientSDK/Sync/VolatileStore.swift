package import FreshetWire

/// The simplest implementation of the disk that ``SyncMachine`` expects: for a cache without a file, for the
/// simulator, and as the reference for the real disk.
///
/// A value type; a copy is the state after a crash. Keys are sorted only on demand, so nothing depends on a
/// dictionary's order.
package struct VolatileStore: Sendable {
    package private(set) var state: SyncState
    package private(set) var entries: [RecordKey: Entry] = [:]
    package private(set) var rows: [LocalWriteID: OutboxRow] = [:]
    package private(set) var watermarks: [RecordKey: WriteWatermark] = [:]
    /// Oldest first.
    package private(set) var rejections: [RejectedWrite] = []

    package init(client: ClientIdentifier) { state = SyncState(client: client) }

    /// The state from which a machine starts.
    package var persisted: PersistedState {
        let outbox = rows.values.sorted { ($0.number, $0.writeID) < ($1.number, $1.writeID) }
        let keys = Set(outbox.map(\.key)).sorted()
        return PersistedState(
            state: state, outbox: outbox, bases: keys.compactMap { entries[$0] }, watermarks: watermarks,
            needsRefresh: entries.values.contains(where: \.needsRefresh),
            rejections: rejections.map { RejectionEntry(writeID: $0.writeID, size: $0.size) })
    }

    /// Carries the transaction out and returns the indices of the entry operations that had no effect.
    package mutating func commit(_ transaction: DiskTransaction) -> [Int] {
        if let client = transaction.clear { self = VolatileStore(client: client) }
        if transaction.removesRecords { removeRecords() }
        let skipped = transaction.entries.indices.filter { !apply(transaction.entries[$0]) }
        if let unreadable = UnreadableRecords(transaction.entries) { removeRecords(unreadable) }
        for operation in transaction.outbox {
            switch operation {
            case .put(let row): rows[row.writeID] = row
            case .remove(let writeID): rows[writeID] = nil
            case .watermark(let key, let watermark): watermarks[key] = watermark
            }
        }
        for operation in transaction.rejections {
            switch operation {
            case .put(let write): rejections.append(write)
            case .remove(let writeID): rejections.removeAll { $0.writeID == writeID }
            }
        }
        for change in transaction.state { state.apply(change) }
        return skipped
    }

    private mutating func removeRecords() {
        entries = [:]
        rows = rows.filter { $0.value.isPending }
        let keys = Set(rows.values.map(\.key))
        watermarks = watermarks.filter { keys.contains($0.key) }
        for index in rejections.indices { rejections[index].problem.current = nil }
    }

    private mutating func removeRecords(_ unreadable: UnreadableRecords) {
        for index in rejections.indices {
            let key = rejections[index].key
            if unreadable.include(key, isHeld: entries[key] != nil) { rejections[index].problem.current = nil }
        }
    }

    /// Returns the cached keys that a query selects. O(number of entries).
    package func cachedKeys(_ query: CachedKeyQuery) -> [CachedKey] {
        let keys = entries.values.filter { entry in entry.isSelected(by: query.selection) && query.after.map { $0 < entry.key } ?? true }
        return keys.sorted { $0.key < $1.key }.prefix(query.limit).map(CachedKey.init)
    }

    /// Evicts an entry for want of room. Keys with rows in the outbox stay, and so do entries that the feed could set back.
    package mutating func evict(_ key: RecordKey) {
        guard let entry = entries[key], entry.isEvictable(state), !rows.values.contains(where: { $0.key == key }) else { return }
        entries[key] = nil
    }

    /// Applies the operation. Returns whether it had an effect.
    private mutating func apply(_ operation: EntryOperation) -> Bool {
        switch operation {
        case .put(let entry, _): return apply(operation, to: entry.key)
        case .confirm(let revalidation): return apply(operation, to: revalidation.key)
        case .withoutValue(let revalidation, _): return apply(operation, to: revalidation.key)
        case .evict(.key(let key), _), .invalidate(.key(let key), _), .remove(let key): return apply(operation, to: key)
        case .evict, .invalidate, .finishPass, .narrow, .inherit:
            var hadEffect = false
            for (key, entry) in entries {
                let updated = operation.applied(to: entry, of: key)
                guard updated != entry else { continue }
                entries[key] = updated
                hadEffect = true
            }
            return hadEffect
        }
    }

    private mutating func apply(_ operation: EntryOperation, to key: RecordKey) -> Bool {
        let stored = entries[key]
        let updated = operation.applied(to: stored, of: key)
        entries[key] = updated
        return updated != stored
    }
}
