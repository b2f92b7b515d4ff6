internal import CFreshetSQLite

extension Connection {
    /// The number of pages that this connection has written to its file or its log; 0 for a database in memory. It is
    /// read without a query or a lock of the file. Its start is arbitrary, and it wraps: only differences mean anything
    /// (<https://www.sqlite.org/c3ref/c_dbstatus_options.html>).
    package var pagesWritten: Int32 { status(SQLITE_DBSTATUS_CACHE_WRITE) }

    /// The number of pages that this connection has looked up, whether its cache had them or not; one that is read again counts
    /// again. Only differences mean anything, as for ``pagesWritten``.
    package var pagesRead: Int32 { status(SQLITE_DBSTATUS_CACHE_HIT) &+ status(SQLITE_DBSTATUS_CACHE_MISS) }

    private func status(_ counter: Int32) -> Int32 {
        var count: Int32 = 0
        var most: Int32 = 0
        _ = sqlite3_db_status(handle, counter, &count, &most, 0)
        return count
    }
}
