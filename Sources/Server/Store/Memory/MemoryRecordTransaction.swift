internal import FreshetWire

/// The content of a ``MemoryRecordStore``, and its write transaction: one at a time.
final class MemoryRecordTransaction: RecordTransaction {
    private var source: EpochSource
    private var generations: [Int64: Int64] = [:]
    private var namespaces: [Namespace: MemoryNamespace] = [:]
    private var made = 0
    private var access = AccessTable()
    private(set) var mark: RetentionClock.Mark?
    private var touched: [MemoryNamespaceTransaction] = []
    private var undo: [(MemoryRecordTransaction) -> Void] = []

    init(seed: UInt64) { source = EpochSource(seed: seed) }

    /// The whole content between two transactions.
    struct Image: Sendable {
        fileprivate var source: EpochSource
        fileprivate var generations: [Int64: Int64]
        fileprivate var namespaces: [Namespace: MemoryNamespace.Image]
        fileprivate var made: Int
        fileprivate var access: AccessTable
        fileprivate var mark: RetentionClock.Mark?
    }

    var image: Image {
        Image(source: source, generations: generations, namespaces: namespaces.mapValues(\.image), made: made, access: access, mark: mark)
    }

    init(_ image: Image) {
        source = image.source
        generations = image.generations
        namespaces = image.namespaces.mapValues { MemoryNamespace($0) }
        made = image.made
        access = image.access
        mark = image.mark
    }

    /// Creates the content of a promoted standby: that of the image, in new epochs.
    convenience init(promoting image: Image, seed: UInt64) {
        self.init(image)
        source = EpochSource(seed: seed)
        for namespace in namespaces.values { namespace.continueHistory(in: unmade(namespace.name).epoch) }
    }

    /// The namespace of this name; `nil` for one that no write has made yet.
    func made(_ name: Namespace) -> MemoryNamespace? { namespaces[name] }

    /// The namespaces that writes have made, by name.
    var names: [Namespace] { namespaces.keys.sorted() }

    /// Those among them with this prefix. O(namespaces + found log found).
    func names(withPrefix prefix: String) -> [Namespace] { namespaces.keys.filter { $0.name.utf8.starts(with: prefix.utf8) }.sorted() }

    func unmade(_ name: Namespace) -> NamespaceState {
        NamespaceState(unmade: source.epoch(of: name, generation: generations[EpochSource.bucket(of: name)] ?? 0))
    }

    func run<Result>(_ body: (any RecordTransaction) throws -> Result) throws -> Result {
        do {
            let result = try body(self)
            access.commit()
            for namespace in touched.map(\.namespace) {
                namespace.commit()
                // Its first write was undone.
                if namespace.number == nil, namespaces[namespace.name] === namespace { namespaces[namespace.name] = nil }
            }
            touched.removeAll(keepingCapacity: true)
            undo.removeAll(keepingCapacity: true)
            return result
        } catch {
            for namespace in touched { namespace.namespace.rollBack() }
            touched.removeAll(keepingCapacity: true)
            while let step = undo.popLast() { step(self) }
            access.rollBack()
            throw error
        }
    }

    func namespace(_ name: Namespace) -> any NamespaceTransaction {
        if let open = touched.last(where: { $0.namespace.name == name && isPresent($0.namespace) }) { return open }
        let transaction = MemoryNamespaceTransaction(namespaces[name] ?? MemoryNamespace(name, unmade: unmade(name).epoch)) {
            [unowned self] in
            make($0)
        }
        touched.append(transaction)
        return transaction
    }

    /// Whether the namespace is still the one of its name: not if it was dropped since, or was never made while the
    /// epochs changed.
    private func isPresent(_ namespace: MemoryNamespace) -> Bool {
        namespaces[namespace.name].map { $0 === namespace } ?? (namespace.number == nil && namespace.state == unmade(namespace.name))
    }

    private func make(_ namespace: MemoryNamespace) {
        made += 1
        namespace.make(made)
        namespaces[namespace.name] = namespace
        undo.append {
            $0.made -= 1
            $0.namespaces[namespace.name] = nil
        }
    }

    func raise(_ mark: RetentionClock.Mark) -> RetentionClock.Mark {
        let old = self.mark
        undo.append { $0.mark = old }
        let raised = RetentionClock.Mark(time: max(mark.time, old?.time ?? mark.time), wall: max(mark.wall, old?.wall ?? mark.wall))
        self.mark = raised
        return raised
    }

    func touch() {}

    func accessVersion() -> AccessVersion { access.version }

    func accessChanges(after version: AccessVersion?) -> AccessChanges { access.changes(after: version) }

    func keep(_ row: AccessRow) { access.set(row, AccessRow.Name(row.kind, row.name)) }

    func remove(_ kind: AccessRow.Kind, named name: String) { access.set(nil, AccessRow.Name(kind, name)) }

    func drop(_ name: Namespace) -> Bool {
        guard let namespace = namespaces.removeValue(forKey: name) else { return false }
        let bucket = EpochSource.bucket(of: name)
        let generation = generations[bucket]
        generations[bucket] = (generation ?? 0) + 1
        undo.append {
            $0.namespaces[name] = namespace
            $0.generations[bucket] = generation
        }
        return true
    }

    func rotateEpochs(seed: UInt64) {
        let old = source
        undo.append { $0.source = old }
        source = EpochSource(seed: seed)
        for name in namespaces.keys.sorted() {
            guard let namespace = namespaces[name] else { continue }
            touched.append(MemoryNamespaceTransaction(namespace) { _ in })
            namespace.setEpoch(unmade(name).epoch)
        }
    }

    func renewEpoch(of name: Namespace, seed: UInt64) -> Bool {
        guard let namespace = namespaces[name] else { return false }
        touched.append(MemoryNamespaceTransaction(namespace) { _ in })
        namespace.setEpoch(EpochSource(seed: seed).epoch(of: name, generation: 0))
        return true
    }

    func forgetDeletes(of name: Namespace, limit: Int) -> Compaction {
        guard let namespace = namespaces[name] else { return Compaction() }
        let all = Forgettable.all(in: namespace).sorted { $0.isBefore($1) }
        return forget(all, limit: limit)
    }

    func compact(before time: Timestamp, limit: Int) -> Compaction {
        var forgettable: [Forgettable] = []
        for namespace in namespaces.values { forgettable += Forgettable.all(in: namespace) { $0 < time } }
        // Deletes before invalidations, and the oldest first, as in the SQLite store.
        forgettable.sort { $0.rank < $1.rank }
        return forget(forgettable, limit: limit)
    }

    func forgetOutcomes(before time: Timestamp, limit: Int) -> Compaction {
        var compaction = Compaction()
        var room = limit
        for name in names {
            guard room > 0, let namespace = namespaces[name] else { break }
            touched.append(MemoryNamespaceTransaction(namespace) { _ in })
            for (identifier, client) in namespace.clients where room > 0 && client.day < time.day && !client.outcomes.isEmpty {
                compaction.outcomes += client.outcomes.count
                room -= client.outcomes.count + 1
                namespace.set(MemoryNamespace.Client(last: client.last, day: client.day, owner: client.owner), for: identifier)
            }
        }
        compaction.isComplete = room > 0
        return compaction
    }

    private func forget(_ forgettable: [Forgettable], limit: Int) -> Compaction {
        for item in forgettable.prefix(limit) {
            touched.append(MemoryNamespaceTransaction(item.namespace) { _ in })
            item.forget()
        }
        return Compaction(forgotten: min(forgettable.count, limit), isComplete: forgettable.count < limit)
    }
}

/// A delete or an invalidation that may be forgotten.
private struct Forgettable {
    var namespace: MemoryNamespace
    var rank: Rank
    var forget: () -> Void

    struct Rank: Comparable {
        var isInvalidation: Bool
        var time: Timestamp
        var namespace: Int
        var revision: Revision

        static func < (left: Rank, right: Rank) -> Bool {
            (left.isInvalidation ? 1 : 0, left.time, left.namespace, left.revision)
                < (right.isInvalidation ? 1 : 0, right.time, right.namespace, right.revision)
        }
    }

    /// The order within one namespace, whatever the time.
    func isBefore(_ other: Forgettable) -> Bool {
        (rank.isInvalidation ? 1 : 0, rank.revision) < (other.rank.isInvalidation ? 1 : 0, other.rank.revision)
    }

    static func all(in namespace: MemoryNamespace, isOld: (Timestamp) -> Bool = { _ in true }) -> [Forgettable] {
        let number = namespace.number ?? 0
        let tombstones = namespace.records.filter { $0.value.content == nil && isOld($0.value.time.retention) }.map { key, entry in
            Forgettable(
                namespace: namespace,
                rank: Rank(isInvalidation: false, time: entry.time.retention, namespace: number, revision: entry.revision)
            ) { namespace.forget(key, entry) }
        }
        let invalidations = namespace.invalidations.filter { isOld($0.value.time.retention) }.map { scope, entry in
            Forgettable(
                namespace: namespace,
                rank: Rank(isInvalidation: true, time: entry.time.retention, namespace: number, revision: entry.revision)
            ) { namespace.forget(scope, entry) }
        }
        return tombstones + invalidations
    }
}
