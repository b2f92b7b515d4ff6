#if PostgreSQL
internal import FreshetPostgreSQL
internal import FreshetServer
internal import FreshetWire

/// A namespace as one snapshot has it: its row, or none, with what its epoch is derived from.
struct NamespaceRow {
    /// `nil` for a namespace that no write has made yet.
    var id: Int64?
    /// The epoch before the store's token enters it.
    var base: Epoch
    /// How often namespaces of its bucket of names have been dropped.
    var generation: Int64
    var state: NamespaceState
    var counts = NamespaceCounts()

    /// The columns that every such row begins with.
    static let columns = 9

    /// Reads a row that begins with `seed, token, generation, id, base, head, forgotten, records, bytes`.
    init(_ name: Namespace, _ rows: QueryResult, _ row: Int) throws {
        let rule = EpochRule(seed: try rows.int64(row, 0), token: try rows.int64(row, 1))
        generation = try rows.optionalInt64(row, 2) ?? 0
        guard let id = try rows.optionalInt64(row, 3) else {
            id = nil
            base = rule.base(of: name, generation: generation)
            state = NamespaceState(unmade: rule.epoch(base))
            return
        }
        let token = rows.text(row, 4)
        guard let base = Epoch(token) else { throw WireError.invalidCursor(token) }
        self.id = id
        self.base = base
        state = NamespaceState(
            epoch: rule.epoch(base), head: try Revision(rows, row, 5), forgotten: try Revision(rows, row, 6),
            records: Int(try rows.int64(row, 7)), bytes: Int(try rows.int64(row, 8)))
    }

    /// Reads a row that has the counts after those columns.
    init(counted name: Namespace, _ rows: QueryResult, _ row: Int) throws {
        try self.init(name, rows, row)
        if id != nil { counts = try NamespaceCounts(rows, row, from: Self.columns) }
    }
}

extension NamespaceCounts {
    /// Reads `tombstones, invalidations, clients, outcomes, outcome_bytes`.
    init(_ rows: QueryResult, _ row: Int, from column: Int) throws {
        self.init()
        tombstones = Int(try rows.int64(row, column))
        invalidations = Int(try rows.int64(row, column + 1))
        clients = Int(try rows.int64(row, column + 2))
        outcomes = Int(try rows.int64(row, column + 3))
        outcomeBytes = Int(try rows.int64(row, column + 4))
    }
}

extension Revision {
    init(_ rows: QueryResult, _ row: Int, _ column: Int) throws {
        let number = try rows.int64(row, column)
        guard let revision = Revision(number) else { throw WireError.invalidCursor(String(number)) }
        self = revision
    }
}

/// A record or tombstone as a statement returns it: `revision, modified, content_type, octet_length(value), value`.
struct RecordRow {
    var revision: Revision
    var modified: Timestamp
    /// `nil` for JSON.
    var contentType: String?
    /// `nil` for a tombstone.
    var size: Int?
    /// `nil` if the statement left it out.
    var value: [UInt8]?

    init(_ rows: QueryResult, _ row: Int, from column: Int) throws {
        revision = try Revision(rows, row, column)
        modified = Timestamp(milliseconds: try rows.int64(row, column + 1))
        contentType = rows.optionalText(row, column + 2)
        size = try rows.optionalInt64(row, column + 3).map { Int($0) }
        value = size == nil || rows.isNull(row, column + 4) ? nil : rows.byteArray(row, column + 4)
    }

    /// The value, if it was read.
    var content: Content? {
        guard let value else { return nil }
        return contentType.map { Content(bytes: value, type: $0) } ?? Content(checkedJSON: value)
    }

    /// The record, without its value if that was left out; `nil` for a tombstone.
    func record(_ key: RecordKey) -> Record? {
        guard let size else { return nil }
        if let content { return Record(key: key, revision: revision, content: content, modified: modified) }
        return Record(key: key, revision: revision, contentType: contentType ?? Content.json, size: size, modified: modified)
    }

    var existing: ExistingRow { ExistingRow(row: 0, revision: revision, size: size, isJSON: contentType == nil) }
}
#endif
