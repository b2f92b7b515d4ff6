internal import CFreshetSQLite

/// SQLite's count of the memory that it has in use, which costs a lock of the whole process at each allocation.
package enum MemoryCount {
    /// Ends the count, for a program that nobody asks for it. For the whole process, and only before SQLite is first used.
    ///
    /// - Returns: whether it was early enough; if not, the count goes on.
    @discardableResult
    package static func end() -> Bool { freshet_config_memory_status(0) == SQLITE_OK }
}
