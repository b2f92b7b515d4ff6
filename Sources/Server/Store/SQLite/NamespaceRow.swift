internal import FreshetSQLite
internal import FreshetWire

/// A row of the table `namespace`.
struct NamespaceRow {
    /// `nil` for a namespace that no write has made yet.
    var id: Int64?
    /// What the epoch of a namespace without a row is derived from: ``EpochRule``.
    var base: Epoch?
    var state: NamespaceState
    /// Mostly there are no invalidations, and then no write has to look for them.
    var counts = NamespaceCounts()

    static func read(_ name: Namespace, _ connection: Connection) throws -> NamespaceRow {
        let made: NamespaceRow? = try connection.withStatement(
            """
            SELECT epoch, head, forgotten, records, bytes, id, tombstones, invalidations, clients, outcomes, outcome_bytes
            FROM namespace WHERE name = ?
            """
        ) { row in
            try row.bind(1, name.name)
            guard try row.step() else { return nil }
            return NamespaceRow(id: row.int64(5), state: try NamespaceState(row), counts: NamespaceCounts(row, from: 6))
        }
        return try made ?? unmade(name, connection)
    }

    /// A namespace that has no row.
    static func unmade(_ name: Namespace, _ connection: Connection) throws -> NamespaceRow {
        try connection.withStatement("SELECT seed, (SELECT value FROM generation WHERE bucket = ?), token FROM store") { row in
            try row.bind(1, EpochSource.bucket(of: name))
            guard try row.step() else { throw WireError.unexpectedJSON("the table 'store' is empty") }
            let rule = EpochRule(seed: row.int64(0), token: row.int64(2))
            let base = rule.base(of: name, generation: row.int64(1))
            return NamespaceRow(id: nil, base: base, state: NamespaceState(unmade: rule.epoch(base)))
        }
    }
}

extension NamespaceState {
    /// Reads a row that begins with `epoch, head, forgotten, records, bytes`.
    init(_ row: Statement) throws {
        let token = row.text(0)
        guard let epoch = Epoch(token), let head = Revision(row.int64(1)), let forgotten = Revision(row.int64(2)) else {
            throw WireError.invalidCursor("\(token)-\(row.int64(1))")
        }
        self.init(epoch: epoch, head: head, forgotten: forgotten, records: Int(row.int64(3)), bytes: Int(row.int64(4)))
    }
}

extension NamespaceCounts {
    /// Reads a row that has `tombstones, invalidations, clients, outcomes, outcome_bytes` from a column on.
    init(_ row: Statement, from column: Int32) {
        self.init()
        tombstones = Int(row.int64(column))
        invalidations = Int(row.int64(column + 1))
        clients = Int(row.int64(column + 2))
        outcomes = Int(row.int64(column + 3))
        outcomeBytes = Int(row.int64(column + 4))
    }
}

extension Record {
    /// Reads a row that has `revision, modified, content_type, value` from a column on.
    init(_ key: RecordKey, _ row: Statement, from column: Int32) throws {
        self.init(
            key: key, revision: try Revision(row, column),
            content: Content(stored: row.bytes(column + 3), type: row.optionalText(column + 2)),
            modified: Timestamp(milliseconds: row.int64(column + 1)))
    }

    /// Reads a row `revision, modified, content_type, length(value), value`, in which a value that is not wanted is
    /// NULL, and the length may be NULL if the value is there; `nil` for a tombstone.
    init?(bounded key: RecordKey, _ row: Statement) throws {
        if row.isNull(4) {
            guard !row.isNull(3) else { return nil }
            try self.init(outlineOf: key, row, from: 0)
        } else {
            let content = Content(stored: row.bytes(4), type: row.optionalText(2))
            self.init(key: key, revision: try Revision(row, 0), content: content, modified: Timestamp(milliseconds: row.int64(1)))
        }
    }

    /// Reads a record without its value, from the columns revision, modified, content_type and the value's length.
    init(outlineOf key: RecordKey, _ row: Statement, from column: Int32) throws {
        self.init(
            key: key, revision: try Revision(row, column), contentType: row.optionalText(column + 2) ?? Content.json,
            size: Int(row.int64(column + 3)), modified: Timestamp(milliseconds: row.int64(column + 1)))
    }
}

extension Revision {
    init(_ row: Statement, _ column: Int32) throws {
        guard let revision = Revision(row.int64(column)) else { throw WireError.invalidCursor(String(row.int64(column))) }
        self = revision
    }
}

extension Content {
    /// Content as the store keeps it: no type means JSON.
    init(stored bytes: [UInt8], type: String?) {
        if let type { self.init(bytes: bytes, type: type) } else { self.init(checkedJSON: bytes) }
    }
}

/// The bytes that are above every id that begins with `prefix`, and below every greater id: 0xFF occurs in no UTF-8.
func endOfRange(of prefix: String) -> [UInt8] { Array(prefix.utf8) + [0xFF] }
