internal import FreshetSQLite
internal import FreshetWire

/// A connection that reads, and keeps its snapshot from one read to the next as long as nothing is written.
///
/// Taking a snapshot and giving it back are two system calls, and the namespace's row is a search: together more than
/// the search for a record. Between two writes they are done once for all reads.
final class SnapshotReader {
    let connection: Connection
    /// The version of the store that the open transaction shows; `nil` if no snapshot is kept.
    private var version: Int?
    /// The namespace that was looked up last in the snapshot.
    private var latest: (name: Namespace, row: NamespaceRow)?

    /// - Parameter memory: how many KiB of pages the connection caches.
    init(path: String, memory: Int = 16_384) throws(SQLiteError) {
        // Not opened read-only, since a reader too has to write the index of the log: https://www.sqlite.org/wal.html#readonly
        connection = try Connection(path: path, mode: .readWrite)
        try connection.pragma("query_only = ON")
        try connection.pragma("cache_size = -\(memory)")
    }

    /// Lends the connection, with no transaction open.
    func withConnection<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try giveBack()
        return try body(connection)
    }

    /// Reads one snapshot, of the present moment.
    ///
    /// - Parameter present: the store's version, read before this call; the snapshot is kept until the version changes.
    ///   `nil` keeps none.
    func withSnapshot<Result>(of present: Int?, _ body: (SnapshotReader) throws -> Result) throws -> Result {
        if present == nil || version != present {
            try giveBack()
            try connection.withStatement("BEGIN DEFERRED") { try $0.run() }
            version = present
        }
        do {
            let result = try body(self)
            if present == nil { try giveBack() }
            return result
        } catch {
            // The closure's error is the one to report. If giving back fails too, the next read tries again and throws.
            try? giveBack()
            throw error
        }
    }

    /// The namespace's row in the snapshot that is being read.
    func row(of namespace: Namespace) throws -> NamespaceRow {
        if let latest, latest.name == namespace { return latest.row }
        let row = try NamespaceRow.read(namespace, connection)
        latest = (namespace, row)
        return row
    }

    /// Gives the snapshot back, if one is kept.
    func giveBack() throws {
        (version, latest) = (nil, nil)
        if connection.isInTransaction { try connection.withStatement("COMMIT") { try $0.run() } }
    }
}
