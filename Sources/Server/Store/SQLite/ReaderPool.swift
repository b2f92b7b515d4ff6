internal import SQLite
internal import Synchronization

/// A few connections that read, each used by one thread at a time.
final class ReaderPool: Sendable {
    private final class Reader: Sendable {
        let connection: Mutex<Connection>

        init(path: String) throws(SQLiteError) {
            // Not opened read-only, since a reader too has to write the index of the log: https://www.sqlite.org/wal.html#readonly
            let connection = try Connection(path: path, mode: .readWrite)
            try connection.pragma("query_only = ON")
            try connection.pragma("cache_size = -16384")
            self.connection = Mutex(connection)
        }
    }

    private let readers: [Reader]
    private let next = Atomic(0)

    init(path: String, count: Int) throws(SQLiteError) {
        var readers: [Reader] = []
        for _ in 0..<count { readers.append(try Reader(path: path)) }
        self.readers = readers
    }

    /// Lends one that is free, or waits for one if none is.
    func withConnection<Result: Sendable>(_ body: @Sendable (Connection) throws -> Result) throws -> Result {
        for reader in readers {
            if let result = try reader.connection.withLockIfAvailable({ try body($0) }) { return result }
        }
        let turn = next.wrappingAdd(1, ordering: .relaxed).oldValue
        return try readers[Int(UInt(bitPattern: turn) % UInt(readers.count))].connection.withLock { try body($0) }
    }
}
