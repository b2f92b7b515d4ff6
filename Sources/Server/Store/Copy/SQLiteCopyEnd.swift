internal import FreshetPlatform
internal import FreshetSQLite
internal import Glibc

/// A data directory as an end of a copy.
///
/// The lock of the directory excludes servers. A new store is written in one transaction to a separate file, which gets the store's
/// name once it is complete.
package struct SQLiteCopyEnd: StoreCopyEnd {
    private let directory: String
    private var path: String { directory + "/freshet.db" }
    private var unfinished: String { directory + "/freshet.db.copy" }

    package init(directory: String) throws(StoreError) { self.directory = try AbsolutePath(ofStore: directory).text }

    package func withRows<Result>(_ body: (any StoredRows) throws -> Result) throws -> Result {
        // Opening it would make one.
        guard access(path, F_OK) == 0 else { throw StoreError.noStore(path: directory) }
        return try locked {
            let connection = try Connection(path: path, mode: .readWrite)
            let found = try Schema.check(connection, path: path)
            guard found > 0 else { throw StoreError.noStore(path: directory) }
            try Schema.migrate(connection, from: found, seed: 0)
            return try connection.readTransaction { try body(SQLiteRows(connection: connection, path: path)) }
        }
    }

    package func makingStore<Result>(_ header: StoreHeader, _ body: (any WritableRows) throws -> Result) throws -> Result {
        try DirectoryLock.makeDirectory(directory)
        return try locked {
            try checkEmpty()
            removeUnfinished()
            do {
                let result = try fill(header, body)
                try replace()
                return result
            } catch {
                removeUnfinished()
                throw error
            }
        }
    }

    private func locked<Result>(_ body: () throws -> Result) throws -> Result {
        let lock = try DirectoryLock.take(directory)
        return try withExtendedLifetime(lock) {
            do { return try body() } catch let error as StoreDifference {
                throw StoreError.copyDiffers(path: directory, reason: error.reason)
            } catch { throw StoreError.from(error, path: path) }
        }
    }

    /// Throws unless the file is missing or has an empty store.
    private func checkEmpty() throws {
        guard access(path, F_OK) == 0 else { return }
        let connection = try Connection(path: path, mode: .readWrite)
        let found = try Schema.check(connection, path: path)
        guard found > 0 else { return }
        var tables: [String] = ["namespace", "dropped"]
        // The sixth version added it.
        if found >= 6 { tables.append("access") }
        for table in tables {
            let isEmpty = try connection.withStatement("SELECT 1 FROM \(table) LIMIT 1") { try !$0.step() }
            guard isEmpty else { throw StoreError.notEmpty(path: directory) }
        }
    }

    private func fill<Result>(_ header: StoreHeader, _ body: (any WritableRows) throws -> Result) throws -> Result {
        let connection = try Connection(path: unfinished)
        try connection.pragma("cache_size = -65536")
        try Schema.migrate(connection, from: 0, seed: UInt64(bitPattern: header.seed))
        return try connection.transaction {
            let rows = SQLiteRows(connection: connection, path: path)
            try rows.setHeader(header)
            return try body(rows)
        }
    }

    /// Gives the file its name. The empty store that had the name is replaced; its log, if there is one, belongs to that.
    private func replace() throws(StoreError) {
        for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
        guard rename(unfinished, path) == 0 else { throw StoreError(systemError: errno, path: path) }
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StoreError(systemError: errno, path: directory) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw StoreError(systemError: errno, path: directory) }
    }

    /// Removes the files of a copy that was not completed. A missing file is no failure.
    private func removeUnfinished() {
        for suffix in ["", "-journal"] { unlink(unfinished + suffix) }
    }
}
