internal import FreshetWire
internal import SQLite

extension DiskTier {
    /// What the machine starts from: the state, the outbox and what belongs to it. O(outbox).
    func load() throws -> PersistedState {
        PersistedState(state: state, outbox: try outbox(), bases: try bases(), watermarks: try watermarks())
    }

    /// The stored state; makes the row in a new file.
    static func state(in connection: Connection, of namespace: Namespace, newClient: ClientIdentifier, path: String?) throws -> SyncState {
        let stored = try connection.withStatement("SELECT namespace, state FROM state") { try $0.step() ? ($0.text(0), $0.bytes(1)) : nil }
        guard let (name, json) = stored else { return SyncState(client: newClient) }
        guard name == namespace.name else {
            throw ClientError.invalidConfiguration(
                "\(path ?? "the store") holds the namespace '\(name)', not '\(namespace)': name another directory")
        }
        guard let state = try? SyncState(json: json) else { throw damaged("the state") }
        return state
    }

    private func outbox() throws -> [OutboxRow] {
        try connection.withStatement("SELECT row FROM outbox ORDER BY receipt") { statement in
            var rows: [OutboxRow] = []
            while try statement.step() {
                guard let row = try? OutboxRow(json: statement.bytes(0)) else { throw Self.damaged("a row of the outbox") }
                rows.append(row)
            }
            return rows.sorted { $0.number < $1.number }
        }
    }

    private func bases() throws -> [Entry] {
        try entries(
            """
            SELECT collection, id, epoch, revision, as_of, pass, type, value, modified, verified, origin FROM entry
            WHERE (collection, id) IN (SELECT collection, id FROM outbox) ORDER BY collection, id
            """)
    }

    private func watermarks() throws -> [RecordKey: WriteWatermark] {
        try connection.withStatement("SELECT collection, id, epoch, number FROM watermark") { row in
            var watermarks: [RecordKey: WriteWatermark] = [:]
            while try row.step() {
                guard let epoch = Epoch(row.text(2)), let key = try? RecordKey(collection: row.text(0), id: row.text(1)) else {
                    throw Self.damaged("a watermark")
                }
                watermarks[key] = WriteWatermark(epoch: epoch, number: row.int64(3))
            }
            return watermarks
        }
    }

    private func entries(_ sql: StaticString) throws -> [Entry] {
        try connection.withStatement(sql) { statement in
            var entries: [Entry] = []
            while try statement.step() { entries.append(try Self.entry(statement)) }
            return entries
        }
    }

    /// The row of a key. About 2 µs.
    func entry(_ key: RecordKey) throws -> Entry? { try Self.entry(key, connection) }

    static func entry(_ key: RecordKey, _ connection: Connection) throws -> Entry? {
        try connection.withStatement(
            """
            SELECT collection, id, epoch, revision, as_of, pass, type, value, modified, verified, origin FROM entry
            WHERE collection = ?1 AND id = ?2
            """
        ) { statement in
            try statement.bind(1, key.collection)
            try statement.bind(2, key.id)
            return try statement.step() ? try entry(statement) : nil
        }
    }

    /// All rows of a collection, those that say there is no record too, by id. O(rows).
    func entries(in collection: String) throws -> [Entry] {
        try connection.withStatement(
            """
            SELECT collection, id, epoch, revision, as_of, pass, type, value, modified, verified, origin FROM entry
            WHERE collection = ?1 ORDER BY id
            """
        ) { statement in
            try statement.bind(1, collection)
            var entries: [Entry] = []
            while try statement.step() { entries.append(try Self.entry(statement)) }
            return entries
        }
    }

    /// The ids of a collection's records, without reading the values. O(rows).
    func ids(in collection: String) throws -> [String] {
        try connection.withStatement("SELECT id FROM entry WHERE collection = ?1 AND type IS NOT NULL ORDER BY id") { statement in
            try statement.bind(1, collection)
            var ids: [String] = []
            while try statement.step() { ids.append(statement.text(0)) }
            return ids
        }
    }

    /// The rows of an earlier verification pass, page by page in the order of their keys.
    func heldKeys(_ query: HeldQuery) throws -> [HeldKey] {
        try connection.withStatement(
            """
            SELECT collection, id, epoch, revision, type IS NULL FROM entry
            WHERE (collection, id) > (?1, ?2) AND pass < ?3 ORDER BY collection, id LIMIT ?4
            """
        ) { statement in
            // No collection is empty, so nothing comes before this pair.
            try statement.bind(1, query.after?.collection ?? "")
            try statement.bind(2, query.after?.id ?? "")
            try statement.bind(3, query.pass)
            try statement.bind(4, query.limit)
            var keys: [HeldKey] = []
            while try statement.step() {
                guard let key = try? RecordKey(collection: statement.text(0), id: statement.text(1)), let epoch = Epoch(statement.text(2)),
                    let revision = Revision(statement.int64(3))
                else { throw Self.damaged("an entry") }
                keys.append(HeldKey(key: key, epoch: epoch, revision: revision, isAbsent: statement.int64(4) != 0))
            }
            return keys
        }
    }
}
