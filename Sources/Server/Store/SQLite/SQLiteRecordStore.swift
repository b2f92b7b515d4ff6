internal import FreshetPlatform
internal import FreshetSQLite
package import FreshetWire
internal import Synchronization

/// The embedded store: one SQLite file in a directory that only the server uses.
///
/// One connection writes, a few read, in write-ahead-log mode: readers see the last commit and never wait for the
/// writer. Lookups, which event loops make, have separate connections, so that none waits for a list.
package final class SQLiteRecordStore: RecordStore {
    let path: String
    package let identifier: StoreIdentifier
    private let lock: FileLock
    /// Checked by each transaction, and by ``checkFiles()``. Once they have moved, the store answers nothing.
    private let place: DatabasePlace
    private let writer: Mutex<StoreWriter>
    private let readers: ReaderPool
    private let lookups: ReaderPool
    private let prefetcher: PagePrefetcher
    let access = AccessCounter()

    /// Opens the directory's store, and makes both if they do not exist; the parent directory must exist.
    ///
    /// Reads a few pages, however large the store is.
    /// - Parameters:
    ///   - seed: random; a new store derives its epochs from it.
    ///   - readers: how many lists, scans and large values are read at once, at least 1.
    ///   - lookups: how many lookups are made at once, at least 1: one for each event loop.
    ///   - rowCacheBytes: about how much memory the cache of recently written keys may take.
    ///   - logPages: how many pages of 4 KiB the write-ahead log has before they are moved into the file. Where readers hold this
    ///     up, they wait once it has twice as many.
    package init(
        directory: String, seed: UInt64, readers: Int = 4, lookups: Int = 1, rowCacheBytes: Int = 32 << 20, logPages: Int = 8_000
    ) throws(StoreError) {
        let directory = try AbsolutePath(ofStore: directory).text
        try DirectoryLock.makeDirectory(directory)
        lock = try DirectoryLock.take(directory)
        let path = directory + "/freshet.db"
        self.path = path
        do {
            let timer = LookupTimer()
            let connection = try Self.openWriter(path: path, seed: seed)
            place = try connection.keepPlace(with: lock)
            identifier = try Schema.identifier(connection, path: path)
            let checkpoints = CheckpointSchedule(interval: logPages, limit: 2 * logPages)
            writer = Mutex(StoreWriter(connection, RowCache(limit: rowCacheBytes), timer, access, checkpoints))
            prefetcher = PagePrefetcher(path: path, timer: timer)
            self.readers = try ReaderPool(path: path, count: max(readers, 1))
            self.lookups = try ReaderPool(path: path, count: max(lookups, 1))
        } catch { throw StoreError.from(error, path: path) }
    }

    package func transaction<Result: Sendable>(
        touching scope: () -> TransactionScope, _ body: @Sendable (any RecordTransaction) throws -> Result
    ) throws -> Result {
        if let failure { throw failure }
        prefetcher.prepare { scope().records.map(\.address) }
        let path = path
        return try writer.withLock { writer in
            do {
                return try lookups.whileWriting {
                    let result = try writer.transaction(body)
                    shortenLog(of: writer)
                    return result
                }
            } catch let error as SQLiteError { throw StoreError(error, path: path) }
        }
    }

    package var failure: StoreError? { place.hasMoved ? .moved(path: path) : nil }

    package func checkFiles() { _ = place.isKept() }

    /// Moves pages from the log into the file after a commit, if there are enough. No lookup keeps its snapshot meanwhile.
    private func shortenLog(of writer: StoreWriter) {
        switch writer.nextCheckpoint() {
        case .none: break
        case .move: writer.checkpoint()
        case .moveWithoutReaders:
            readers.whileIdle {
                // The lookups, which event loops make, wait only for the pages that remain after this.
                writer.checkpoint()
                lookups.whileIdle { writer.checkpoint() }
            }
        }
    }

    /// Runs the closure, which may take long, with a connection that no other thread uses meanwhile.
    func read<Result: Sendable>(_ body: @Sendable (Connection) throws -> Result) throws(StoreError) -> Result {
        if let failure { throw failure }
        do { return try readers.withConnection(body) } catch { throw StoreError.from(error, path: path) }
    }

    /// Runs the closure, which is short, with a reader of one snapshot, of everything that was written before this
    /// call. Waits for other lookups only.
    func lookUp<Result: Sendable>(_ body: @Sendable (SnapshotReader) throws -> Result) throws(StoreError) -> Result {
        if let failure { throw failure }
        do { return try lookups.withSnapshot(body) } catch { throw StoreError.from(error, path: path) }
    }

    /// Limits the file to so many pages, as a full disk would, for tests.
    package func limitPages(to count: Int) throws {
        try writer.withLock { _ = try $0.connection.pragma("max_page_count = \(count)") }
    }

    private static func openWriter(path: String, seed: UInt64) throws -> sending Connection {
        let connection = try Connection(path: path)
        let found = try Schema.check(connection, path: path)
        guard try connection.pragma("journal_mode = WAL") == "wal" else {
            throw StoreError.failed(path: path, reason: "the file system does not allow a write-ahead log. Use a local disk.")
        }
        // FULL: a commit is on disk when it returns, https://www.sqlite.org/pragma.html#pragma_synchronous
        try connection.pragma("synchronous = FULL")
        try connection.pragma("cache_size = -65536")
        try connection.pragma("temp_store = MEMORY")
        try connection.pragma("journal_size_limit = 67108864")
        try Schema.migrate(connection, from: found, seed: seed)
        connection.endAutomaticCheckpoints()
        return connection
    }
}

extension StoreError {
    static func from(_ error: any Error, path: String) -> StoreError {
        switch error {
        case let error as StoreError: error
        case let error as SQLiteError: StoreError(error, path: path)
        // A row has content that the wire does not allow: Freshet did not write it.
        default: .corrupt(path: path, reason: String(describing: error))
        }
    }
}
