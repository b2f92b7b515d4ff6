internal import CFreshetLinux
internal import Glibc
internal import Synchronization

/// The databases that this process has open through ``NonblockingVFS``, each with one descriptor for nonblocking reads.
///
/// SQLite locks a database file with POSIX record locks. The kernel drops those of a process when it closes *any*
/// descriptor of the file (<https://www.sqlite.org/howtocorrupt.html#posix_close_bug>). A descriptor is therefore
/// closed only after SQLite has closed all its descriptors, and meanwhile the file is not opened again.
enum OpenDatabases {
    private struct Database {
        let gate = SharedGate()
        var connections = 0
        /// More than one only where the file's path came to name it while another was opened.
        var descriptors: [Int32] = []
    }

    private static let databases = Mutex<[FileIdentity: Database]>([:])

    /// Runs the closure, which opens the file for a connection, and counts the connection if that succeeds.
    ///
    /// - Returns: which file it is, and its gate; `nil` if it was not opened, or if it is not certain which file it is.
    ///   Then it is not counted.
    static func open(_ path: String, _ body: () -> Bool) -> (identity: FileIdentity, gate: SharedGate)? {
        databases.withLock { databases in
            let before = FileIdentity(path: path)
            guard body(), let before, FileIdentity(path: path) == before else { return nil }
            var database = databases[before] ?? Database()
            database.connections += 1
            databases[before] = database
            return (before, database.gate)
        }
    }

    /// A descriptor of a file that a connection has open, for as long as it has; `nil` if there is none to be had.
    static func descriptor(of identity: FileIdentity, _ path: String) -> Int32? {
        databases.withLock { databases in
            guard let database = databases[identity] else { return nil }
            if let descriptor = database.descriptors.first { return descriptor }
            let opened = freshet_open_cached(path)
            guard opened >= 0 else { return nil }
            guard let found = FileIdentity(descriptor: opened), found != identity else {
                databases[identity]?.descriptors.append(opened)
                return opened
            }
            // Another file has taken the path. To close that one might drop its locks.
            if databases[found] == nil { Glibc.close(opened) } else { databases[found]?.descriptors.append(opened) }
            return nil
        }
    }

    /// Runs the closure, which closes the file of a connection that was counted.
    static func close<Result>(_ identity: FileIdentity, _ body: () -> Result) -> Result {
        databases.withLock { databases in
            let result = body()
            guard var database = databases[identity] else { return result }
            database.connections -= 1
            databases[identity] = database.connections > 0 ? database : nil
            if database.connections == 0 { for descriptor in database.descriptors { Glibc.close(descriptor) } }
            return result
        }
    }
}
