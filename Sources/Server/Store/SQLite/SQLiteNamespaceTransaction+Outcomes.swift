internal import FreshetWire
internal import SQLite

extension SQLiteNamespaceTransaction {
    func lastWrite(of client: ClientIdentifier) throws -> Int64 {
        guard let id = row.id else { return 0 }
        return try connection.client(client, in: id)?.last ?? 0
    }

    func outcome(of number: Int64, by client: ClientIdentifier) throws -> KeptOutcome? {
        guard let id = row.id, let client = try connection.client(client, in: id) else { return nil }
        return try connection.withStatement(
            "SELECT last, outcomes FROM outcome WHERE client = ? AND last >= ? ORDER BY last LIMIT 1"
        ) { row in
            try row.bind(1, client.id)
            try row.bind(2, number)
            guard try row.step() else { return nil }
            return try KeptOutcome.decode(row.bytes(1), last: row.int64(0)).first { $0.number == number }
        }
    }

    func keep(_ outcomes: [KeptOutcome], of client: ClientIdentifier, settled: Int64) throws {
        guard let last = outcomes.last?.number else { return }
        let clientRow = try advance(client, to: last)
        try connection.withStatement("INSERT INTO outcome(client, last, outcomes) VALUES(?, ?, CAST(? AS TEXT))") { statement in
            try statement.bind(1, clientRow)
            try statement.bind(2, last)
            try statement.run(3, inPlace: KeptOutcome.encode(outcomes))
        }
        guard settled > 0 else { return }
        try connection.withStatement("DELETE FROM outcome WHERE client = ? AND last <= ?") { statement in
            try statement.bind(1, clientRow)
            try statement.bind(2, settled)
            try statement.run()
        }
    }

    /// Notes the device's last number, and returns its row.
    private func advance(_ client: ClientIdentifier, to last: Int64) throws -> Int64 {
        let namespace = try madeRow()
        return try connection.withStatement(
            """
            INSERT INTO client(namespace, client, last) VALUES(?, ?, ?)
            ON CONFLICT(namespace, client) DO UPDATE SET last = excluded.last RETURNING id
            """
        ) { row in
            try row.bind(1, namespace)
            try row.bind(2, client.text)
            try row.bind(3, last)
            guard try row.step() else { throw WireError.invalidClient(client.text) }
            let id = row.int64(0)
            try row.run()
            return id
        }
    }
}
