internal import FreshetWire
internal import SQLite

/// The write transaction of an ``SQLiteRecordStore``.
final class SQLiteRecordTransaction: RecordTransaction {
    private let writer: StoreWriter
    private var connection: Connection { writer.connection }

    init(_ writer: StoreWriter) { self.writer = writer }

    func namespace(_ namespace: Namespace) throws -> any NamespaceTransaction { try writer.namespace(namespace) }

    func touch() throws { try connection.withStatement("UPDATE store SET touched = touched + 1") { try $0.run() } }

    func drop(_ namespace: Namespace) throws -> Bool {
        try writer.flush()
        writer.forget()
        guard let id = try NamespaceRow.read(namespace, connection).id else { return false }
        // Its rows may be millions: they are out of reach now, and compaction clears them away bit by bit.
        try run("INSERT INTO dropped(namespace) VALUES(?)", id)
        try run("DELETE FROM namespace WHERE id = ?", id)
        try run(
            "INSERT INTO generation(bucket, value) VALUES(?, 1) ON CONFLICT(bucket) DO UPDATE SET value = value + 1",
            EpochSource.bucket(of: namespace))
        return true
    }

    func rotateEpochs(seed: UInt64) throws -> [Namespace] {
        try writer.flush()
        writer.forget()
        try run("UPDATE store SET seed = ?", Int64(bitPattern: seed))
        let names = try connection.withStatement("SELECT name FROM namespace ORDER BY name") { row in
            var names: [Namespace] = []
            while try row.step() { names.append(try Namespace(row.text(0))) }
            return names
        }
        for name in names { try set(NamespaceState.unmade(name, connection).epoch, of: name) }
        return names
    }

    func renewEpoch(of namespace: Namespace, seed: UInt64) throws -> Bool {
        try writer.flush()
        writer.forget()
        try set(EpochSource(seed: seed).epoch(of: namespace, generation: 0), of: namespace)
        return connection.changes > 0
    }

    private func set(_ epoch: Epoch, of namespace: Namespace) throws {
        try connection.withStatement("UPDATE namespace SET epoch = ? WHERE name = ?") { statement in
            try statement.bind(1, epoch.token)
            try statement.bind(2, namespace.name)
            try statement.run()
        }
    }

    @discardableResult
    private func run(_ sql: StaticString, _ values: Int64...) throws -> Int {
        try connection.withStatement(sql) { statement in
            for (index, value) in values.enumerated() { try statement.bind(Int32(index + 1), value) }
            try statement.run()
            return connection.changes
        }
    }
}

extension SQLiteRecordTransaction {
    func compact(before time: Timestamp, limit: Int) throws -> Compaction {
        try writer.flush()
        writer.forget()
        var compaction = Compaction(isComplete: false)
        func rest() -> Int { limit - compaction.forgotten - compaction.purged }
        try forgetTombstones(before: time, limit: rest(), &compaction)
        try forgetInvalidations(before: time, limit: rest(), &compaction)
        compaction.purged += try purge(limit: rest())
        compaction.isComplete = rest() > 0
        return compaction
    }

    func forgetDeletes(of namespace: Namespace, limit: Int) throws -> Compaction {
        try writer.flush()
        writer.forget()
        guard let id = try NamespaceRow.read(namespace, connection).id else { return Compaction() }
        let deletes = try revisions(
            "SELECT revision FROM record WHERE deleted IS NOT NULL AND namespace = ? ORDER BY revision LIMIT ?", id, limit)
        for revision in deletes { try run("DELETE FROM record WHERE namespace = ? AND revision = ?", id, revision) }
        let invalidations = try revisions(
            "SELECT revision FROM invalidation WHERE namespace = ? ORDER BY revision LIMIT ?", id, limit - deletes.count)
        for revision in invalidations { try run("DELETE FROM invalidation WHERE namespace = ? AND revision = ?", id, revision) }
        let newest = max(deletes.last ?? 0, invalidations.last ?? 0)
        try run(
            "UPDATE namespace SET forgotten = max(forgotten, ?), invalidations = invalidations - ? WHERE id = ?", newest,
            Int64(invalidations.count), id)
        let count = deletes.count + invalidations.count
        return Compaction(forgotten: count, isComplete: count < limit)
    }

    private func revisions(_ sql: StaticString, _ namespace: Int64, _ limit: Int) throws -> [Int64] {
        try connection.withStatement(sql) { row in
            try row.bind(1, namespace)
            try row.bind(2, limit)
            var revisions: [Int64] = []
            while try row.step() { revisions.append(row.int64(0)) }
            return revisions
        }
    }

    private func forgetTombstones(before time: Timestamp, limit: Int, _ compaction: inout Compaction) throws {
        let rows = try connection.withStatement(
            "SELECT row, namespace, revision FROM record WHERE deleted < ? ORDER BY deleted, namespace, revision LIMIT ?"
        ) { row in
            try row.bind(1, time.milliseconds)
            try row.bind(2, limit)
            var rows: [(row: Int64, namespace: Int64, revision: Int64)] = []
            while try row.step() { rows.append((row.int64(0), row.int64(1), row.int64(2))) }
            return rows
        }
        for row in rows {
            try run("DELETE FROM record WHERE row = ?", row.row)
            let isOurs = try run("UPDATE namespace SET forgotten = max(forgotten, ?) WHERE id = ?", row.revision, row.namespace) > 0
            // The others belonged to a namespace that was dropped.
            if isOurs { compaction.forgotten += 1 } else { compaction.purged += 1 }
        }
    }

    private func forgetInvalidations(before time: Timestamp, limit: Int, _ compaction: inout Compaction) throws {
        let rows = try connection.withStatement(
            "SELECT namespace, revision FROM invalidation WHERE modified < ? ORDER BY modified, namespace, revision LIMIT ?"
        ) { row in
            try row.bind(1, time.milliseconds)
            try row.bind(2, limit)
            var rows: [(namespace: Int64, revision: Int64)] = []
            while try row.step() { rows.append((row.int64(0), row.int64(1))) }
            return rows
        }
        for row in rows {
            try run("DELETE FROM invalidation WHERE namespace = ? AND revision = ?", row.namespace, row.revision)
            let isOurs =
                try run(
                    "UPDATE namespace SET forgotten = max(forgotten, ?), invalidations = invalidations - 1 WHERE id = ?", row.revision,
                    row.namespace) > 0
            if isOurs { compaction.forgotten += 1 } else { compaction.purged += 1 }
        }
    }

    /// Clears away what dropped namespaces have left.
    private func purge(limit: Int) throws -> Int {
        var purged = 0
        while purged < limit {
            let next = try connection.withStatement("SELECT namespace FROM dropped LIMIT 1") { try $0.step() ? $0.int64(0) : nil }
            guard let id = next else { break }
            let rest = { Int64(limit - purged) }
            purged += try run("DELETE FROM record WHERE row IN (SELECT row FROM record WHERE namespace = ? LIMIT ?)", id, rest())
            purged += try run(
                "DELETE FROM invalidation WHERE (namespace, revision) IN (SELECT namespace, revision FROM invalidation WHERE namespace = ? LIMIT ?)",
                id, rest())
            purged += try run(
                """
                DELETE FROM outcome WHERE (client, last) IN
                    (SELECT o.client, o.last FROM client c JOIN outcome o ON o.client = c.id WHERE c.namespace = ? LIMIT ?)
                """, id, rest())
            guard purged < limit else { break }
            purged += try run("DELETE FROM client WHERE id IN (SELECT id FROM client WHERE namespace = ? LIMIT ?)", id, rest())
            guard purged < limit else { break }
            purged += try run("DELETE FROM dropped WHERE namespace = ?", id)
        }
        return purged
    }
}
