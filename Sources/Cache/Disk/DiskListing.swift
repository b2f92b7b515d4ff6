internal import FreshetSQLite

/// A part of the keys, in the order of their bytes.
struct DiskKeyRange: Sendable {
    private let start: [UInt8]
    /// The first key that is too far; `nil` for no bound.
    private let end: [UInt8]?

    init(prefix: [UInt8], after: [UInt8]?) {
        // The next possible key after one is that one and a zero.
        let next = after.map { $0 + [0] } ?? []
        start = next.lexicographicallyPrecedes(prefix) ? prefix : next
        var bound = prefix
        while bound.last == 0xFF { bound.removeLast() }
        if let last = bound.popLast() { end = bound + [last + 1] } else { end = nil }
    }

    /// As the first and second parameter.
    func bind(to statement: Statement) throws {
        try statement.bind(1, start)
        try statement.bind(2, end)
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
            WHERE key >= ?1 AND (?2 IS NULL OR key < ?2) ORDER BY key
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
