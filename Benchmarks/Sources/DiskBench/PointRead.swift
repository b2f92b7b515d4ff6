import CPointRead

/// A table by text key, read by one prepared statement through SQLite's C API: the least that a read can cost.
final class PointRead {
    struct Failure: Error {
        let message: String
    }

    private let handle: OpaquePointer
    private let select: OpaquePointer

    init(path: String, isRowless: Bool) throws {
        var handle: OpaquePointer?
        guard sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK, let handle
        else { throw Failure(message: path) }
        self.handle = handle
        let sql = """
            PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;
            CREATE TABLE kv(key TEXT PRIMARY KEY, value BLOB)\(isRowless ? " WITHOUT ROWID" : "");
            """
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw Failure(message: String(cString: sqlite3_errmsg(handle))) }
        var select: OpaquePointer?
        sqlite3_prepare_v3(handle, "SELECT value FROM kv WHERE key = ?1", -1, UInt32(SQLITE_PREPARE_PERSISTENT), &select, nil)
        guard let select else { throw Failure(message: String(cString: sqlite3_errmsg(handle))) }
        self.select = select
    }

    deinit {
        sqlite3_finalize(select)
        sqlite3_close(handle)
    }

    func fill(_ keys: [String], _ value: [UInt8]) throws {
        var insert: OpaquePointer?
        sqlite3_exec(handle, "BEGIN", nil, nil, nil)
        sqlite3_prepare_v2(handle, "INSERT INTO kv VALUES (?1, ?2)", -1, &insert, nil)
        for key in keys {
            try bound(insert, key) { insert in
                sqlite3_bind_blob(insert, 2, value, Int32(value.count), nil)
                guard sqlite3_step(insert) == SQLITE_DONE else { throw Failure(message: String(cString: sqlite3_errmsg(handle))) }
                sqlite3_reset(insert)
            }
        }
        sqlite3_finalize(insert)
        sqlite3_exec(handle, "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)", nil, nil, nil)
    }

    func read(_ key: String) throws -> [UInt8]? {
        try bound(select, key) { select in
            defer { sqlite3_reset(select) }
            guard sqlite3_step(select) == SQLITE_ROW else { return nil }
            let count = Int(sqlite3_column_bytes(select, 0))
            return Array(UnsafeRawBufferPointer(start: sqlite3_column_blob(select, 0), count: count))
        }
    }

    /// The key's own bytes are bound, in place.
    private func bound<Value>(_ statement: OpaquePointer?, _ key: String, _ body: (OpaquePointer) throws -> Value) throws -> Value {
        guard let statement else { throw Failure(message: String(cString: sqlite3_errmsg(handle))) }
        var key = key
        return try key.withUTF8 { bytes in
            try bytes.withMemoryRebound(to: CChar.self) { text in
                sqlite3_bind_text(statement, 1, text.baseAddress, Int32(text.count), nil)
                return try body(statement)
            }
        }
    }
}
