internal import CFreshetSQLite
internal import Synchronization

/// An open file and the path by which it was opened.
///
/// A file stays open after its path was deleted, renamed, or given to another file. Data written to it then is gone with its
/// last descriptor, or is somewhere that no later start looks.
package struct PlacedFile: Hashable, Sendable {
    private let path: String
    private let identity: FileIdentity

    /// - Parameter identity: that of the open file. While it is open, no other file can get it.
    package init(_ path: String, _ identity: FileIdentity) { (self.path, self.identity) = (path, identity) }

    /// Whether the path still leads to the file. One system call.
    package var isInPlace: Bool { FileIdentity(path: path) == identity }
}

/// The files of an open database, and of the lock that protects it: whether their paths still lead to them.
///
/// Once one of them does not, that is final, also if the files are put back: another process may have used the path meanwhile,
/// and a transaction may have been stored that was never acknowledged. Opening the database again decides. Safe from any thread.
package final class DatabasePlace: Sendable {
    private let files: [PlacedFile]
    private let moved = Atomic(false)

    fileprivate init(_ files: [PlacedFile]) { self.files = files }

    /// Whether a check has found that a file was moved, replaced or deleted. No system call.
    package var hasMoved: Bool { moved.load(ordering: .acquiring) }

    /// Checks the paths. One system call for each of at most three files.
    package func isKept() -> Bool {
        if hasMoved { return false }
        for file in files where !file.isInPlace {
            moved.store(true, ordering: .releasing)
            return false
        }
        return true
    }
}

extension Connection {
    /// From now on each write transaction checks that the paths of the database, of its write-ahead log and of the lock lead to
    /// the files that are open: before its closure, so that nothing is stored in a file that no start will find, and after its
    /// commit, so that nothing is acknowledged that was.
    ///
    /// The first check fails with ``SQLiteError/Category/moved``, the second with ``SQLiteError/Category/movedAfterCommit``. Does
    /// nothing for a database in memory.
    ///
    /// - Parameter lock: protects the database from other processes. One who deletes its file lets another process in.
    /// - Throws: ``SQLiteError/Category/moved`` if the database is not at its path by now.
    @discardableResult
    package func keepPlace(with lock: FileLock? = nil) throws -> DatabasePlace {
        let place = DatabasePlace(try placedFiles() + (lock.map { [$0.file] } ?? []))
        guard place.isKept() else { throw SQLiteError.moved(afterCommit: false) }
        self.place = place
        return place
    }

    /// The database and its log; none for a database in memory.
    private func placedFiles() throws -> [PlacedFile] {
        guard path != ":memory:", let name = sqlite3_db_filename(handle, "main") else { return [] }
        var found: [(path: String, identity: FileIdentity?)] = [(path, FileIdentity(path: path))]
        if try pragma("journal_mode") == "wal" {
            // A read opens the log, and creates it if there is none. SQLite keeps it as long as the connection is open.
            try pragma("schema_version")
            // Beside the file to which a link leads.
            let log = String(cString: sqlite3_filename_wal(name))
            found.append((log, FileIdentity(path: log)))
        }
        // Whether the database has another file than its path, by SQLite: only then are the files above those that it has open.
        var hasMoved: Int32 = 0
        let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
        guard code == SQLITE_OK, hasMoved == 0 else { throw SQLiteError.moved(afterCommit: false) }
        return try found.map { path, identity in
            guard let identity else { throw SQLiteError.moved(afterCommit: false) }
            return PlacedFile(path, identity)
        }
    }
}
