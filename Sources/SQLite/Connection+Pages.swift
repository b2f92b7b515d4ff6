internal import CSQLite

extension Connection {
    /// How many pages this connection has written to its file or its log, for ever; nothing for a database in memory. No query, no lock of
    /// the file. Counts from a point of its own, and wraps: only differences mean anything
    /// (<https://www.sqlite.org/c3ref/c_dbstatus_options.html>).
    package var pagesWritten: Int32 {
        var count: Int32 = 0
        var most: Int32 = 0
        _ = sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_WRITE, &count, &most, 0)
        return count
    }
}
