package import FreshetWire
internal import Synchronization

/// A store that keeps its records in memory only, for tests and the simulator. It answers exactly as the embedded one
/// does, and the same calls give the same answers.
package final class MemoryRecordStore: RecordStore {
    private let content: Mutex<MemoryRecordTransaction>

    /// - Parameter seed: the store derives its epochs from it.
    package init(seed: UInt64) { content = Mutex(MemoryRecordTransaction(seed: seed)) }

    /// The whole content of a store at one moment. O(1) to keep: the store copies the parts that it changes afterwards.
    package struct Backup: Sendable {
        fileprivate let image: MemoryRecordTransaction.Image
    }

    /// The store's present content. O(namespaces).
    package var backup: Backup { content.withLock { Backup(image: $0.image) } }

    /// Creates a store with the content of another when the back-up was made, its epochs included.
    package init(restoring backup: Backup) { content = Mutex(MemoryRecordTransaction(backup.image)) }

    /// Creates a store as a standby is after its promotion, which had received everything up to the back-up: with its content, in new
    /// epochs that continue its own. `seed` is random.
    package init(promoting backup: Backup, seed: UInt64) {
        content = Mutex(MemoryRecordTransaction(promoting: backup.image, seed: seed))
    }

    package func transaction<Result: Sendable>(
        touching scope: () -> TransactionScope, _ body: @Sendable (any RecordTransaction) throws -> Result
    ) throws -> Result {
        try content.withLock { try $0.run(body) }
    }

    package func namespaces(withPrefix prefix: String, limit: Int) -> [Namespace] {
        content.withLock { Array($0.names(withPrefix: prefix).prefix(limit)) }
    }

    package func retention() -> RetentionClock.Stored { content.withLock { RetentionClock.Stored(mark: $0.mark) } }

    package func accessVersion() -> AccessVersion { content.withLock { $0.accessVersion() } }

    package func accessChanges(after version: AccessVersion?) -> AccessChanges {
        content.withLock { $0.accessChanges(after: version) }
    }

    package func state(of namespace: Namespace) -> NamespaceState {
        content.withLock { $0.made(namespace)?.state ?? $0.unmade(namespace) }
    }

    package func counts(of namespace: Namespace) -> Snapshot<NamespaceCounts> {
        read(namespace) {
            $0.counts
        } unmade: {
            NamespaceCounts()
        }
    }

    package func totals() -> StoreTotals {
        content.withLock { content in
            var totals = StoreTotals()
            for namespace in content.names.compactMap(content.made) { totals.add(namespace) }
            return totals
        }
    }

    package func record(
        _ key: RecordKey, in namespace: Namespace, for client: ClientIdentifier? = nil, valueBytes: Int = .max
    ) -> Snapshot<Record?> {
        read(namespace, for: client) {
            let record = $0.records[key]?.record(key)
            return record.map { $0.size > valueBytes ? $0.outline : $0 }
        } unmade: {
            nil
        }
    }

    package func records(_ query: ListQuery, in namespace: Namespace) -> Snapshot<RecordSlice> {
        read(namespace) { namespace in
            let keys = namespace.records.keys.filter { key in
                key.collection == query.collection && key.id.utf8.starts(with: query.prefix.utf8)
                    && query.after.map { $0.utf8.lexicographicallyPrecedes(key.id.utf8) } ?? true
            }
            var scan = ListScan(query)
            for key in keys.sorted() {
                guard let entry = namespace.records[key] else { continue }
                let record = entry.record(key)
                guard scan.take(size: record?.size, id: { key.id }, record: { record }) else { break }
            }
            return scan.slice
        } unmade: {
            RecordSlice(records: [], next: nil)
        }
    }

    package func records(
        _ request: ReadsRequest, within bounds: ReadBounds, in namespace: Namespace
    ) -> Snapshot<DifferingRecords> {
        read(namespace, for: request.client) { namespace in
            var scan = ReadsScan(bounds)
            scan.walk(request.items) { item, room in
                let record = namespace.records[item.key]?.record(item.key)
                return record.map { $0.size > room ? $0.outline : $0 }
            }
            return scan.result
        } unmade: {
            var scan = ReadsScan(bounds)
            scan.walk(request.items) { _, _ in nil }
            return scan.result
        }
    }

    package func lastWrite(of client: ClientIdentifier, in namespace: Namespace) -> Snapshot<Int64> {
        read(namespace) {
            $0.clients[client]?.last ?? 0
        } unmade: {
            0
        }
    }

    package func owner(of client: ClientIdentifier, in namespace: Namespace) -> ClientOwner? {
        content.withLock { $0.made(namespace)?.clients[client]?.owner }
    }

    package func changes(_ query: ChangeQuery, in namespace: Namespace) throws(StoreError) -> Snapshot<ChangeQueryResult> {
        do {
            return try content.withLock { content in
                let made = content.made(namespace)
                let state = made?.state ?? content.unmade(namespace)
                switch state.start(of: query) {
                case .refused(let refusal): return Snapshot(.refused(refusal), state)
                case .read(let after, let origin):
                    var scan = ChangeScan(query: query, state: state, after: after, origin: origin)
                    if let made { try made.walk(&scan) }
                    return Snapshot(.changes(scan.result), state, lastWrite: query.client.map { made?.clients[$0]?.last ?? 0 })
                }
            }
        } catch { throw StoreError.failed(path: "memory", reason: String(describing: error)) }
    }

    private func read<Value: Sendable>(
        _ namespace: Namespace, for client: ClientIdentifier? = nil, _ made: @Sendable (MemoryNamespace) -> Value,
        unmade: @Sendable () -> Value
    ) -> Snapshot<Value> {
        content.withLock { content in
            guard let found = content.made(namespace) else {
                return Snapshot(unmade(), content.unmade(namespace), lastWrite: client.map { _ in 0 })
            }
            return Snapshot(made(found), found.state, lastWrite: client.map { found.clients[$0]?.last ?? 0 })
        }
    }
}

extension MemoryNamespace {
    /// Merges the records and the invalidations in revision order.
    fileprivate func walk(_ scan: inout ChangeScan) throws {
        let after = scan.reached
        let pending = invalidations.filter { $0.value.revision > after }.sorted { $0.value.revision < $1.value.revision }
        var rest = pending[...]
        var place = order.partition(after: after)
        while true {
            while place < order.count, records[order[place].key]?.revision != order[place].revision { place += 1 }
            let next = place < order.count ? order[place] : nil
            if let invalidation = rest.first, next.map({ invalidation.value.revision < $0.revision }) ?? true {
                rest.removeFirst()
                guard try take(invalidation.key, invalidation.value, &scan) else { return }
            } else if let next, let entry = records[next.key] {
                place += 1
                guard try take(next.key, entry, &scan) else { return }
            } else {
                return
            }
        }
    }

    private func take(_ key: RecordKey, _ entry: Entry, _ scan: inout ChangeScan) throws -> Bool {
        let inlineLimit = scan.query.inlineLimit
        return try scan.take(revision: entry.revision, isRecord: entry.content != nil, firstOfBatch: entry.firstOfBatch) { filter in
            guard filter.matches(key) else { return nil }
            guard let content = entry.content else { return (.delete(key), 0) }
            let isInline = content.bytes.count <= inlineLimit
            return (
                .put(key, content: isInline ? content : nil, contentType: content.type, size: content.bytes.count),
                isInline ? content.bytes.count : 0
            )
        } details: {
            (entry.time.wall, entry.author)
        }
    }

    private func take(_ scope: InvalidationScope, _ entry: Invalidation, _ scan: inout ChangeScan) throws -> Bool {
        try scan.take(revision: entry.revision, isRecord: false, firstOfBatch: nil) { filter in
            filter.matches(scope) ? (.invalidate(scope), 0) : nil
        } details: {
            (entry.time.wall, nil)
        }
    }
}

extension StoreTotals {
    fileprivate mutating func add(_ namespace: MemoryNamespace) {
        let added = namespace.counts
        namespaces += 1
        records += namespace.state.records
        bytes += namespace.state.bytes
        counts.tombstones += added.tombstones
        counts.invalidations += added.invalidations
        counts.clients += added.clients
        counts.outcomes += added.outcomes
        counts.outcomeBytes += added.outcomeBytes
    }
}

extension [MemoryNamespace.IndexedRevision] {
    /// The index of the first place after a revision. O(log n).
    fileprivate func partition(after revision: Revision) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if self[middle].revision > revision { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
