internal import FreshetSQLite
internal import FreshetWire

/// The rows of a file, in the columns of a ``StoredTable``.
struct SQLiteRows: WritableRows {
    let connection: Connection
    let path: String

    func header() throws -> StoreHeader {
        try converting {
            try connection.withStatement("SELECT identifier, seed, token FROM store") { row in
                guard try row.step() else { throw StoreError.corrupt(path: path, reason: "the table 'store' is empty") }
                return StoreHeader(
                    identifier: row.text(0), seed: row.int64(1), token: row.int64(2), access: 0, retention: try connection.retentionMark())
            }
        }
    }

    /// Stores the header in the row that the schema has made.
    func setHeader(_ header: StoreHeader) throws {
        try converting {
            try connection.withStatement("UPDATE store SET identifier = ?, seed = ?, token = ?, retention = ?, wall = ?") { statement in
                try statement.bind(1, header.identifier)
                try statement.bind(2, header.seed)
                try statement.bind(3, header.token)
                try statement.bind(4, header.retention?.time)
                try statement.bind(5, header.retention?.wall)
                try statement.run()
            }
        }
    }

    func read(_ table: StoredTable, _ body: ([StoredRow]) throws -> Void) throws {
        let columns = table.columns
        try converting {
            try connection.withStatement(Self.select(table)) { row in
                var pages = StorePages()
                while try row.step() {
                    try pages.add(columns.indices.map { row.value(Int32($0), columns[$0].kind) }, body)
                }
                try pages.finish(body)
            }
        }
    }

    /// The lock of the directory keeps everything else away.
    func checkUnchanged() {}

    func write(_ rows: [StoredRow], to table: StoredTable) throws {
        let rule = table == .namespace ? try epochRule() : nil
        try converting {
            try connection.withStatement(Self.insert(table)) { statement in
                for row in rows {
                    for (place, value) in row.enumerated() { try statement.bind(Int32(place + 1), value) }
                    if let rule { try statement.bindEpoch(of: row, rule) }
                    try statement.run()
                    guard connection.changes == 1 else {
                        throw StoreError.corrupt(path: path, reason: "outcomes of a client that has no row")
                    }
                }
            }
        }
    }

    private func epochRule() throws -> EpochRule {
        let header = try header()
        return EpochRule(seed: header.seed, token: header.token)
    }

    private func converting<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as SQLiteError { throw StoreError(error, path: path) }
    }

    private static func select(_ table: StoredTable) -> StaticString {
        switch table {
        case .generation: "SELECT bucket, value FROM generation WHERE value <> 0 ORDER BY bucket"
        case .namespace:
            """
            SELECT id, name, coalesce(base, epoch), head, forgotten, records, bytes, tombstones, invalidations, clients, outcomes, outcome_bytes
            FROM namespace ORDER BY id
            """
        case .record:
            """
            SELECT namespace, collection, id, revision, modified, client, write, content_type, deleted, value
            FROM record WHERE namespace NOT IN (SELECT namespace FROM dropped) ORDER BY namespace, collection, id
            """
        case .invalidation:
            """
            SELECT namespace, kind, collection, name, revision, modified, since
            FROM invalidation WHERE namespace NOT IN (SELECT namespace FROM dropped) ORDER BY namespace, kind, collection, name
            """
        case .client:
            """
            SELECT namespace, client, last, day, owner
            FROM client WHERE namespace NOT IN (SELECT namespace FROM dropped) ORDER BY namespace, client
            """
        case .outcome:
            """
            SELECT client.namespace, client.client, outcome.last, coalesce(outcome.count, json_array_length(outcome.outcomes)), outcome.outcomes
            FROM client CROSS JOIN outcome ON outcome.client = client.id
            WHERE client.namespace NOT IN (SELECT namespace FROM dropped) ORDER BY client.namespace, client.client, outcome.last
            """
        case .access: "SELECT kind, name, value FROM access ORDER BY kind, name"
        }
    }

    private static func insert(_ table: StoredTable) -> StaticString {
        switch table {
        case .generation: "INSERT INTO generation(bucket, value) VALUES(?, ?)"
        case .namespace:
            """
            INSERT INTO namespace(id, name, base, head, forgotten, records, bytes, tombstones, invalidations, clients, outcomes, outcome_bytes, epoch)
            VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        case .record:
            """
            INSERT INTO record(namespace, collection, id, revision, modified, client, write, content_type, deleted, value)
            VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        case .invalidation:
            "INSERT INTO invalidation(namespace, kind, collection, name, revision, modified, since) VALUES(?, ?, ?, ?, ?, ?, ?)"
        case .client: "INSERT INTO client(namespace, client, last, day, owner) VALUES(?, ?, ?, ?, ?)"
        case .outcome:
            """
            INSERT INTO outcome(client, last, count, outcomes, bytes)
            SELECT id, ?3, ?4, CAST(?5 AS TEXT), length(?5) FROM client WHERE namespace = ?1 AND client = ?2
            """
        case .access: "INSERT INTO access(kind, name, value) VALUES(?, ?, ?)"
        }
    }
}

extension Statement {
    fileprivate func value(_ column: Int32, _ kind: StoredTable.ValueKind) -> StoredValue {
        guard !isNull(column) else { return .null }
        return switch kind {
        case .integer: .integer(int64(column))
        case .text: .text(text(column))
        case .bytes: .bytes(bytes(column))
        }
    }

    fileprivate func bind(_ index: Int32, _ value: StoredValue) throws(SQLiteError) {
        switch value {
        case .null: try bindNull(index)
        case .integer(let number): try bind(index, number)
        case .text(let text): try bind(index, text)
        case .bytes(let bytes): try bind(index, bytes)
        }
    }

    /// Binds the epoch of a row of the table `namespace`, and its base only where the two differ.
    fileprivate func bindEpoch(of row: StoredRow, _ rule: EpochRule) throws {
        let token = row[2].text ?? ""
        guard let base = Epoch(token) else { throw WireError.invalidCursor(token) }
        let epoch = rule.epoch(base)
        if epoch == base { try bindNull(3) }
        try bind(Int32(row.count + 1), epoch.token)
    }
}
