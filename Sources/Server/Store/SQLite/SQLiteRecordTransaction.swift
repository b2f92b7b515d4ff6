internal import FreshetSQLite
internal import FreshetWire

/// The write transaction of an ``SQLiteRecordStore``.
final class SQLiteRecordTransaction: RecordTransaction {
    let writer: StoreWriter
    var connection: Connection { writer.connection }
    private(set) var changesAccess = false

    init(_ writer: StoreWriter) { self.writer = writer }

    func namespace(_ namespace: Namespace) throws -> any NamespaceTransaction { try writer.namespace(namespace) }

    func touch() throws { try connection.withStatement("UPDATE store SET touched = touched + 1") { try $0.run() } }

    func accessVersion() -> AccessVersion { writer.access.version }

    func accessChanges(after version: AccessVersion?) throws -> AccessChanges { try connection.accessChanges(writer.access) }

    func keep(_ row: AccessRow) throws {
        changesAccess = true
        try connection.withStatement("INSERT OR REPLACE INTO access(kind, name, value) VALUES(?, ?, ?)") { statement in
            try statement.bind(1, row.kind.rawValue)
            try statement.bind(2, row.name)
            try statement.bind(3, row.value)
            try statement.run()
        }
    }

    func remove(_ kind: AccessRow.Kind, named name: String) throws {
        changesAccess = true
        try connection.withStatement("DELETE FROM access WHERE kind = ? AND name = ?") { statement in
            try statement.bind(1, kind.rawValue)
            try statement.bind(2, name)
            try statement.run()
        }
    }

    func drop(_ namespace: Namespace) throws -> Bool {
        try writer.flush()
        writer.forget()
        guard let id = try NamespaceRow.read(namespace, connection).id else { return false }
        // There may be millions of rows: they are out of reach now, and compaction removes them step by step.
        try run("INSERT INTO dropped(namespace) VALUES(?)", id)
        try run("DELETE FROM namespace WHERE id = ?", id)
        try run(
            "INSERT INTO generation(bucket, value) VALUES(?, 1) ON CONFLICT(bucket) DO UPDATE SET value = value + 1",
            EpochSource.bucket(of: namespace))
        return true
    }

    func rotateEpochs(seed: UInt64) throws {
        try writer.flush()
        writer.forget()
        try run("UPDATE store SET seed = ?, token = 0", Int64(bitPattern: seed))
        let names = try connection.withStatement("SELECT name FROM namespace ORDER BY name") { row in
            var names: [Namespace] = []
            while try row.step() { names.append(try Namespace(row.text(0))) }
            return names
        }
        for name in names { try set(NamespaceRow.unmade(name, connection).state.epoch, base: nil, of: name) }
    }

    func renewEpoch(of namespace: Namespace, seed: UInt64) throws -> Bool {
        try writer.flush()
        writer.forget()
        let token = try connection.withStatement("SELECT token FROM store") { try $0.step() ? $0.int64(0) : 0 }
        let base = EpochSource(seed: seed).epoch(of: namespace, generation: 0)
        let rule = EpochRule(seed: Int64(bitPattern: seed), token: token)
        try set(rule.epoch(base), base: token == 0 ? nil : base, of: namespace)
        return connection.changes > 0
    }

    /// - Parameter base: `nil` in a store without a token.
    private func set(_ epoch: Epoch, base: Epoch?, of namespace: Namespace) throws {
        try connection.withStatement("UPDATE namespace SET epoch = ?, base = ? WHERE name = ?") { statement in
            try statement.bind(1, epoch.token)
            try statement.bind(2, base?.token)
            try statement.bind(3, namespace.name)
            try statement.run()
        }
    }

    @discardableResult
    func run(_ sql: StaticString, _ values: Int64...) throws -> Int {
        try connection.withStatement(sql) { statement in
            for (index, value) in values.enumerated() { try statement.bind(Int32(index + 1), value) }
            try statement.run()
            return connection.changes
        }
    }
}
