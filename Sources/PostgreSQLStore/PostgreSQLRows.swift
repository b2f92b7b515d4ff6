#if PostgreSQL
internal import FreshetPostgreSQL
internal import FreshetServer

/// The rows of a database within one transaction, in the columns of a ``StoredTable``.
struct PostgreSQLRows: WritableRows {
    let connection: Connection
    let label: String

    /// Begins a transaction that no write transaction of a server overlaps. The lock comes before the snapshot.
    func begin(_ statement: Statement) throws {
        try converting { try exchange([Request(statement), Request(.lockAccess), Request(.copySettings), Request(.waitForDisk)]) }
    }

    /// The number of connections of servers, and of commands, to the database.
    static func servers(_ connection: Connection) throws -> Int {
        let results = try connection.exchange([Request(.forgetActivity), Request(.otherConnections)], by: .patient)
        return Int(try results[1].int64(0, 0))
    }

    func isEmpty() throws -> Bool {
        try converting { try connection.run(.storeIsEmpty, by: .patient).bool(0, 0) }
    }

    func header() throws -> StoreHeader {
        try converting {
            let row = try connection.run(.copiedHeader, by: .patient)
            guard row.count == 1 else { throw StoreError.corrupt(path: label, reason: "the table freshet.store is empty") }
            let (seed, token, access) = (try row.int64(0, 1), try row.int64(0, 2), try row.int64(0, 3))
            return StoreHeader(
                identifier: row.text(0, 0), seed: seed, token: token, access: access, retention: try RetentionClock.Mark(row, from: 4))
        }
    }

    /// Stores the header. The database begins another history, so that a server that had used it reads everything again.
    func setHeader(_ header: StoreHeader) throws {
        var parameters = Parameters()
        parameters.add(header.identifier)
        parameters.add(header.seed)
        parameters.add(header.token)
        parameters.add(header.access)
        parameters.add(header.retention?.time)
        parameters.add(header.retention?.wall)
        try converting { try exchange([Request(.setCopiedHeader, parameters), Request(.resetGenerations)]) }
    }

    func read(_ table: StoredTable, _ body: ([StoredRow]) throws -> Void) throws {
        let columns = table.columns
        // Below all keys.
        var key: StoredRow = columns.prefix(table.keyColumns).map { $0.kind == .integer ? .integer(-1) : .text("") }
        while true {
            let page = try page(table, columns, after: key)
            guard let last = page.last else { return }
            try body(page)
            key = Array(last.prefix(table.keyColumns))
        }
    }

    private func page(_ table: StoredTable, _ columns: [StoredTable.Column], after key: StoredRow) throws -> [StoredRow] {
        var parameters = Parameters()
        for value in key {
            if let text = value.text { parameters.add(text) } else { parameters.add(value.integer) }
        }
        parameters.add(Int64(StorePages.rows))
        parameters.add(Int64(StorePages.bytes))
        return try converting {
            let found = try connection.run(.copied(table), parameters, by: Deadline(after: PostgreSQLCopyEnd.statementPatience))
            return try (0..<found.count).map { row in
                try columns.indices.map { try found.value(row, $0, columns[$0].kind) }
            }
        }
    }

    func checkUnchanged() throws {
        // The answer also shows that the connection still holds the lock.
        let connections = try converting { try Self.servers(connection) }
        guard connections == 0 else { throw StoreError.serversConnected(path: label, connections: connections) }
    }

    func write(_ rows: [StoredRow], to table: StoredTable) throws {
        var parameters = Parameters()
        for (place, column) in table.columns.enumerated() {
            switch column.kind {
            case .integer: parameters.add(array: rows.lazy.map { $0[place].integer })
            case .text: parameters.add(array: rows.lazy.map { $0[place].text })
            case .bytes: parameters.add(array: rows.lazy.map { $0[place].bytes })
            }
        }
        try converting { try exchange([Request(.copying(table), parameters)]) }
    }

    func commit() throws {
        try converting { try exchange([Request(.continueIdentifiers)]) }
        let outcome: [QueryResult]
        do { outcome = try connection.exchange([Request(.commit)], by: Deadline(after: PostgreSQLCopyEnd.statementPatience)) } catch {
            guard !connection.isUsable else { throw StoreError(error, label: label) }
            throw StoreError.outcomeUnknown(path: label, reason: error.description)
        }
        guard outcome.last?.command == "COMMIT" else {
            throw StoreError.failed(path: label, reason: "PostgreSQL has undone the transaction instead of committing it")
        }
        try connection.checkStandby(label)
    }

    private func exchange(_ requests: [Request]) throws {
        _ = try connection.exchange(requests, by: Deadline(after: PostgreSQLCopyEnd.statementPatience))
    }

    /// The other end of the copy must not take the failure for its own.
    private func converting<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as PostgreSQLError { throw StoreError(error, label: label) }
    }
}

extension RetentionClock.Mark {
    /// Reads `retention, wall` from a column of the only row on; `nil` if no server has stored them.
    init?(_ rows: QueryResult, from column: Int) throws {
        guard let time = try rows.optionalInt64(0, column), let wall = try rows.optionalInt64(0, column + 1) else { return nil }
        self.init(time: time, wall: wall)
    }
}

extension QueryResult {
    fileprivate func value(_ row: Int, _ column: Int, _ kind: StoredTable.ValueKind) throws -> StoredValue {
        guard !isNull(row, column) else { return .null }
        return switch kind {
        case .integer: .integer(try int64(row, column))
        case .text: .text(text(row, column))
        case .bytes: .bytes(byteArray(row, column))
        }
    }
}
#endif
