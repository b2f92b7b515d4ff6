internal import FreshetWire
internal import SQLite

extension SQLiteNamespaceTransaction {
    /// How many outcomes more than it must a device may have, so that not every batch has to remove some.
    private static var removalInterval: Int64 { 200 }

    func lastWrite(of client: ClientIdentifier) throws -> Int64 { try clientRow(client)?.last ?? 0 }

    func outcomes(of numbers: ClosedRange<Int64>, by client: ClientIdentifier) throws -> [KeptOutcome] {
        guard let client = try clientRow(client) else { return [] }
        return try connection.withStatement(
            "SELECT last, outcomes FROM outcome WHERE client = ? AND last >= ? ORDER BY last"
        ) { row in
            try row.bind(1, client.id)
            try row.bind(2, numbers.lowerBound)
            var outcomes: [KeptOutcome] = []
            while try row.step() {
                let batch = try KeptOutcome.decode(row.bytes(1), last: row.int64(0))
                outcomes += batch.lazy.filter { numbers.contains($0.number) }
                if row.int64(0) >= numbers.upperBound { break }
            }
            return outcomes
        }
    }

    func keep(_ outcomes: [KeptOutcome], of client: ClientIdentifier, settled: Int64) throws {
        guard let last = outcomes.last?.number else { return }
        let namespace = try madeRow()
        var row = try advance(client, in: namespace, to: last)
        try connection.withStatement("INSERT INTO outcome(client, last, outcomes) VALUES(?, ?, CAST(? AS TEXT))") { statement in
            try statement.bind(1, row.id)
            try statement.bind(2, last)
            try statement.run(3, inPlace: KeptOutcome.encode(outcomes))
        }
        if settled > row.last || settled >= row.removed + Self.removalInterval {
            try connection.withStatement("DELETE FROM outcome WHERE client = ? AND last <= ?") { statement in
                try statement.bind(1, row.id)
                try statement.bind(2, settled)
                try statement.run()
            }
            row.removed = settled
        }
        row.last = last
        clients.keep(row, of: client, in: namespace)
    }

    /// Notes the device's last number in its row, which is given as it was before.
    private func advance(_ client: ClientIdentifier, in namespace: Int64, to last: Int64) throws -> ClientCache.Row {
        if let known = try clientRow(client) {
            try connection.withStatement("UPDATE client SET last = ? WHERE id = ?") { statement in
                try statement.bind(1, last)
                try statement.bind(2, known.id)
                try statement.run()
            }
            return known
        }
        try connection.withStatement("INSERT INTO client(namespace, client, last) VALUES(?, ?, ?)") { statement in
            try statement.bind(1, namespace)
            try statement.bind(2, client.text)
            try statement.bind(3, last)
            try statement.run()
        }
        return ClientCache.Row(id: connection.lastInsertedRow, last: 0)
    }

    private func clientRow(_ client: ClientIdentifier) throws -> ClientCache.Row? {
        guard let namespace = row.id else { return nil }
        if let known = clients.row(of: client, in: namespace) { return known }
        guard let found = try connection.client(client, in: namespace) else { return nil }
        let row = ClientCache.Row(id: found.id, last: found.last)
        clients.keep(row, of: client, in: namespace)
        return row
    }
}
