internal import FreshetSQLite
internal import FreshetWire

extension DiskTier {
    /// Loads the machine's initial state: the state, the outbox, and the entries and watermarks of its keys. O(outbox).
    func load() throws -> PersistedState {
        PersistedState(
            state: state, outbox: try outbox(), bases: try bases(), watermarks: try watermarks(), needsRefresh: try needsRefresh(),
            rejections: try rejectionPlaces(), isNew: isNew)
    }

    /// Returns the stored state; `nil` in a new file.
    static func state(in connection: Connection, of namespace: Namespace, path: String?) throws -> SyncState? {
        let stored = try connection.withStatement("SELECT namespace, state FROM state") { try $0.step() ? ($0.text(0), $0.bytes(1)) : nil }
        guard let (name, json) = stored else { return nil }
        guard name == namespace.name else {
            throw ClientError.invalidConfiguration(
                "\(path ?? "the store") holds the namespace '\(name)', not '\(namespace)': name another directory")
        }
        guard let state = try? SyncState(json: json) else { throw damaged("the state") }
        return state
    }

    /// O(1).
    private func needsRefresh() throws -> Bool {
        try connection.withStatement("SELECT 1 FROM entry INDEXED BY entry_refresh WHERE invalidated IS NOT NULL OR type = '' LIMIT 1") {
            try $0.step()
        }
    }

    func outbox() throws -> [OutboxRow] {
        try connection.withStatement("SELECT row FROM outbox ORDER BY receipt") { statement in
            var rows: [OutboxRow] = []
            while try statement.step() {
                guard let row = try? OutboxRow(json: statement.bytes(0)) else { throw Self.damaged("a row of the outbox") }
                rows.append(row)
            }
            return rows.sorted { ($0.number, $0.writeID) < ($1.number, $1.writeID) }
        }
    }

    /// O(rejected writes), without reading their contents.
    private func rejectionPlaces() throws -> [RejectionEntry] {
        try connection.withStatement("SELECT receipt, size FROM rejection ORDER BY place") { statement in
            var places: [RejectionEntry] = []
            while try statement.step() {
                let size = statement.int64(1)
                // Sizes are added up.
                guard (0...(1 << 31)).contains(size) else { throw Self.damaged("a rejected write") }
                places.append(RejectionEntry(writeID: LocalWriteID(statement.int64(0)), size: Int(size)))
            }
            return places
        }
    }

    /// Returns the rejected writes, oldest first. O(their bytes).
    func rejections() throws -> [RejectedWrite] {
        try connection.withStatement("SELECT row FROM rejection ORDER BY place") { statement in
            var writes: [RejectedWrite] = []
            while try statement.step() { writes.append(try Self.rejection(statement)) }
            return writes
        }
    }

    /// Returns a rejected write; `nil` if it is not stored. O(1).
    func rejection(_ writeID: LocalWriteID) throws -> RejectedWrite? {
        try connection.withStatement("SELECT row FROM rejection WHERE receipt = ?1") { statement in
            try statement.bind(1, writeID.number)
            return try statement.step() ? try Self.rejection(statement) : nil
        }
    }

    private static func rejection(_ row: Statement) throws -> RejectedWrite {
        guard let write = try? RejectedWrite(json: row.bytes(0)) else { throw damaged("a rejected write") }
        return write
    }

    private func bases() throws -> [Entry] {
        try entries(
            """
            SELECT collection, id, epoch, revision, as_of, pass, type, value, modified, verified, origin, invalidated
            FROM entry
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

    /// Returns the row of a key. About 2 µs.
    func entry(_ key: RecordKey) throws -> Entry? { try Self.entry(key, connection) }

    static func entry(_ key: RecordKey, _ connection: Connection) throws -> Entry? {
        try connection.withStatement(
            """
            SELECT collection, id, epoch, revision, as_of, pass, type, value, modified, verified, origin, invalidated
            FROM entry
            WHERE collection = ?1 AND id = ?2
            """
        ) { statement in
            try statement.bind(1, key.collection)
            try statement.bind(2, key.id)
            return try statement.step() ? try entry(statement) : nil
        }
    }

    /// Returns all rows of a collection by id, including rows for the absence of a record. O(rows).
    func entries(in collection: String) throws -> [Entry] {
        try connection.withStatement(
            """
            SELECT collection, id, epoch, revision, as_of, pass, type, value, modified, verified, origin, invalidated
            FROM entry
            WHERE collection = ?1 ORDER BY id
            """
        ) { statement in
            try statement.bind(1, collection)
            var entries: [Entry] = []
            while try statement.step() { entries.append(try Self.entry(statement)) }
            return entries
        }
    }

    /// Returns the ids of a collection's records, without reading the values. O(rows).
    func ids(in collection: String) throws -> [String] {
        try connection.withStatement("SELECT id FROM entry WHERE collection = ?1 AND type IS NOT NULL ORDER BY id") { statement in
            try statement.bind(1, collection)
            var ids: [String] = []
            while try statement.step() { ids.append(statement.text(0)) }
            return ids
        }
    }

    /// Returns the rows that a query selects, page by page in the order of their keys.
    func cachedKeys(_ query: CachedKeyQuery) throws -> [CachedKey] {
        switch query.selection {
        case .before(let pass):
            try connection.withStatement(
                """
                SELECT collection, id, epoch, revision, type FROM entry
                WHERE (collection, id) > (?1, ?2) AND pass < ?4 ORDER BY collection, id LIMIT ?3
                """
            ) { statement in
                try statement.bind(4, pass)
                return try Self.cachedKeys(query, statement)
            }
        case .needingRefresh:
            try connection.withStatement(
                """
                SELECT collection, id, epoch, revision, type FROM entry INDEXED BY entry_refresh
                WHERE (collection, id) > (?1, ?2) AND (invalidated IS NOT NULL OR type = '') ORDER BY collection, id LIMIT ?3
                """
            ) { try Self.cachedKeys(query, $0) }
        case .collection(let name):
            try connection.withStatement(
                """
                SELECT collection, id, epoch, revision, type FROM entry
                WHERE (collection, id) > (?1, ?2) AND collection = ?4 ORDER BY collection, id LIMIT ?3
                """
            ) { statement in
                try statement.bind(4, name)
                return try Self.cachedKeys(query, statement)
            }
        }
    }

    private static func cachedKeys(_ query: CachedKeyQuery, _ statement: Statement) throws -> [CachedKey] {
        // No collection is empty, so no row precedes this pair.
        try statement.bind(1, query.after?.collection ?? "")
        try statement.bind(2, query.after?.id ?? "")
        try statement.bind(3, query.limit)
        var keys: [CachedKey] = []
        while try statement.step() {
            guard let key = try? RecordKey(collection: statement.text(0), id: statement.text(1)), let epoch = Epoch(statement.text(2)),
                let revision = Revision(statement.int64(3))
            else { throw damaged("an entry") }
            let type = statement.optionalText(4)
            let hasValue = type.map { !$0.isEmpty } ?? false
            keys.append(CachedKey(key: key, epoch: epoch, revision: revision, hasValue: hasValue, isAbsent: type == nil))
        }
        return keys
    }
}
