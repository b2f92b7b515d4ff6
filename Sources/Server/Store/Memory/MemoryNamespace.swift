internal import DequeModule
internal import FreshetWire

/// One namespace in memory. Each mutation records how it is undone, so that a transaction needs no copy of the whole.
final class MemoryNamespace {
    /// A record or, without a value, a tombstone.
    struct Entry: Sendable {
        var revision: Revision
        var content: Content?
        var time: WriteTime
        var author: Change.Author?
        /// The first revision of its atomic batch.
        var firstOfBatch: Revision?

        func record(_ key: RecordKey) -> Record? {
            content.map { Record(key: key, revision: revision, content: $0, modified: time.wall) }
        }
    }

    struct Invalidation: Sendable {
        var revision: Revision
        var time: WriteTime
    }

    struct Client: Sendable {
        var last: Int64 = 0
        /// The latest outcomes, with consecutive numbers up to `last`.
        var outcomes: Deque<StoredOutcome> = []
        /// About how many bytes the outcomes would take in a file.
        var outcomeBytes = 0
        /// The day of its last write.
        var day: Int64 = 0
        var owner: ClientOwner?
    }

    struct IndexedRevision: Sendable {
        var revision: Revision
        var key: RecordKey
    }

    let name: Namespace
    /// Counts namespaces in the order in which they were made; `nil` for one that no write has made yet.
    private(set) var number: Int?
    private(set) var state: NamespaceState
    private(set) var records: [RecordKey: Entry] = [:]
    private(set) var invalidations: [InvalidationScope: Invalidation] = [:]
    private(set) var clients: [ClientIdentifier: Client] = [:]
    private var outcomes = 0
    private var outcomeBytes = 0
    /// The records in revision order. A place whose record has a later revision is skipped, and removed now and then.
    private(set) var order: [IndexedRevision] = []
    private var undo: [(MemoryNamespace) -> Void] = []

    init(_ name: Namespace, unmade epoch: Epoch) {
        self.name = name
        state = NamespaceState(unmade: epoch)
    }

    /// The whole content between two transactions.
    struct Image: Sendable {
        fileprivate var name: Namespace
        fileprivate var number: Int?
        fileprivate var state: NamespaceState
        fileprivate var records: [RecordKey: Entry]
        fileprivate var invalidations: [InvalidationScope: Invalidation]
        fileprivate var clients: [ClientIdentifier: Client]
        fileprivate var outcomes: Int
        fileprivate var outcomeBytes: Int
        fileprivate var order: [IndexedRevision]
    }

    var image: Image {
        Image(
            name: name, number: number, state: state, records: records, invalidations: invalidations, clients: clients, outcomes: outcomes,
            outcomeBytes: outcomeBytes, order: order)
    }

    init(_ image: Image) {
        (name, number, state) = (image.name, image.number, image.state)
        (records, invalidations, clients, order) = (image.records, image.invalidations, image.clients, image.order)
        (outcomes, outcomeBytes) = (image.outcomes, image.outcomeBytes)
    }
}

extension MemoryNamespace {
    var counts: NamespaceCounts {
        var counts = NamespaceCounts()
        counts.tombstones = records.count - state.records
        counts.invalidations = invalidations.count
        counts.clients = clients.count
        counts.outcomes = outcomes
        counts.outcomeBytes = outcomeBytes
        return counts
    }
}

// MARK: Mutations

extension MemoryNamespace {
    func make(_ number: Int) {
        undo.append { $0.number = nil }
        self.number = number
    }

    func setEpoch(_ epoch: Epoch) {
        noteState()
        state.epoch = epoch
        state.lineage = nil
    }

    /// Begins another epoch, with everything that the present one has.
    func continueHistory(in epoch: Epoch) {
        state.lineage = Lineage(previous: state.epoch, fork: state.head)
        state.epoch = epoch
    }

    func nextRevision() throws -> Revision {
        guard let next = state.head.next else { throw StoreError.revisionsExhausted(name) }
        noteState()
        state.head = next
        return next
    }

    func set(_ entry: Entry, at key: RecordKey) {
        noteState()
        let old = records[key]
        let places = order.count
        undo.append {
            $0.records[key] = old
            $0.order.removeSubrange(places...)
        }
        records[key] = entry
        order.append(IndexedRevision(revision: entry.revision, key: key))
        state.records += (entry.content == nil ? 0 : 1) - (old?.content == nil ? 0 : 1)
        state.bytes += (entry.content?.bytes.count ?? 0) - (old?.content?.bytes.count ?? 0)
        removeInvalidation(.key(key))
    }

    func set(_ invalidation: Invalidation, for scope: InvalidationScope) {
        // A key covers itself alone. A look at all others for each would take the square of the time for many keys.
        if case .key = scope {
            removeInvalidation(scope)
        } else {
            for narrower in invalidations.keys where scope.covers(narrower) { removeInvalidation(narrower) }
        }
        undo.append { $0.invalidations[scope] = nil }
        invalidations[scope] = invalidation
    }

    private func removeInvalidation(_ scope: InvalidationScope) {
        guard let old = invalidations.removeValue(forKey: scope) else { return }
        undo.append { $0.invalidations[scope] = old }
    }

    func set(_ client: Client, for identifier: ClientIdentifier) {
        let old = clients[identifier]
        let (oldOutcomes, oldBytes) = (outcomes, outcomeBytes)
        undo.append {
            $0.clients[identifier] = old
            ($0.outcomes, $0.outcomeBytes) = (oldOutcomes, oldBytes)
        }
        clients[identifier] = client
        outcomes += client.outcomes.count - (old?.outcomes.count ?? 0)
        outcomeBytes += client.outcomeBytes - (old?.outcomeBytes ?? 0)
    }

    /// Forgets a tombstone.
    func forget(_ key: RecordKey, _ entry: Entry) {
        noteState()
        undo.append { $0.records[key] = entry }
        records[key] = nil
        state.forgotten = max(state.forgotten, entry.revision)
    }

    func forget(_ scope: InvalidationScope, _ invalidation: Invalidation) {
        noteState()
        removeInvalidation(scope)
        state.forgotten = max(state.forgotten, invalidation.revision)
    }

    private func noteState() {
        let old = state
        undo.append { $0.state = old }
    }

    // MARK: The end of a transaction

    /// The number of undo steps, to which the transaction can be rolled back.
    var mark: Int { undo.count }

    func rollBack(to mark: Int = 0) {
        while undo.count > mark { undo.removeLast()(self) }
    }

    func commit() {
        undo.removeAll(keepingCapacity: true)
        if order.count > 2 * records.count + 64 { order.removeAll { records[$0.key]?.revision != $0.revision } }
    }
}
