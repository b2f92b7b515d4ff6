internal import CFreshetSQLite

extension Connection {
    /// The number of pages that this connection has written to its file or its log; 0 for a database in memory. It is
    /// read without a query or a lock of the file. Its start is arbitrary, and it wraps: only differences mean anything
    /// (<https://www.sqlite.org/c3ref/c_dbstatus_options.html>).
    package var pagesWritten: Int32 {
        var count: Int32 = 0
        var most: Int32 = 0
        _ = sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_WRITE, &count, &most, 0)
        return count
    }
}
