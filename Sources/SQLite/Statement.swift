internal import CFreshetSQLite

/// A prepared statement, lent out by ``Connection/withStatement(_:_:)-(StaticString,_)`` for the length of a closure.
///
/// Bind its parameters (counted from 1, as SQLite does), step through its rows, read the columns (counted from 0).
/// When the closure ends, the statement is reset and its parameters are cleared. Like its connection, it belongs to one thread
/// at a time.
package final class Statement {
    let handle: OpaquePointer
    /// The connection's handle. Valid since a connection finalizes its statements before it closes.
    private let database: OpaquePointer
    /// While true, the statement is being used by a closure up the stack, so it cannot be lent again.
    var isLent = false

    init(database: OpaquePointer, sql: UnsafePointer<CChar>, length: Int32, keep: Bool) throws(SQLiteError) {
        var handle: OpaquePointer?
        let flags = keep ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        let code = sqlite3_prepare_v3(database, sql, length, flags, &handle, nil)
        guard code == SQLITE_OK else { throw .last(of: database, code: code, sql: String(cString: sql)) }
        guard let handle else {
            throw SQLiteError(code: SQLITE_MISUSE, message: "the text holds no statement", sql: String(cString: sql))
        }
        self.handle = handle
        self.database = database
    }

    deinit { sqlite3_finalize(handle) }

    /// The text it was prepared from.
    package var sql: String { sqlite3_sql(handle).map { String(cString: $0) } ?? "" }

    /// Moves to the next row: false when there is none.
    package func step() throws(SQLiteError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw failure(code)
        }
    }

    /// Runs a statement to its end, skips its rows, and resets it: it can be bound and run again.
    package func run() throws(SQLiteError) {
        while try step() {}
        reset()
    }

    /// Makes it ready to be run again. Bound parameters stay.
    package func reset() {
        // The code repeats the failure of the last step, which step() has thrown.
        _ = sqlite3_reset(handle)
    }

    func clear() {
        reset()
        _ = sqlite3_clear_bindings(handle)
    }

    func check(_ code: Int32) throws(SQLiteError) {
        guard code == SQLITE_OK else { throw failure(code) }
    }

    func failure(_ code: Int32) -> SQLiteError { .last(of: database, code: code, sql: sql) }
}

extension SQLiteError {
    static func last(of database: OpaquePointer, code: Int32, sql: String? = nil) -> SQLiteError {
        // A call that SQLite refused as misuse leaves the connection's last error as it was.
        let described = sqlite3_errcode(database) & 0xFF == code & 0xFF
        return SQLiteError(
            code: described ? sqlite3_extended_errcode(database) : code,
            message: String(cString: described ? sqlite3_errmsg(database) : sqlite3_errstr(code)),
            sql: sql,
            systemError: code & 0xFF == SQLITE_IOERR || code & 0xFF == SQLITE_CANTOPEN ? sqlite3_system_errno(database) : 0
        )
    }
}
