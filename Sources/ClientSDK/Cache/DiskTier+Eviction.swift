internal import FreshetSQLite
internal import FreshetWire

/// Keeps the tables within a number of bytes.
///
/// Rows are evicted in the order of their numbers, which is the order of their arrival. A row that was used since the
/// last check is retained, and gets the next number instead. This keeps the entries that least-recently-used keeps, or
/// better ones (Yang et al., HotOS '23, <https://doi.org/10.1145/3593856.3595887>). A row that is never read again
/// costs nothing, and a use is a narrow row in a separate table.
extension DiskTier {
    private static var mostUses: Int { 4_096 }

    /// The bytes that the tables take, in whole pages. O(1): about 5 µs.
    var bytes: Int {
        get throws {
            func number(_ name: StaticString) throws -> Int { try connection.withStatement(name) { try $0.step() ? Int($0.int64(0)) : 0 } }
            let bytes = try (number("PRAGMA page_count") - number("PRAGMA freelist_count")) * pageSize
            measured = (bytes, connection.pagesWritten)
            return bytes
        }
    }

    /// An upper bound of ``bytes``: each page that the tables took since the last measurement has been written. No
    /// query; `Int.max` before the first measurement, and in memory, where pages are not counted.
    var mostBytes: Int {
        guard path != nil, let measured else { return .max }
        return measured.bytes + Int(connection.pagesWritten &- measured.pagesWritten) * pageSize
    }

    /// Notes that an entry was read. Reaches the disk with a later transaction.
    func noteUse(_ key: RecordKey) {
        if limit != .max, uses.count < Self.mostUses { uses.insert(key) }
    }

    /// Returns the next entries to evict.
    func candidates(atMost count: Int) throws -> [EvictionCandidate] {
        if !uses.isEmpty { try connection.transaction { try writeUses(atMost: .max) } }
        return try connection.withStatement(
            """
            SELECT rowid, collection, id, epoch, as_of, pass, EXISTS(SELECT 1 FROM used WHERE used.id = entry.rowid),
              length(CAST(collection AS BLOB)) + length(CAST(id AS BLOB)) + ifnull(length(value), 0) FROM entry
            ORDER BY rowid LIMIT ?1
            """
        ) { statement in
            try statement.bind(1, count)
            var candidates: [EvictionCandidate] = []
            while try statement.step() {
                guard let key = try? RecordKey(collection: statement.text(1), id: statement.text(2)), let epoch = Epoch(statement.text(3)),
                    let asOf = Revision(statement.int64(4))
                else { throw Self.damaged("an entry") }
                candidates.append(
                    EvictionCandidate(
                        row: statement.int64(0), key: key, bytes: Int(statement.int64(7)), wasUsed: statement.int64(6) != 0,
                        isEvictable: Entry.isEvictable(epoch: epoch, asOf: asOf, pass: statement.int64(5), state)))
            }
            return candidates
        }
    }

    /// The number of the newest entry.
    var newestRow: Int64 {
        get throws { try connection.withStatement("SELECT ifnull(max(rowid), 0) FROM entry") { try $0.step() ? $0.int64(0) : 0 } }
    }

    /// Carries out the choice among the candidates.
    func carryOut(_ choice: EvictionRound.Choice) throws {
        // After a loss of power the entries are only evicted again.
        try setDurable(false)
        try connection.transaction {
            for candidate in choice.victims { try run("DELETE FROM entry WHERE rowid = ?1", candidate.row) }
            for row in choice.retained { try run("UPDATE entry SET rowid = (SELECT max(rowid) + 1 FROM entry) WHERE rowid = ?1", row) }
            // The marks of rows that were passed, and of rows that have been removed otherwise.
            try connection.withStatement("DELETE FROM used WHERE id < (SELECT ifnull(min(rowid), 0x7FFFFFFFFFFFFFFF) FROM entry)") {
                try $0.run()
            }
        }
    }

    func writeUses(atMost count: Int) throws {
        for key in uses.prefix(count) {
            try connection.withStatement(
                "INSERT OR IGNORE INTO used SELECT rowid FROM entry WHERE collection = ?1 AND id = ?2"
            ) { statement in
                try statement.bind(1, key.collection)
                try statement.bind(2, key.id)
                try statement.run()
            }
            uses.remove(key)
        }
    }

    private func run(_ sql: StaticString, _ number: Int64) throws {
        try connection.withStatement(sql) { statement in
            try statement.bind(1, number)
            try statement.run()
        }
    }
}
