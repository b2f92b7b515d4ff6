internal import CFreshetLinux
internal import CFreshetSQLite
internal import Glibc

/// What ``NonblockingVFS`` knows of an open file: a database, or its write-ahead log.
///
/// Belongs to its connection, and so to one thread at a time.
final class NonblockingFile {
    let path: String
    /// Of a database, as it is counted among ``OpenDatabases``; `nil` for a log.
    let opened: (identity: FileIdentity, gate: SharedGate)?
    /// The database whose log this is; `nil` for a database.
    let database: NonblockingFile?
    /// For nonblocking reads; negative where there are none. Owned by a log, and by ``OpenDatabases`` otherwise.
    private(set) var descriptor: Int32 = -1

    // Of a database alone:

    /// `nil` until the connection asks for nonblocking reads.
    private(set) var pages: ResidentPages?
    /// How many files have no descriptor that they should have, are not locked in memory where they are mapped, or cannot
    /// be read without waiting here. With one of them the connection has no nonblocking reads.
    private(set) var obstacles = 0
    private var isNonblocking = false
    private(set) var hasRefused = false
    private(set) var sharedLocks = 0

    /// SQLite tries a lock again at once, and after the fifth attempt sleeps in between. Nobody who may not block goes
    /// that far.
    private static let mostSharedLocks = 4

    init(path: String, opened: (identity: FileIdentity, gate: SharedGate)) {
        self.path = path
        self.opened = opened
        database = nil
    }

    /// - Parameter before: which file the path named before SQLite opened it; `nil` if there was none.
    init(path: String, before: FileIdentity?, logOf database: NonblockingFile) {
        self.path = path
        self.database = database
        opened = nil
        guard database.pages != nil else { return }
        // Unlike the database's own file, SQLite does not lock this one:
        // https://www.sqlite.org/walformat.html#wal_locks
        descriptor = freshet_open_cached(path)
        // Where the path named the same file before and after, SQLite has opened that one, too.
        guard descriptor >= 0, let before, FileIdentity(descriptor: descriptor) == before else {
            database.obstacles += 1
            return
        }
    }

    deinit {
        if database != nil, descriptor >= 0 { close(descriptor) }
    }

    /// Lets the connection read without blocking, if that is possible here. Before anything is read.
    func allowNonblockingReads(_ pages: ResidentPages) {
        guard let opened, let descriptor = OpenDatabases.descriptor(of: opened.identity, path) else { return }
        self.pages = pages
        self.descriptor = descriptor
    }

    // MARK: Nonblocking mode

    /// Whether the connection that has the file open must not wait for the disk now.
    var mustNotBlock: Bool { (database ?? self).isNonblocking }

    /// - Returns: whether the connection is in nonblocking mode now, and has to ``endNonblocking()``.
    func beginNonblocking() -> Bool {
        guard pages != nil, obstacles == 0, let opened, opened.gate.tryEnter() else { return false }
        (isNonblocking, hasRefused, sharedLocks) = (true, false, 0)
        return true
    }

    func endNonblocking() {
        isNonblocking = false
        opened?.gate.leave()
    }

    /// Notes that something could not be done without waiting. The statement fails with the code.
    func refuse() -> Int32 {
        (database ?? self).hasRefused = true
        return NonblockingVFS.wouldBlock
    }

    func read(into bytes: UnsafeMutableRawPointer, count: Int32, at offset: Int64) -> Int32 {
        switch (database ?? self).pages?.read(descriptor, into: bytes, count: Int(count), at: offset) {
        case .done: return SQLITE_OK
        case .absent, nil: return refuse()
        case .unsupported:
            (database ?? self).obstacles += 1
            return refuse()
        }
    }

    /// Whether a lock on the log's index may be taken in nonblocking mode.
    ///
    /// A reader needs a shared one. With an exclusive one SQLite writes into the index, and to write into a mapped page
    /// may wait for the file system.
    func mayLock(_ flags: Int32) -> Bool {
        if flags & SQLITE_SHM_UNLOCK != 0 { return true }
        sharedLocks += 1
        return flags & SQLITE_SHM_SHARED != 0 && sharedLocks <= Self.mostSharedLocks
    }

    /// Runs the closure, which maps a part of the log's index, and locks that part in memory: a page that the kernel
    /// had reclaimed would have to be read from the disk when a reader looks at it.
    func map(_ address: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, size: Int32, _ body: () -> Int32) -> Int32 {
        // SQLite grows the file meanwhile with a lock held for which readers of this process would wait.
        let code = opened.map { $0.gate.withExclusiveAccess(body) } ?? body()
        if code == SQLITE_OK, let pages, pages.needsLockedMemory, let mapped = address?.pointee,
            mlock(mapped, Int(size)) != 0
        {
            obstacles += 1
        }
        return code
    }
}
