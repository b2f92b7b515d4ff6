#if PostgreSQL
internal import FreshetPostgreSQL
internal import FreshetServer
internal import FreshetWire

/// Turns drafts into statements: a few for all namespaces together, whatever their number.
enum DraftWriter {
    /// How many invalidations within their scopes the sweeps of one transaction may remove together: all writers wait for them.
    private static let sweepLimit: Int64 = 1_000
    /// The most sweeps of one transaction that remove any: each is a statement. Those of the others stay until compaction.
    private static let mostRemovals = 8

    /// Makes the namespaces that have no row.
    static func making(_ drafts: [NamespaceDraft]) -> Request {
        var parameters = Parameters()
        parameters.add(array: drafts.map(\.name.name))
        parameters.add(array: drafts.map(\.row.base.token))
        parameters.add(array: drafts.map { Int32(truncatingIfNeeded: EpochSource.bucket(of: $0.name)) })
        parameters.add(array: drafts.map(\.row.generation))
        return Request(.makeNamespaces, parameters)
    }

    /// Writes the changes of namespaces, all of which have a row.
    static func writing(_ drafts: [NamespaceDraft]) -> [Request] {
        let drafts = drafts.compactMap { draft in draft.row.id.map { Numbered(id: $0, draft: draft) } }
        guard !drafts.isEmpty else { return [] }
        return [putRecords(drafts)].compactMap(\.self) + invalidations(drafts) + clients(drafts) + [putNamespaces(drafts)]
    }

    private struct Numbered {
        let id: Int64
        let draft: NamespaceDraft
    }

    private static func putRecords(_ drafts: [Numbered]) -> Request? {
        let rows = drafts.flatMap { draft in
            draft.draft.records.map { (id: draft.id, key: $0.key, record: $0.value) }.sorted { $0.record.revision < $1.record.revision }
        }
        guard !rows.isEmpty else { return nil }
        var parameters = Parameters()
        parameters.add(array: rows.lazy.map(\.id))
        parameters.add(array: rows.lazy.map(\.key.collection))
        parameters.add(array: rows.lazy.map(\.key.id))
        parameters.add(array: rows.lazy.map(\.record.revision.number))
        parameters.add(array: rows.lazy.map(\.record.metadata.modified.milliseconds))
        parameters.add(array: rows.lazy.map { $0.record.metadata.author?.client.text })
        parameters.add(array: rows.lazy.map(\.record.write))
        parameters.add(array: rows.lazy.map { row in row.record.content.flatMap { $0.isJSON ? nil : $0.type } })
        parameters.add(array: rows.lazy.map { $0.record.content == nil ? $0.record.metadata.time.retention.milliseconds : nil })
        parameters.add(array: rows.lazy.map { $0.record.content?.bytes })
        return Request(.putRecords, parameters)
    }

    private static func putNamespaces(_ drafts: [Numbered]) -> Request {
        var parameters = Parameters()
        parameters.add(array: drafts.map(\.id))
        parameters.add(array: drafts.map(\.draft.row.state.head.number))
        parameters.add(array: drafts.map { Int64($0.draft.row.state.records) })
        parameters.add(array: drafts.map { Int64($0.draft.row.state.bytes) })
        parameters.add(array: drafts.map { Int64($0.draft.row.counts.tombstones) })
        parameters.add(array: drafts.map { Int64($0.draft.row.counts.clients) })
        parameters.add(array: drafts.map { Int64($0.draft.addedInvalidations) })
        parameters.add(array: drafts.map { Int64($0.draft.addedOutcomes) })
        parameters.add(array: drafts.map { Int64($0.draft.addedOutcomeBytes) })
        return Request(.putNamespaces, parameters)
    }

    // MARK: Invalidations

    private static func invalidations(_ drafts: [Numbered]) -> [Request] {
        var requests: [Request] = []
        var removed: [(id: Int64, scope: InvalidationScope)] = []
        for draft in drafts where draft.draft.hasStoredInvalidations {
            removed += draft.draft.records.keys.map { (draft.id, .key($0)) }
            removed += draft.draft.sweeps.filter { !draft.draft.wrote($0) }.map { (draft.id, $0) }
        }
        if !removed.isEmpty {
            var parameters = Parameters()
            parameters.add(array: removed.map(\.id))
            parameters.add(scopes: removed.map(\.scope))
            requests.append(Request(.removeInvalidations, parameters))
        }
        let sweeps = drafts.filter(\.draft.hasStoredInvalidations).flatMap { draft in
            outermost(draft.draft.sweeps, atMost: mostRemovals).map { (id: draft.id, scope: $0) }
        }.prefix(mostRemovals)
        requests += sweeps.compactMap { removal(within: $0.scope, $0.id, limit: sweepLimit / Int64(sweeps.count)) }
        let added = drafts.flatMap { draft in draft.draft.invalidations.map { (id: draft.id, scope: $0.key, invalidation: $0.value) } }
        if !added.isEmpty {
            var parameters = Parameters()
            parameters.add(array: added.map(\.id))
            parameters.add(scopes: added.map(\.scope))
            parameters.add(array: added.map(\.invalidation.revision.number))
            parameters.add(array: added.map(\.invalidation.time.wall.milliseconds))
            parameters.add(array: added.map(\.invalidation.time.retention.milliseconds))
            requests.append(Request(.addInvalidations, parameters))
        }
        return requests
    }

    /// The widest sweeps, none of which covers another. What a statement has removed stays in the index until the transaction ends, and
    /// another one over the same range would visit it again. O(scopes · count).
    private static func outermost(_ scopes: some Sequence<InvalidationScope>, atMost count: Int) -> [InvalidationScope] {
        let sweeps = scopes.filter { if case .key = $0 { false } else { true } }
        var found: [InvalidationScope] = []
        for scope in sweeps.sorted(by: { $0.width < $1.width }) where found.count < count && !found.contains(where: { $0.covers(scope) }) {
            found.append(scope)
        }
        return found
    }

    /// Removes earlier invalidations of scopes within this one.
    private static func removal(within scope: InvalidationScope, _ id: Int64, limit: Int64) -> Request? {
        var parameters = Parameters()
        parameters.add(id)
        switch scope {
        case .everything:
            parameters.add(limit)
            return Request(.removeAllInvalidations, parameters)
        case .collection(let collection, let prefix):
            parameters.add(collection)
            parameters.add(prefix)
            parameters.add(TextRange.end(ofPrefix: prefix))
            parameters.add(limit)
            return Request(.removeRange, parameters)
        case .key: return nil
        }
    }

    // MARK: Clients

    private static func clients(_ drafts: [Numbered]) -> [Request] {
        let changed = drafts.flatMap { draft in draft.draft.clients.map { (id: draft.id, name: $0.key, client: $0.value) } }
        guard !changed.isEmpty else { return [] }
        var put = Parameters()
        put.add(array: changed.map(\.id))
        put.add(array: changed.map(\.name.text))
        put.add(array: changed.map(\.client.last))
        put.add(array: changed.map(\.client.day))
        put.add(array: changed.map(\.client.removed))
        put.add(array: changed.map { $0.client.owner?.text })
        let batches = drafts.flatMap { draft in
            draft.draft.outcomes.flatMap { outcome in outcome.value.map { (id: draft.id, name: outcome.key, batch: $0) } }
        }
        var add = Parameters()
        add.add(array: batches.map(\.id))
        add.add(array: batches.map(\.name.text))
        add.add(array: batches.map(\.batch.last))
        add.add(array: batches.map { Int64($0.batch.outcomes.count) })
        add.add(array: batches.lazy.map { Optional($0.batch.encoded) })
        var requests = [Request(.putClients, put), Request(.addOutcomes, add)]
        let settled = drafts.flatMap { draft in
            draft.draft.clients.filter { draft.draft.removesOutcomes(of: $0.key, $0.value) }.map {
                (draft.id, $0.key.text, $0.value.removed)
            }
        }
        if !settled.isEmpty {
            var remove = Parameters()
            remove.add(array: settled.map(\.0))
            remove.add(array: settled.map(\.1))
            remove.add(array: settled.map(\.2))
            requests.append(Request(.removeOutcomes, remove))
        }
        return requests
    }
}

extension NamespaceDraft {
    /// Whether the table may have invalidations that the changes remove.
    fileprivate var hasStoredInvalidations: Bool { storedInvalidations > 0 }

    /// Whether the scope is of a key that the transaction writes.
    fileprivate func wrote(_ scope: InvalidationScope) -> Bool {
        guard case .key(let key) = scope else { return false }
        return records[key] != nil
    }

    /// Whether outcomes of the client are no longer needed that were before the transaction.
    fileprivate func removesOutcomes(of name: ClientIdentifier, _ client: Client) -> Bool {
        client.removed > (knownClients[name].flatMap(\.self)?.removed ?? 0)
    }
}

extension NamespaceDraft.Pending {
    /// The content of the column `write`.
    fileprivate var write: Int64? {
        metadata.author.map { StoredWrite($0.write, at: revision, firstOfBatch: metadata.firstOfBatch).column }
    }
}

extension Parameters {
    /// Adds the three columns that name a scope.
    fileprivate mutating func add(scopes: [InvalidationScope]) {
        var (kinds, collections, names): ([Int16], [String], [String]) = ([], [], [])
        for scope in scopes {
            let (kind, collection, name): (Int16, String, String) =
                switch scope {
                case .everything: (0, "", "")
                case .collection(let collection, let prefix): (1, collection, prefix)
                case .key(let key): (2, key.collection, key.id)
                }
            kinds.append(kind)
            collections.append(collection)
            names.append(name)
        }
        add(array: kinds)
        add(array: collections)
        add(array: names)
    }
}

extension InvalidationScope {
    /// A number that is smaller for a scope than for any other that it covers.
    fileprivate var width: Int {
        switch self {
        case .everything: -1
        case .collection(_, let prefix): prefix.utf8.count
        case .key: .max
        }
    }
}
#endif
