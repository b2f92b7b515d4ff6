internal import FreshetSQLite
internal import FreshetWire

extension SQLiteNamespaceTransaction {
    /// How many outcomes beyond the required ones a device may have, so that not every batch has to remove some.
    private static var removalInterval: Int64 { 200 }

    func lastWrite(of client: ClientIdentifier) throws -> Int64 { try clientRow(client)?.last ?? 0 }

    func owner(of client: ClientIdentifier) throws -> ClientOwner? { try clientRow(client)?.owner }

    func outcomes(of numbers: ClosedRange<Int64>, by client: ClientIdentifier) throws -> OutcomeRead {
        guard let client = try clientRow(client) else { return OutcomeRead() }
        return try connection.withStatement(
            "SELECT last, outcomes FROM outcome WHERE client = ? AND last >= ? ORDER BY last"
        ) { row in
            try row.bind(1, client.id)
            try row.bind(2, numbers.lowerBound)
            var read = OutcomeRead()
            while try row.step() {
                try read.append(row.bytes(1), last: row.int64(0), numbers)
                if row.int64(0) >= numbers.upperBound { break }
            }
            return read
        }
    }

    func keep(_ outcomes: [StoredOutcome], of client: ClientIdentifier, owner: ClientOwner?, settled: Int64, at time: Timestamp) throws {
        guard let last = outcomes.last?.number else { return }
        let namespace = try madeRow()
        var row = try advance(client, in: namespace, to: last, on: time.day, owner)
        try StoredOutcome.forEachRow(outcomes) { part, last in
            let encoded = StoredOutcome.encode(part)
            try connection.withStatement("INSERT INTO outcome(client, last, outcomes, count, bytes) VALUES(?, ?, CAST(? AS TEXT), ?, ?)") {
                statement in
                try statement.bind(1, row.id)
                try statement.bind(2, last)
                try statement.bind(4, part.count)
                try statement.bind(5, encoded.count)
                try statement.run(3, inPlace: encoded)
            }
            count {
                $0.outcomes += part.count
                $0.outcomeBytes += encoded.count
            }
        }
        if settled >= row.removed + Self.removalInterval {
            let removed = try connection.removeOutcomes(of: row.id, through: settled)
            count { $0.remove(removed) }
            row.removed = settled
        }
        row.last = last
        row.day = time.day
        row.owner = owner ?? row.owner
        keep(row, of: client, in: namespace)
    }

    /// Stores the device's last number in its row, and returns the row as it was before.
    private func advance(
        _ client: ClientIdentifier, in namespace: Int64, to last: Int64, on day: Int64, _ owner: ClientOwner?
    ) throws -> ClientCache.Row {
        if let known = try clientRow(client) {
            let owner = owner ?? known.owner
            if known.day == day, known.owner == owner {
                try connection.withStatement("UPDATE client SET last = ? WHERE id = ?") { statement in
                    try statement.bind(1, last)
                    try statement.bind(2, known.id)
                    try statement.run()
                }
            } else {
                // Once a day, since it changes an index, and when the name gets an owner.
                try connection.withStatement("UPDATE client SET last = ?, day = ?, owner = ? WHERE id = ?") { statement in
                    try statement.bind(1, last)
                    try statement.bind(2, day)
                    try statement.bind(3, owner?.text)
                    try statement.bind(4, known.id)
                    try statement.run()
                }
            }
            return known
        }
        count { $0.clients += 1 }
        try connection.withStatement("INSERT INTO client(namespace, client, last, day, owner) VALUES(?, ?, ?, ?, ?)") { statement in
            try statement.bind(1, namespace)
            try statement.bind(2, client.text)
            try statement.bind(3, last)
            try statement.bind(4, day)
            try statement.bind(5, owner?.text)
            try statement.run()
        }
        return ClientCache.Row(id: connection.lastInsertedRow, last: 0)
    }

    private func clientRow(_ client: ClientIdentifier) throws -> ClientCache.Row? {
        guard let namespace = row.id else { return nil }
        if let known = clients.row(of: client, in: namespace) { return known }
        guard let row = try connection.client(client, in: namespace) else { return nil }
        clients.keep(row, of: client, in: namespace)
        return row
    }
}

/// The outcomes that were removed.
struct RemovedOutcomes {
    var outcomes = 0
    var bytes = 0
    /// A row has outcomes of one batch: see ``StoredOutcome/forEachRow(_:_:)``.
    var rows = 0
}

extension NamespaceCounts {
    mutating func remove(_ removed: RemovedOutcomes) {
        outcomes -= removed.outcomes
        outcomeBytes -= removed.bytes
    }
}

extension Connection {
    /// Removes the rows of a client's outcomes whose last numbers are at most `last`.
    func removeOutcomes(of client: Int64, through last: Int64) throws -> RemovedOutcomes {
        var removed = try withStatement(
            """
            SELECT sum(coalesce(count, json_array_length(outcomes))), sum(coalesce(bytes, length(CAST(outcomes AS BLOB))))
            FROM outcome WHERE client = ? AND last <= ?
            """
        ) { row in
            try row.bind(1, client)
            try row.bind(2, last)
            return try row.step() ? RemovedOutcomes(outcomes: Int(row.int64(0)), bytes: Int(row.int64(1))) : RemovedOutcomes()
        }
        try withStatement("DELETE FROM outcome WHERE client = ? AND last <= ?") { statement in
            try statement.bind(1, client)
            try statement.bind(2, last)
            try statement.run()
        }
        removed.rows = changes
        return removed
    }
}
