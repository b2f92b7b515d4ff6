internal import CFreshetSQLite

extension Connection {
    /// Runs a read that does not wait for the disk, nor for another connection's lock.
    ///
    /// What SQLite has in its cache and what the kernel has in its page cache can be read so. The connection has to be
    /// one that was opened for nonblocking reads and has read from a database with a write-ahead log before.
    ///
    /// - Parameter body: the read. It resets its statements before it returns, and does not write.
    /// - Returns: `nil` if the read would have had to wait, or failed: do it again where it may wait, and see what the
    ///   error is.
    package func nonblocking<Result>(_ body: () throws -> Result) -> Result? {
        guard let file = layeredFile, file.beginNonblocking() else { return nil }
        _ = sqlite3_busy_timeout(handle, 0)
        defer {
            file.endNonblocking()
            _ = sqlite3_busy_timeout(handle, busyTimeout)
        }
        guard let result = try? Swift.Result(catching: body).get(), !file.hasRefused else { return nil }
        return result
    }

    /// The main database's file, where ``NonblockingVFS`` has opened it.
    static func layeredFile(of handle: OpaquePointer) -> NonblockingFile? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK else { return nil }
        return file.flatMap { LayeredFile($0).state }
    }
}
