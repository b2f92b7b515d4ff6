import FreshetSQLite

@testable import FreshetClient

extension DiskTier {
    /// Removes the parts that a file of version 4 does not have.
    func undoRejections() throws { try connection.execute("DROP TABLE rejection") }

    /// Removes the parts that a file of version 3 does not have.
    func undoRefreshes() throws {
        try undoRejections()
        try connection.execute("DROP INDEX entry_refresh; ALTER TABLE entry DROP COLUMN invalidated")
    }
}
