internal import FreshetSQLite

/// Erases removed values from the file and its log, after a clear and where the device may not read a record any more.
extension DiskTier {
    /// The `application_id` of a file whose free space may hold removed values: https://www.sqlite.org/pragma.html#pragma_application_id
    private static let unerased: Int64 = 1

    /// Completes an erasure that a crash or a failure of the disk has interrupted.
    func completeErasure() throws {
        if try connection.pragma("application_id") == "\(Self.unerased)" { erase() }
    }

    /// Erases removed values from the file and its log.
    ///
    /// The file is rewritten with its rows alone. To overwrite values as they are removed does not suffice: those that were replaced or
    /// removed by earlier transactions are in free space too, and so are copies that a tree has left when it was balanced. If the
    /// file cannot be rewritten now, as on a full disk or under a reader, its note stays, and the next erasure or start does it.
    func erase() {
        guard path != nil else { return }
        measured = nil
        do {
            // The copy that SQLite makes of the rows may be as large as the cache, and must not be in memory.
            try connection.pragma("temp_store=FILE")
            defer { _ = try? connection.pragma("temp_store=MEMORY") }
            try connection.execute("VACUUM")
            guard try connection.checkpoint(truncating: true).pages == 0 else { return }
            try connection.execute("PRAGMA application_id = 0")
            try connection.checkpoint(truncating: true)
        } catch {}
    }

    /// Notes in the file that removed values are still in its free space. Within a transaction the note is part of it.
    func markUnerased() throws { try connection.execute("PRAGMA application_id = \(Self.unerased)") }
}
