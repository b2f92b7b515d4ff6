internal import FreshetSQLite
package import FreshetWire

extension SQLiteRecordStore {
    package func namespaces(withPrefix prefix: String, limit: Int) throws(StoreError) -> [Namespace] {
        try read { connection in
            try connection.withStatement("SELECT name FROM namespace WHERE name >= ? AND name < ? ORDER BY name LIMIT ?") { row in
                try row.bind(1, prefix)
                try row.bind(2, prefix + Namespace.aboveAllCharacters)
                try row.bind(3, Int64(limit))
                var names: [Namespace] = []
                while try row.step() { names.append(try Namespace(row.text(0))) }
                return names
            }
        }
    }

    package func retention() throws(StoreError) -> RetentionClock.Stored {
        try read { connection in
            let mark = try connection.retentionMark()
            return RetentionClock.Stored(mark: mark, latestStamp: mark == nil ? try connection.latestStamp() : nil)
        }
    }

    package func accessVersion() -> AccessVersion { access.version }

    package func accessChanges(after version: AccessVersion?) throws(StoreError) -> AccessChanges {
        let access = access
        return try read { try $0.accessChanges(access) }
    }

    package func state(of namespace: Namespace) throws(StoreError) -> NamespaceState {
        try lookUp { try $0.row(of: namespace).state }
    }

    package func counts(of namespace: Namespace) throws(StoreError) -> Snapshot<NamespaceCounts> {
        try lookUp {
            let row = try $0.row(of: namespace)
            return Snapshot(row.counts, row.state)
        }
    }

    package func totals() throws(StoreError) -> StoreTotals {
        try read { connection in
            try connection.withStatement(
                """
                SELECT count(*), sum(records), sum(bytes), sum(tombstones), sum(invalidations), sum(clients), sum(outcomes),
                    sum(outcome_bytes)
                FROM namespace
                """
            ) { row in
                var totals = StoreTotals()
                guard try row.step() else { return totals }
                totals.namespaces = Int(row.int64(0))
                totals.records = Int(row.int64(1))
                totals.bytes = Int(row.int64(2))
                totals.counts = NamespaceCounts(row, from: 3)
                return totals
            }
        }
    }

    package func record(
        _ key: RecordKey, in namespace: Namespace, for client: ClientIdentifier?, valueBytes: Int
    ) throws(StoreError) -> Snapshot<Record?> {
        guard valueBytes > ReadBounds.lookupValueBytes else {
            return try lookUp { try Self.record(key, at: $0.row(of: namespace), for: client, valueBytes: valueBytes, $0.connection) }
        }
        return try read { connection in
            try connection.readTransaction {
                try Self.record(key, at: NamespaceRow.read(namespace, connection), for: client, valueBytes: valueBytes, connection)
            }
        }
    }

    private static func record(
        _ key: RecordKey, at namespace: NamespaceRow, for client: ClientIdentifier?, valueBytes: Int, _ connection: Connection
    ) throws -> Snapshot<Record?> {
        let lastWrite = try connection.lastWrite(of: client, in: namespace.id)
        guard let id = namespace.id else { return Snapshot(nil, namespace.state, lastWrite: lastWrite) }
        // Two selections, of which the second is evaluated for a value that is too large or a record that is not there:
        // SQLite copies a value each time that a statement names it, so one selection with a condition would copy it
        // three times.
        let record: Record? = try connection.withStatement(
            """
            SELECT revision, modified, content_type, NULL, value
            FROM record WHERE namespace = ?2 AND collection = ?3 AND id = ?4 AND coalesce(length(value), 0) <= ?1
            UNION ALL
            SELECT revision, modified, content_type, length(value), NULL
            FROM record WHERE namespace = ?2 AND collection = ?3 AND id = ?4 AND length(value) > ?1
            """
        ) { row in
            try row.bind(1, valueBytes)
            try row.bind(2, id)
            return try row.withBound(3, inPlace: key.collection) {
                try row.withBound(4, inPlace: key.id) { try row.step() ? Record(bounded: key, row) : nil }
            }
        }
        return Snapshot(record, namespace.state, lastWrite: lastWrite)
    }

    package func records(_ query: ListQuery, in namespace: Namespace) throws(StoreError) -> Snapshot<RecordSlice> {
        try read { connection in
            try connection.readTransaction {
                let row = try NamespaceRow.read(namespace, connection)
                guard let id = row.id else { return Snapshot(RecordSlice(records: [], next: nil), row.state) }
                return Snapshot(try Self.slice(query, id, connection), row.state)
            }
        }
    }

    private static func slice(_ query: ListQuery, _ namespace: Int64, _ connection: Connection) throws -> RecordSlice {
        // An id holds no zero byte, so the next text after an id is that id followed by one.
        var start = Array(query.prefix.utf8)
        if let after = query.after.map({ Array($0.utf8) + [0] }), start.lexicographicallyPrecedes(after) { start = after }
        return try connection.withStatement(
            """
            SELECT id, revision, modified, content_type, value FROM record
            WHERE namespace = ? AND collection = ? AND id >= ? AND id < ? ORDER BY id
            """
        ) { row in
            try row.bind(1, namespace)
            try row.bind(2, query.collection)
            try row.bind(3, textBytes: start)
            try row.bind(4, textBytes: endOfRange(of: query.prefix))
            var scan = ListScan(query)
            while try row.step() {
                let goesOn = try scan.take(size: row.isNull(4) ? nil : row.byteCount(4)) {
                    row.text(0)
                } record: {
                    try Record(RecordKey(collection: query.collection, id: row.text(0)), row, from: 1)
                }
                guard goesOn else { break }
            }
            return scan.slice
        }
    }

    package func records(
        _ request: ReadsRequest, within bounds: ReadBounds, in namespace: Namespace
    ) throws(StoreError) -> Snapshot<DifferingRecords> {
        try read { connection in
            try connection.readTransaction {
                let row = try NamespaceRow.read(namespace, connection)
                let lastWrite = try connection.lastWrite(of: request.client, in: row.id)
                var scan = ReadsScan(bounds)
                try scan.walk(request.items) { item, room in
                    try row.id.flatMap { try Self.record(item, $0, connection, valueBytes: room) }
                }
                return Snapshot(scan.result, row.state, lastWrite: lastWrite)
            }
        }
    }

    /// The record, with its value if the client has another revision and the value has at most `valueBytes` bytes:
    /// SQLite reads no other value.
    private static func record(
        _ item: ReadsRequest.Item, _ namespace: Int64, _ connection: Connection, valueBytes: Int
    ) throws -> Record? {
        try connection.withStatement(
            """
            SELECT revision, modified, content_type, length(value),
                CASE WHEN revision = ? OR length(value) > ? THEN NULL ELSE value END
            FROM record WHERE namespace = ? AND collection = ? AND id = ?
            """
        ) { row in
            try row.bind(1, item.revision?.number)
            try row.bind(2, Int64(valueBytes))
            try row.bind(3, namespace)
            try row.bind(4, item.key.collection)
            try row.bind(5, item.key.id)
            return try row.step() ? Record(bounded: item.key, row) : nil
        }
    }

    package func lastWrite(of client: ClientIdentifier, in namespace: Namespace) throws(StoreError) -> Snapshot<Int64> {
        try lookUp { reader in
            let row = try reader.row(of: namespace)
            return Snapshot(try reader.connection.lastWrite(of: client, in: row.id) ?? 0, row.state)
        }
    }

    package func owner(of client: ClientIdentifier, in namespace: Namespace) throws(StoreError) -> ClientOwner? {
        try lookUp { reader in
            try reader.row(of: namespace).id.flatMap { try reader.connection.client(client, in: $0)?.owner }
        }
    }
}

extension Connection {
    /// The number of the device's last decided write, 0 if it has none; `nil` if no device is given.
    func lastWrite(of client: ClientIdentifier?, in namespace: Int64?) throws -> Int64? {
        guard let client else { return nil }
        return try namespace.flatMap { try self.client(client, in: $0)?.last } ?? 0
    }

    /// The device's row.
    func client(_ client: ClientIdentifier, in namespace: Int64) throws -> ClientCache.Row? {
        try withStatement("SELECT id, last, day, owner FROM client WHERE namespace = ? AND client = ?") { row in
            try row.bind(1, namespace)
            try row.bind(2, client.text)
            guard try row.step() else { return nil }
            return ClientCache.Row(
                id: row.int64(0), last: row.int64(1), day: row.optionalInt64(2), owner: row.optionalText(3).map(ClientOwner.init(text:)))
        }
    }
}

extension Connection {
    /// All access rows. The version is from before they are read, so that its holder learns of every later change.
    func accessChanges(_ counter: AccessCounter) throws -> AccessChanges {
        let version = counter.version
        let rows = try withStatement("SELECT kind, name, value FROM access ORDER BY kind, name") { row in
            var rows: [AccessRow] = []
            while try row.step() {
                // Rows of a later version mean nothing to this one.
                guard let kind = AccessRow.Kind(rawValue: row.text(0)) else { continue }
                rows.append(AccessRow(kind, name: row.text(1), value: row.bytes(2)))
            }
            return rows
        }
        return AccessChanges(after: nil, version: version, rows: rows)
    }
}
