extension Connection {
    /// The schema's version that the program keeps in the file; 0 in a new one.
    package var userVersion: Int64 {
        get throws { try pragma("user_version").flatMap { Int64($0) } ?? 0 }
    }

    /// Stores the schema's version; within a transaction it is committed with it.
    package func setUserVersion(_ version: Int64) throws(SQLiteError) {
        try execute("PRAGMA user_version = \(version)")
    }

    /// Reads a pragma; or runs one, written as `name = value` or `name(value)`. The first column of the first row, if it has one.
    @discardableResult
    package func pragma(_ text: String) throws(SQLiteError) -> String? {
        let statement = try prepare("PRAGMA \(text)", keep: false)
        return try statement.step() ? statement.optionalText(0) : nil
    }

    /// Moves pages from the write-ahead log into the database, as far as readers allow.
    ///
    /// - Parameter truncating: waits for readers (the busy time-out applies) and empties the log's file.
    /// - Returns: how many pages are in the log, and how many of them have been moved.
    @discardableResult
    package func checkpoint(truncating: Bool = false) throws(SQLiteError) -> (pages: Int, moved: Int) {
        let statement = try prepare("PRAGMA wal_checkpoint(\(truncating ? "TRUNCATE" : "PASSIVE"))", keep: false)
        guard try statement.step() else { return (0, 0) }
        return (Int(statement.int64(1)), Int(statement.int64(2)))
    }
}
