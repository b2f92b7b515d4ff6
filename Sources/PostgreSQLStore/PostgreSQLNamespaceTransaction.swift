#if PostgreSQL
internal import FreshetPostgreSQL
internal import FreshetServer
internal import FreshetWire

/// One namespace within a write transaction, which holds the lock of its row if it has one: a draft in memory, and a connection for what the transaction's scope did not name.
final class PostgreSQLNamespaceTransaction: NamespaceTransaction {
    let draft: NamespaceDraft
    private let connection: Connection
    /// How many outcomes beyond the required ones a device may have, so that not every batch has to remove some.
    private static let removalInterval: Int64 = 200

    init(_ draft: NamespaceDraft, _ connection: Connection) {
        self.draft = draft
        self.connection = connection
    }

    var state: NamespaceState { draft.row.state }

    var counts: NamespaceCounts { draft.row.counts }

    // MARK: Records

    func existingRow(of key: RecordKey) throws -> ExistingRow? {
        if let pending = draft.records[key] { return pending.existing }
        return try row(key, withValue: false)?.existing
    }

    func record(_ key: RecordKey) throws -> Record? {
        if let pending = draft.records[key] { return pending.record(key) }
        guard let row = try row(key, withValue: false), let size = row.size else { return nil }
        // The value was not fetched beforehand. It is not kept either, since it may be large.
        if row.value == nil, size > 0 { return try read(key, withValue: true)?.record(key) }
        return row.record(key)
    }

    func outline(_ key: RecordKey) throws -> Record? {
        if let pending = draft.records[key] { return pending.record(key)?.outline }
        return try row(key, withValue: false)?.record(key)?.outline
    }

    private func row(_ key: RecordKey, withValue: Bool) throws -> RecordRow? {
        if let known = draft.known[key] { return known }
        let found = try read(key, withValue: withValue)
        draft.learn(found, of: key)
        return found
    }

    private func read(_ key: RecordKey, withValue: Bool) throws -> RecordRow? {
        guard draft.row.id != nil else { return nil }
        var parameters = Parameters()
        parameters.add(array: [draft.name.name])
        parameters.add(array: [Int32(1)])
        parameters.add(array: [key.collection])
        parameters.add(array: [key.id])
        parameters.add(array: [withValue])
        parameters.add(Int64.max)
        let rows = try connection.run(.loadRecords, parameters, by: .patient)
        return rows.count == 0 ? nil : try RecordRow(rows, 0, from: 1)
    }

    func put(_ content: Content, at key: RecordKey, over existing: ExistingRow?, _ metadata: WriteMetadata) throws -> Revision {
        return try draft.put(content, at: key, over: existing, metadata)
    }

    func delete(_ key: RecordKey, _ existing: ExistingRow, _ metadata: WriteMetadata) throws -> Revision {
        return try draft.put(nil, at: key, over: existing, metadata)
    }

    func invalidate(_ scope: InvalidationScope, at time: WriteTime) throws -> Revision {
        return try draft.invalidate(scope, at: time)
    }

    func atomically<Result>(_ body: () throws -> Result) throws -> Result { try draft.atomically(body) }

    // MARK: Clients

    func lastWrite(of client: ClientIdentifier) throws -> Int64 { try row(of: client)?.last ?? 0 }

    func owner(of client: ClientIdentifier) throws -> ClientOwner? { try row(of: client)?.owner }

    func outcomes(of numbers: ClosedRange<Int64>, by client: ClientIdentifier) throws -> OutcomeRead {
        var read = OutcomeRead()
        if let id = draft.row.id {
            var parameters = Parameters()
            parameters.add(id)
            parameters.add(client.text)
            parameters.add(numbers.lowerBound)
            parameters.add(numbers.upperBound)
            let rows = try connection.run(.readOutcomes, parameters, by: .patient)
            for row in 0..<rows.count { try read.append(rows.byteArray(row, 1), last: rows.int64(row, 0), numbers) }
        }
        for batch in draft.outcomes[client] ?? [] { read.append(batch.outcomes, numbers) }
        return read
    }

    func keep(_ outcomes: [StoredOutcome], of client: ClientIdentifier, owner: ClientOwner?, settled: Int64, at time: Timestamp) throws {
        guard let last = outcomes.last?.number else { return }
        let known = try row(of: client)
        var row = known ?? NamespaceDraft.Client()
        row.last = last
        row.day = time.day
        row.owner = owner ?? row.owner
        if settled >= row.removed + Self.removalInterval { row.removed = settled }
        StoredOutcome.forEachRow(outcomes) { part, last in
            draft.keep(NamespaceDraft.KeptBatch(last: last, outcomes: part, encoded: StoredOutcome.encode(part)), of: client)
        }
        draft.set(row, for: client, isNew: known == nil)
    }

    private func row(of client: ClientIdentifier) throws -> NamespaceDraft.Client? {
        if let changed = draft.clients[client] { return changed }
        if let known = draft.knownClients[client] { return known }
        guard draft.row.id != nil else { return nil }
        var parameters = Parameters()
        parameters.add(array: [draft.name.name])
        parameters.add(array: [Int32(1)])
        parameters.add(array: [client.text])
        let rows = try connection.run(.loadClients, parameters, by: .patient)
        let found = rows.count == 0 ? nil : try NamespaceDraft.Client(rows, 0)
        draft.learn(found, of: client)
        return found
    }
}

extension NamespaceDraft.Client {
    /// Reads `last, day, removed, owner` from the second column on.
    init(_ rows: QueryResult, _ row: Int) throws {
        self.init(
            last: try rows.int64(row, 1), day: try rows.optionalInt64(row, 2), removed: try rows.int64(row, 3),
            owner: rows.optionalText(row, 4).map(ClientOwner.init(text:)))
    }
}
#endif
