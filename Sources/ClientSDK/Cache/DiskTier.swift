internal import FreshetPlatform
internal import FreshetSQLite
internal import FreshetWire
internal import Glibc

/// Entries, outbox and state in one SQLite file, changed by one SQLite transaction for each transaction of the machine.
///
/// Belongs to the engine's queue. Opening reads the state and the outbox, never the entries, so it takes the same time
/// for every size of the cache. Without a directory the same tables are in SQLite's memory.
///
/// A damaged file is moved aside as a whole and reported: its entries could be fetched again, but its outbox may hold
/// writes that exist nowhere else, and data read from a damaged file cannot be trusted.
final class DiskTier {
    /// `nil` in memory.
    let path: String?
    let connection: Connection
    let pageSize: Int
    let namespace: Namespace
    /// As it is stored.
    var state: SyncState
    /// Whether the file was empty when it was opened.
    let isNew: Bool
    private let lock: FileLock?
    /// The most bytes that the tables may take before entries are evicted.
    let limit: Int
    /// Entries that were read since the uses were last written, at most ``mostUses``.
    var uses: Set<RecordKey> = []
    /// The last value of ``bytes``, and the number of pages written by then; see ``mostBytes``.
    var measured: (bytes: Int, pagesWritten: Int32)?
    /// Whether no other connection can read the file, since the disk was full when it was opened.
    let isExclusive: Bool
    /// Whether the next commit waits for the disk; see ``setDurable(_:)``.
    private var isDurable = true

    /// - Parameters:
    ///   - directory: the directory of the file, or `nil` for memory only.
    ///   - namespace: the namespace of the file; a new file gets it.
    ///   - client: the device's name in a new file; an existing file keeps its name.
    ///   - limit: the most bytes that the tables may take before the least recently used entries are evicted.
    ///   - fileLimit: the most bytes that the file may have; see <https://www.sqlite.org/pragma.html#pragma_max_page_count>.
    init(directory: String?, namespace: Namespace, client: ClientIdentifier, limit: Int = .max, fileLimit: Int? = nil) throws(ClientError) {
        self.namespace = namespace
        self.limit = limit
        lock = if let directory { try DirectoryLock.take(directory) } else { nil }
        let path = directory.map { $0 + "/freshet.sqlite" }
        self.path = path
        do {
            (connection, isExclusive) = try Self.open(path, fileLimit)
            try connection.keepPlace(with: lock)
            pageSize = try connection.pragma("page_size").flatMap { Int($0) } ?? 4_096
            let stored = try Self.state(in: connection, of: namespace, path: path)
            isNew = stored == nil
            state = stored ?? SyncState(client: client)
            // The device's name is on disk before it is used anywhere. A file that has one is opened on a full disk too.
            if isNew { try connection.transaction { try store(state) } }
            try completeErasure()
        } catch {
            let failure = Self.clientError(error, path)
            guard case .corrupt(let path, _) = failure else { throw failure }
            throw .corrupt(path: path, quarantine: Self.quarantine(path))
        }
    }

    /// Makes the file the principal's, unless it belongs to one already.
    ///
    /// - Throws: ``ClientError/otherPrincipal(pendingWrites:)`` if the file belongs to another one, and failures of the disk.
    func claim(for principal: String?) throws {
        guard state.principal != principal else { return }
        guard state.principal == nil else {
            throw ClientError.otherPrincipal(pendingWrites: try outbox().count(where: \.isPending))
        }
        var next = state
        next.principal = principal
        try connection.transaction { try store(next) }
        state = next
    }

    /// Opens the file. On a disk without room for the index of the write-ahead log, of 32 KiB, it is opened for this connection alone, which
    /// needs no such file: https://www.sqlite.org/wal.html#use_of_wal_without_shared_memory
    private static func open(_ path: String?, _ fileLimit: Int?) throws -> (Connection, isExclusive: Bool) {
        do {
            return (try open(path, fileLimit, isExclusive: false), false)
        } catch {
            guard path != nil, failure(error) == .full else { throw error }
            return (try open(path, fileLimit, isExclusive: true), true)
        }
    }

    private static func open(_ path: String?, _ fileLimit: Int?, isExclusive: Bool) throws -> Connection {
        let connection = try Connection(path: path ?? ":memory:")
        // Before the first access of the file.
        if isExclusive { try connection.pragma("locking_mode=EXCLUSIVE") }
        try migrate(connection, path: path ?? ":memory:")
        try connection.pragma("journal_mode=WAL")
        try connection.pragma("synchronous=FULL")
        try connection.pragma("temp_store=MEMORY")
        // The system's library may have another default: https://www.sqlite.org/pragma.html#pragma_secure_delete
        try connection.pragma("secure_delete=ON")
        if let fileLimit {
            let size = try connection.pragma("page_size").flatMap { Int($0) } ?? 4_096
            try connection.pragma("max_page_count=\(max(1, fileLimit / size))")
        }
        try probe(connection, path)
        return connection
    }

    /// Detects a read-only directory, in which a file opens without error and fails only at the user's first write.
    private static func probe(_ connection: Connection, _ path: String?) throws {
        guard let path else { return }
        guard access(path, W_OK) == 0 else { throw ClientError.readOnly(path: path) }
        // Reads the root of each table, which detects a file that is no database at all or lost its schema.
        for table in ["entry", "outbox", "rejection", "state", "used", "watermark"] {
            try connection.withStatement("SELECT 1 FROM \(table) LIMIT 1") { _ = try $0.step() }
        }
    }

    /// Runs the body, and converts its errors to the user's.
    func handling<Result>(_ body: () throws -> Result) throws(ClientError) -> Result {
        do {
            return try body()
        } catch {
            throw Self.clientError(error, path)
        }
    }

    /// Converts an error of SQLite or this module to the user's error. A damaged file has yet to be moved aside.
    static func clientError(_ error: any Error, _ path: String?) -> ClientError {
        error as? ClientError ?? ClientError(failure(error), path: path ?? "memory")
    }

    private static let moved = """
        the directory, or a file in it, was moved, replaced or deleted while the client ran, so nothing more is accepted: stop the client, \
        put the directory back if that was a mistake, and start again; writes that were not sent are in the files that were moved
        """

    /// Converts an error of SQLite or this module.
    static func failure(_ error: any Error) -> DiskFailure {
        guard let error = error as? SQLiteError else { return .failed("\(error)") }
        switch error.category {
        case .full: return .full
        case .moved, .movedAfterCommit: return .failed(Self.moved)
        case .readOnly: return .readOnly
        case .corrupt, .notADatabase: return .damaged
        case .cannotOpen where error.systemError == EACCES: return .readOnly
        default: return .failed(error.description)
        }
    }

    /// Moves the file and its companions, which belong together, to a name with the time.
    static func quarantine(_ path: String) -> String {
        let now = SystemClock.wallNanoseconds
        let target = "\(path).corrupt-\(now / 1_000_000_000)-\(now % 1_000_000_000)"
        for suffix in ["", "-wal", "-shm"] where access(path + suffix, F_OK) == 0 {
            guard rename(path + suffix, target + suffix) == 0 else {
                return "\(path) (it could not be moved: \(String(cString: strerror(errno))))"
            }
        }
        return target
    }

    /// Sets whether the next commits wait for the disk. With `true` they do (`synchronous=FULL`), as for all data that
    /// exists nowhere else; with `false` they do not (`NORMAL`), as for data from the feed: after a loss of power an
    /// earlier cursor is stored with earlier entries, and the feed brings the rest again
    /// (<https://www.sqlite.org/pragma.html#pragma_synchronous>).
    func setDurable(_ durable: Bool) throws {
        guard durable != isDurable else { return }
        try connection.pragma(durable ? "synchronous=FULL" : "synchronous=NORMAL")
        isDurable = durable
    }
}
