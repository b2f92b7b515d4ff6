internal import DequeModule
internal import FreshetWire

/// One namespace in memory within a write transaction.
final class MemoryNamespaceTransaction: NamespaceTransaction {
    let namespace: MemoryNamespace
    /// Adds the namespace to the store, at the first write to it.
    private let make: (MemoryNamespace) -> Void

    init(_ namespace: MemoryNamespace, make: @escaping (MemoryNamespace) -> Void) {
        self.namespace = namespace
        self.make = make
    }

    var state: NamespaceState { namespace.state }

    var counts: NamespaceCounts { namespace.counts }

    func existingRow(of key: RecordKey) -> ExistingRow? {
        namespace.records[key].map {
            ExistingRow(row: 0, revision: $0.revision, size: $0.content?.bytes.count, isJSON: $0.content?.isJSON ?? false)
        }
    }

    func record(_ key: RecordKey) -> Record? { namespace.records[key]?.record(key) }

    func outline(_ key: RecordKey) -> Record? { record(key)?.outline }

    func put(_ content: Content, at key: RecordKey, over _: ExistingRow?, _ metadata: WriteMetadata) throws -> Revision {
        try set(content, at: key, metadata)
    }

    func delete(_ key: RecordKey, _: ExistingRow, _ metadata: WriteMetadata) throws -> Revision { try set(nil, at: key, metadata) }

    private func set(_ content: Content?, at key: RecordKey, _ metadata: WriteMetadata) throws -> Revision {
        makeIfNeeded()
        let revision = try namespace.nextRevision()
        let entry = MemoryNamespace.Entry(
            revision: revision, content: content, time: metadata.time, author: metadata.author, firstOfBatch: metadata.firstOfBatch)
        namespace.set(entry, at: key)
        return revision
    }

    func invalidate(_ scope: InvalidationScope, at time: WriteTime) throws -> Revision {
        makeIfNeeded()
        let revision = try namespace.nextRevision()
        namespace.set(MemoryNamespace.Invalidation(revision: revision, time: time), for: scope)
        return revision
    }

    func lastWrite(of client: ClientIdentifier) -> Int64 { namespace.clients[client]?.last ?? 0 }

    func owner(of client: ClientIdentifier) -> ClientOwner? { namespace.clients[client]?.owner }

    func outcomes(of numbers: ClosedRange<Int64>, by client: ClientIdentifier) -> OutcomeRead {
        OutcomeRead(outcomes: namespace.clients[client]?.outcomes.filter { numbers.overlaps($0.numbers) } ?? [])
    }

    func keep(_ outcomes: [StoredOutcome], of client: ClientIdentifier, owner: ClientOwner?, settled: Int64, at time: Timestamp) {
        guard let last = outcomes.last?.number else { return }
        makeIfNeeded()
        var kept = namespace.clients[client] ?? MemoryNamespace.Client()
        kept.last = last
        kept.day = time.day
        kept.owner = owner ?? kept.owner
        for outcome in outcomes {
            kept.outcomes.append(outcome)
            kept.outcomeBytes += outcome.byteCount
        }
        while let first = kept.outcomes.first, first.number <= settled {
            kept.outcomes.removeFirst()
            kept.outcomeBytes -= first.byteCount
        }
        namespace.set(kept, for: client)
    }

    func atomically<Result>(_ body: () throws -> Result) throws -> Result {
        let mark = namespace.mark
        do { return try body() } catch {
            namespace.rollBack(to: mark)
            throw error
        }
    }

    private func makeIfNeeded() {
        if namespace.number == nil { make(namespace) }
    }
}

extension StoredOutcome {
    /// About how many bytes the outcome would take in a file.
    fileprivate var byteCount: Int {
        guard case .rejected(let problem) = verdict else { return 8 }
        return 150 + problem.detail.utf8.count
    }
}
