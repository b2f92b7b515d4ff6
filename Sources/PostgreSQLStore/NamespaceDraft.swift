#if PostgreSQL
internal import FreshetServer
internal import FreshetWire

/// The changes of one namespace in a transaction, and what the transaction has read of it. Touches no connection.
///
/// Of several changes of one row only the last is written, when the transaction ends.
final class NamespaceDraft {
    /// A record or tombstone that is to be written.
    struct Pending {
        var revision: Revision
        /// `nil` for a tombstone.
        var content: Content?
        var metadata: WriteMetadata

        func record(_ key: RecordKey) -> Record? {
            content.map { Record(key: key, revision: revision, content: $0, modified: metadata.modified) }
        }

        var existing: ExistingRow {
            ExistingRow(row: 0, revision: revision, size: content?.bytes.count, isJSON: content?.isJSON ?? false)
        }
    }

    struct Client {
        /// The number of its last write.
        var last: Int64 = 0
        /// The day of its last write; `nil` while no outcomes of it are kept.
        var day: Int64?
        /// Outcomes of numbers up to here were removed.
        var removed: Int64 = 0
        /// `nil` if the name has no owner.
        var owner: ClientOwner?
    }

    /// Outcomes of one batch, as many as one row has.
    struct KeptBatch {
        var last: Int64
        var outcomes: ArraySlice<StoredOutcome>
        var encoded: [UInt8]
    }

    struct Invalidation {
        var revision: Revision
        var time: WriteTime
    }

    /// The records and tombstones that were read; `nil` for a key that holds none.
    private(set) var known: [RecordKey: RecordRow?] = [:]
    /// The rows of clients that were read; `nil` for a client that has none.
    private(set) var knownClients: [ClientIdentifier: Client?] = [:]

    let name: Namespace
    /// The number of invalidations in the table before the transaction.
    let storedInvalidations: Int
    private(set) var row: NamespaceRow
    private(set) var isChanged = false
    private(set) var records: [RecordKey: Pending] = [:]
    private(set) var invalidations: [InvalidationScope: Invalidation] = [:]
    /// The scopes whose earlier invalidations, and those within them, are to be removed.
    private(set) var sweeps: Set<InvalidationScope> = []
    private(set) var clients: [ClientIdentifier: Client] = [:]
    private(set) var outcomes: [ClientIdentifier: [KeptBatch]] = [:]
    /// Differences to the counts in the table.
    private(set) var addedOutcomes = 0
    private(set) var addedOutcomeBytes = 0

    private var undo: [(NamespaceDraft) -> Void] = []
    private var depth = 0

    init(_ name: Namespace, _ row: NamespaceRow) {
        self.name = name
        self.row = row
        storedInvalidations = row.counts.invalidations
    }

    // MARK: Reading

    func learn(_ found: RecordRow?, of key: RecordKey) { known[key] = .some(found) }

    func learn(_ found: Client?, of client: ClientIdentifier) { knownClients[client] = .some(found) }

    // MARK: Changing

    func nextRevision() throws -> Revision {
        guard let next = row.state.head.next else { throw StoreError.revisionsExhausted(name) }
        row.state.head = next
        isChanged = true
        return next
    }

    func put(_ content: Content?, at key: RecordKey, over existing: ExistingRow?, _ metadata: WriteMetadata) throws -> Revision {
        let revision = try nextRevision()
        let (was, size) = (existing.map { $0.size != nil }, existing?.size ?? 0)
        row.state.records += (content == nil ? 0 : 1) - (was == true ? 1 : 0)
        row.state.bytes += (content?.bytes.count ?? 0) - size
        row.counts.tombstones += (content == nil ? 1 : 0) - (was == false ? 1 : 0)
        if depth > 0 {
            let old = records[key]
            undo.append { $0.records[key] = old }
        }
        records[key] = Pending(revision: revision, content: content, metadata: metadata)
        if !invalidations.isEmpty { removeInvalidation(.key(key)) }
        return revision
    }

    func invalidate(_ scope: InvalidationScope, at time: WriteTime) throws -> Revision {
        let revision = try nextRevision()
        if !invalidations.isEmpty {
            if case .key = scope {
                removeInvalidation(scope)
            } else {
                for narrower in invalidations.keys where scope.covers(narrower) { removeInvalidation(narrower) }
            }
        }
        if depth > 0 {
            let isNew = !sweeps.contains(scope)
            undo.append {
                $0.invalidations[scope] = nil
                if isNew { $0.sweeps.remove(scope) }
            }
        }
        invalidations[scope] = Invalidation(revision: revision, time: time)
        sweeps.insert(scope)
        row.counts.invalidations += 1
        return revision
    }

    private func removeInvalidation(_ scope: InvalidationScope) {
        guard let old = invalidations.removeValue(forKey: scope) else { return }
        row.counts.invalidations -= 1
        if depth > 0 { undo.append { $0.invalidations[scope] = old } }
    }

    func set(_ client: Client, for identifier: ClientIdentifier, isNew: Bool) {
        if depth > 0 {
            let old = clients[identifier]
            undo.append { $0.clients[identifier] = old }
        }
        clients[identifier] = client
        if isNew { row.counts.clients += 1 }
        isChanged = true
    }

    func keep(_ batch: KeptBatch, of client: ClientIdentifier) {
        if depth > 0 {
            let (count, bytes) = (batch.outcomes.count, batch.encoded.count)
            undo.append {
                $0.outcomes[client]?.removeLast()
                $0.addedOutcomes -= count
                $0.addedOutcomeBytes -= bytes
            }
        }
        outcomes[client, default: []].append(batch)
        addedOutcomes += batch.outcomes.count
        addedOutcomeBytes += batch.encoded.count
        row.counts.outcomes += batch.outcomes.count
        row.counts.outcomeBytes += batch.encoded.count
        isChanged = true
    }

    /// Runs the closure and undoes its changes if it throws.
    func atomically<Result>(_ body: () throws -> Result) throws -> Result {
        let (mark, before) = (undo.count, (row, isChanged))
        depth += 1
        defer {
            depth -= 1
            if depth == 0 { undo.removeAll(keepingCapacity: true) }
        }
        do { return try body() } catch {
            while undo.count > mark { undo.removeLast()(self) }
            (row, isChanged) = before
            throw error
        }
    }

    // MARK: Writing

    /// The row got its number.
    func made(_ id: Int64) { row.id = id }

    /// The number of invalidations that are added, apart from those that are removed from the table.
    var addedInvalidations: Int { invalidations.count }
}
#endif
