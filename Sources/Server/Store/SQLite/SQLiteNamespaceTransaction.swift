internal import FreshetSQLite
internal import FreshetWire

/// One namespace as the writer knows it. Its row is written once a transaction, not once a write.
final class SQLiteNamespaceTransaction: NamespaceTransaction {
    let name: Namespace
    let connection: Connection
    private(set) var row: NamespaceRow
    private let rowCache: RowCache
    let clients: ClientCache
    private let timer: LookupTimer
    private var isChanged = false
    private var deferred = DeferredUpdates()
    /// How many more invalidations within their scopes the sweeps of one transaction may remove: all writers wait for
    /// them.
    private var sweepRoom = SQLiteNamespaceTransaction.sweepLimit
    private static let sweepLimit = 1_000
    /// The keys and the clients written within ``atomically(_:)``; `nil` outside of it.
    private var atomicallyWritten: (keys: [RecordKey], clients: [ClientIdentifier])?

    init(_ name: Namespace, _ connection: Connection, _ rowCache: RowCache, _ clients: ClientCache, _ timer: LookupTimer) throws {
        self.name = name
        self.connection = connection
        self.rowCache = rowCache
        self.clients = clients
        self.timer = timer
        row = try NamespaceRow.read(name, connection)
    }

    var state: NamespaceState { row.state }

    var counts: NamespaceCounts { row.counts }

    /// Writes everything that is not in the file yet: records, and the row if it has changed.
    func flush() throws {
        sweepRoom = Self.sweepLimit
        try writeDeferred()
        guard isChanged else { return }
        try connection.withStatement(
            """
            UPDATE namespace SET head = ?, records = ?, bytes = ?, tombstones = ?, invalidations = ?, clients = ?, outcomes = ?,
                outcome_bytes = ?
            WHERE id = ?
            """
        ) { statement in
            try statement.bind(1, row.state.head.number)
            try statement.bind(2, row.state.records)
            try statement.bind(3, row.state.bytes)
            try statement.bind(4, row.counts.tombstones)
            try statement.bind(5, row.counts.invalidations)
            try statement.bind(6, row.counts.clients)
            try statement.bind(7, row.counts.outcomes)
            try statement.bind(8, row.counts.outcomeBytes)
            try statement.bind(9, row.id)
            try statement.run()
        }
        isChanged = false
    }

    /// The row's number. The first write makes the row, with the epoch that waiting clients know already.
    func madeRow() throws -> Int64 {
        if let id = row.id { return id }
        try connection.withStatement(
            "INSERT INTO namespace(name, epoch, base, head, forgotten, records, bytes, invalidations) VALUES(?, ?, ?, 0, 0, 0, 0, 0)"
        ) { statement in
            try statement.bind(1, name.name)
            try statement.bind(2, row.state.epoch.token)
            try statement.bind(3, row.base == row.state.epoch ? nil : row.base?.token)
            try statement.run()
        }
        row.id = connection.lastInsertedRow
        return connection.lastInsertedRow
    }

    /// Changes the counts, which ``flush()`` writes.
    func count(_ change: (inout NamespaceCounts) -> Void) {
        change(&row.counts)
        isChanged = true
    }

    private func nextRevision() throws -> Revision {
        guard let next = row.state.head.next else { throw StoreError.revisionsExhausted(name) }
        row.state.head = next
        isChanged = true
        return next
    }

    func atomically<Result>(_ body: () throws -> Result) throws -> Result {
        try writeDeferred()
        let before = (row, isChanged, atomicallyWritten)
        if atomicallyWritten == nil { atomicallyWritten = ([], []) }
        defer { if before.2 == nil { atomicallyWritten = nil } }
        do { return try connection.savepoint(body) } catch {
            // By the number that the row had meanwhile, in case the closure made the row.
            if let id = row.id, let written = atomicallyWritten {
                for key in written.keys { rowCache.forget(key, in: id) }
                for client in written.clients { clients.forget(client, in: id) }
            }
            deferred.removeAll()
            (row, isChanged) = (before.0, before.1)
            throw error
        }
    }

    /// Remembers the record or tombstone that holds a key after a write.
    private func keep(_ existing: ExistingRow, of key: RecordKey, in namespace: Int64) {
        atomicallyWritten?.keys.append(key)
        rowCache.keep(existing, of: key, in: namespace)
    }

    /// Remembers the row of a client after a write.
    func keep(_ row: ClientCache.Row, of client: ClientIdentifier, in namespace: Int64) {
        atomicallyWritten?.clients.append(client)
        clients.keep(row, of: client, in: namespace)
    }

    // MARK: Records

    func existingRow(of key: RecordKey) throws -> ExistingRow? {
        guard let id = row.id else { return nil }
        if let known = rowCache.existingRow(of: key, in: id) { return known }
        let found = try timer.time { try find(key, id) }
        if let found { rowCache.keep(found, of: key, in: id) }
        return found
    }

    private func find(_ key: RecordKey, _ id: Int64) throws -> ExistingRow? {
        try connection.withStatement(
            "SELECT row, revision, length(value), content_type IS NULL FROM record WHERE namespace = ? AND collection = ? AND id = ?"
        ) { row in
            try row.bind(1, id)
            try row.bind(2, key.collection)
            try row.bind(3, key.id)
            guard try row.step() else { return nil }
            if let update = deferred.update(of: row.int64(0)) { return ExistingRow(update) }
            return ExistingRow(
                row: row.int64(0), revision: try Revision(row, 1), size: row.optionalInt64(2).map { Int($0) }, isJSON: row.int64(3) == 1)
        }
    }

    func record(_ key: RecordKey) throws -> Record? {
        guard let id = row.id else { return nil }
        try writeDeferred()
        return try connection.withStatement(
            "SELECT revision, modified, content_type, value FROM record WHERE namespace = ? AND collection = ? AND id = ?"
        ) { row in
            try row.bind(1, id)
            try row.bind(2, key.collection)
            try row.bind(3, key.id)
            return try row.step() && !row.isNull(3) ? try Record(key, row, from: 0) : nil
        }
    }

    func outline(_ key: RecordKey) throws -> Record? {
        guard let id = row.id else { return nil }
        try writeDeferred()
        return try connection.withStatement(
            "SELECT revision, modified, content_type, length(value) FROM record WHERE namespace = ? AND collection = ? AND id = ?"
        ) { row in
            try row.bind(1, id)
            try row.bind(2, key.collection)
            try row.bind(3, key.id)
            return try row.step() && !row.isNull(3) ? try Record(outlineOf: key, row, from: 0) : nil
        }
    }

    func put(_ content: Content, at key: RecordKey, over existing: ExistingRow?, _ metadata: WriteMetadata) throws -> Revision {
        let id = try madeRow()
        let revision = try nextRevision()
        if let existing {
            deferred.put(content, over: existing, revision, metadata)
        } else {
            try connection.withStatement(
                """
                INSERT INTO record(revision, modified, client, write, content_type, value, namespace, collection, id)
                VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
            ) { statement in
                try statement.bind(7, id)
                try statement.bind(8, key.collection)
                try statement.bind(9, key.id)
                try statement.store(revision, metadata, content)
            }
        }
        row.state.records += existing?.size == nil ? 1 : 0
        if let existing, existing.size == nil { row.counts.tombstones -= 1 }
        row.state.bytes += content.bytes.count - (existing?.size ?? 0)
        let now = ExistingRow(
            row: existing?.row ?? connection.lastInsertedRow, revision: revision, size: content.bytes.count, isJSON: content.isJSON)
        keep(now, of: key, in: id)
        try endInvalidation(of: key)
        return revision
    }

    func delete(_ key: RecordKey, _ existing: ExistingRow, _ metadata: WriteMetadata) throws -> Revision {
        let id = try madeRow()
        let revision = try nextRevision()
        deferred.put(nil, over: existing, revision, metadata)
        row.state.records -= existing.size == nil ? 0 : 1
        row.counts.tombstones += existing.size == nil ? 0 : 1
        row.state.bytes -= existing.size ?? 0
        keep(ExistingRow(row: existing.row, revision: revision, size: nil, isJSON: false), of: key, in: id)
        try endInvalidation(of: key)
        return revision
    }

    /// Writes the deferred updates of records to the file, before anything reads the records there.
    func writeDeferred() throws {
        guard !deferred.isEmpty else { return }
        try connection.withStatement(
            "UPDATE record SET revision = ?, modified = ?, client = ?, write = ?, content_type = ?, value = ? WHERE row = ?"
        ) { statement in
            // The writes of a batch have one author, whose name stays bound.
            var bound: ClientIdentifier?
            for update in deferred.updates where !update.togglesTombstone {
                try statement.bind(7, update.row)
                try statement.store(update.revision, update.metadata, update.content, bound: bound)
                bound = update.metadata.author?.client
            }
        }
        for update in deferred.updates where update.togglesTombstone {
            try connection.withStatement(
                "UPDATE record SET revision = ?, modified = ?, client = ?, write = ?, content_type = ?, value = ?, deleted = ? WHERE row = ?"
            ) { statement in
                try statement.bind(7, update.content == nil ? update.metadata.time.retention.milliseconds : nil)
                try statement.bind(8, update.row)
                try statement.store(update.revision, update.metadata, update.content)
            }
        }
        deferred.removeAll()
    }

    // MARK: Invalidations

    func invalidate(_ scope: InvalidationScope, at time: WriteTime) throws -> Revision {
        let id = try madeRow()
        let revision = try nextRevision()
        if row.counts.invalidations > 0 { row.counts.invalidations -= try removeInvalidations(within: scope, id) }
        try connection.withStatement(
            "INSERT INTO invalidation(namespace, kind, collection, name, revision, modified, since) VALUES(?, ?, ?, ?, ?, ?, ?)"
        ) { statement in
            try statement.bind(1, id)
            try statement.bind(2, scope)
            try statement.bind(5, revision.number)
            try statement.bind(6, time.wall.milliseconds)
            try statement.bind(7, time.retention.milliseconds)
            try statement.run()
        }
        row.counts.invalidations += 1
        return revision
    }

    /// Removes the invalidation of a key, which a later write to the key makes superfluous.
    private func endInvalidation(of key: RecordKey) throws {
        guard row.counts.invalidations > 0, let id = row.id else { return }
        row.counts.invalidations -= try removeInvalidation(of: .key(key), id)
    }

    /// Removes the row of the scope, and as many rows of scopes within it as one transaction may. The others cost room
    /// until they are forgotten like all; they send followers to no more records than the scope does.
    private func removeInvalidations(within scope: InvalidationScope, _ id: Int64) throws -> Int {
        let removed = try removeInvalidation(of: scope, id)
        let covered: [Int64]
        switch scope {
        case .everything:
            covered = try connection.withStatement("SELECT revision FROM invalidation WHERE namespace = ? LIMIT ?") { row in
                try row.bind(1, id)
                try row.bind(2, sweepRoom)
                return try row.revisions()
            }
        case .collection(let collection, let prefix):
            covered = try connection.withStatement(
                """
                SELECT revision FROM invalidation
                WHERE namespace = ? AND kind IN (1, 2) AND collection = ? AND name >= ? AND name < ? LIMIT ?
                """
            ) { row in
                try row.bind(1, id)
                try row.bind(2, collection)
                try row.bind(3, prefix)
                try row.bind(4, textBytes: endOfRange(of: prefix))
                try row.bind(5, sweepRoom)
                return try row.revisions()
            }
        case .key: return removed
        }
        sweepRoom -= covered.count
        for revision in covered {
            try connection.withStatement("DELETE FROM invalidation WHERE namespace = ? AND revision = ?") { statement in
                try statement.bind(1, id)
                try statement.bind(2, revision)
                try statement.run()
            }
        }
        return removed + covered.count
    }

    /// Removes the row of the scope, if there is one.
    private func removeInvalidation(of scope: InvalidationScope, _ id: Int64) throws -> Int {
        try connection.withStatement(
            "DELETE FROM invalidation WHERE namespace = ? AND kind = ? AND collection = ? AND name = ?"
        ) { statement in
            try statement.bind(1, id)
            try statement.bind(2, scope)
            try statement.run()
        }
        return connection.changes
    }
}

extension ExistingRow {
    /// The record or tombstone of a row once the update is in the file.
    fileprivate init(_ update: DeferredUpdates.Update) {
        self.init(
            row: update.row, revision: update.revision, size: update.content?.bytes.count, isJSON: update.content?.isJSON ?? false)
    }
}

extension Statement {
    /// Binds `revision, modified, client, write, content_type, value` from 1 on, and runs.
    ///
    /// - Parameter bound: the client that is bound already.
    fileprivate func store(_ revision: Revision, _ metadata: WriteMetadata, _ content: Content?, bound: ClientIdentifier? = nil) throws {
        try bind(1, revision.number)
        try bind(2, metadata.modified.milliseconds)
        if let author = metadata.author {
            if author.client != bound { try bind(3, author.client.text) }
            try bind(4, StoredWrite(author.write, at: revision, firstOfBatch: metadata.firstOfBatch).column)
        } else {
            try bindNull(3)
            try bindNull(4)
        }
        guard let content else {
            try bindNull(5)
            try bindNull(6)
            return try run()
        }
        if content.isJSON { try bindNull(5) } else { try bind(5, content.type) }
        try run(6, inPlace: content.bytes)
    }

    /// The column of revisions in all rows.
    fileprivate func revisions() throws -> [Int64] {
        var revisions: [Int64] = []
        while try step() { revisions.append(int64(0)) }
        return revisions
    }

    /// Binds the three columns that name a scope.
    fileprivate func bind(_ index: Int32, _ scope: InvalidationScope) throws {
        switch scope {
        case .everything: try bind(index, 0, "", "")
        case .collection(let collection, let prefix): try bind(index, 1, collection, prefix)
        case .key(let key): try bind(index, 2, key.collection, key.id)
        }
    }

    private func bind(_ index: Int32, _ kind: Int64, _ collection: String, _ name: String) throws {
        try bind(index, kind)
        try bind(index + 1, collection)
        try bind(index + 2, name)
    }
}
