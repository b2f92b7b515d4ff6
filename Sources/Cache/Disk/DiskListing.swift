internal import FreshetSQLite

/// A part of the keys, in the order of their bytes.
struct DiskKeyRange: Sendable {
    private var start: [UInt8]
    /// The first key that is too far; `nil` for no bound.
    private var end: [UInt8]?

    init(prefix: [UInt8]) {
        start = prefix
        var bound = prefix
        while bound.last == 0xFF { bound.removeLast() }
        if let last = bound.popLast() { end = bound + [last + 1] } else { end = nil }
    }

    /// Its keys after one; all for `nil`.
    func after(_ key: [UInt8]?) -> DiskKeyRange {
        var range = self
        // The next possible key after one is that one and a zero.
        if let next = key.map({ $0 + [0] }), start.lexicographicallyPrecedes(next) { range.start = next }
        return range
    }

    /// Its keys up to one of them, which it includes.
    func through(_ key: [UInt8]) -> DiskKeyRange {
        var range = self
        range.end = key + [0]
        return range
    }

    /// For the `WHERE` of a statement. One condition for both cases would have SQLite read on to the last of all keys.
    var condition: String { end == nil ? "key >= ?1" : "key >= ?1 AND key < ?2" }

    /// Binds the parameters of ``condition``.
    func bind(to statement: Statement) throws {
        try statement.bind(1, start)
        if let end { try statement.bind(2, end) }
    }
}

/// Reads what the tables say of entries.
enum DiskListing {
    static func entries(
        in connection: Connection, _ files: DiskFiles, _ range: DiskKeyRange, now: Int64, limit: Int
    ) throws -> [DiskEntry] {
        try connection.withStatement(
            """
            SELECT id, key, bytes, recorded, verified, deadline, sliding, touched, encrypted, file, tags FROM entry
            WHERE \(range.condition) ORDER BY key
            """
        ) { statement in
            try range.bind(to: statement)
            var entries: [DiskEntry] = []
            while entries.count < limit, try statement.step() {
                if let entry = entry(statement, files, now) { entries.append(entry) }
            }
            return entries
        }
    }

    /// The rows of the first keys of a range, and the last of these keys.
    static func rows(in connection: Connection, _ range: DiskKeyRange, limit: Int) throws -> (rows: [KeyHash], last: [UInt8]?) {
        try connection.withStatement("SELECT id, key FROM entry WHERE \(range.condition) ORDER BY key") { statement in
            try range.bind(to: statement)
            var rows: [KeyHash] = []
            var last: [UInt8]?
            while rows.count < limit, try statement.step() {
                rows.append(KeyHash(row: statement.int64(0)))
                last = statement.bytes(1)
            }
            return (rows, last)
        }
    }

    /// The last key of a range; `nil` if there is none.
    static func lastKey(in connection: Connection, _ range: DiskKeyRange) throws -> [UInt8]? {
        try connection.withStatement("SELECT key FROM entry WHERE \(range.condition) ORDER BY key DESC LIMIT 1") { statement in
            try range.bind(to: statement)
            return try statement.step() ? statement.bytes(0) : nil
        }
    }

    static func entry(in connection: Connection, _ files: DiskFiles, _ key: [UInt8], now: Int64) throws -> DiskEntry? {
        try connection.withStatement(
            """
            SELECT id, key, bytes, recorded, verified, deadline, sliding, touched, encrypted, file, tags FROM entry
            WHERE id = ?1 AND key = ?2
            """
        ) { statement in
            try statement.bind(1, KeyHash(key).value)
            try statement.bind(2, key)
            return try statement.step() ? entry(statement, files, now) : nil
        }
    }

    /// `nil` if its lifetime is over.
    private static func entry(_ row: Statement, _ files: DiskFiles, _ now: Int64) -> DiskEntry? {
        let deadline = DiskDeadline(end: row.int64(5), sliding: row.int64(6))
        let (verified, accessLog) = (row.int64(4), row.int64(7))
        guard deadline.isOpen(at: now, stored: verified, used: accessLog) else { return nil }
        let expires = deadline.expires(stored: verified, used: accessLog)
        let number = KeyHash(row: row.int64(0))
        return DiskEntry(
            keyBytes: row.bytes(1), byteCount: Int(row.int64(2)), recorded: DiskDeadline.date(row.int64(3)),
            verified: DiskDeadline.date(verified), expires: expires == .max ? nil : DiskDeadline.date(expires),
            used: DiskDeadline.date(accessLog), tags: row.optionalBytes(10).map(DiskTags.decode) ?? [],
            isEncrypted: row.int64(8) != 0, file: row.optionalInt64(9).map { files.path(number, UInt64(bitPattern: $0)) })
    }
}
