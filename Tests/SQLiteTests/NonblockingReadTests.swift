import CFreshetSQLite
import Dispatch
import FreshetTestSupport
import Glibc
import Synchronization
import Testing

@testable import FreshetSQLite

/// All pages count as in memory, or none, or those that a test chooses: what the kernel has in memory is not a test's
/// to know.
@Suite struct NonblockingReadTests {
    let directory = TemporaryDirectory()
    private var path: String { directory.file("a") }

    /// A database with one value of many pages and 1,000 small ones, so that a search reads several pages.
    private func makeDatabase() throws -> Connection {
        let writer = try Connection(path: path, nonblockingReads: .chosen { _ in true })
        try writer.pragma("journal_mode = WAL")
        try writer.transaction {
            try writer.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, a BLOB)")
            for id in 0..<1_000 { try write([UInt8(id & 0xFF)], id, writer) }
            try write(Self.long, 1_000, writer)
        }
        return writer
    }

    private static let long = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }

    private func write(_ value: [UInt8], _ id: Int, _ connection: Connection) throws {
        try connection.withStatement("INSERT OR REPLACE INTO t VALUES(?1, ?2)") { statement in
            try statement.bind(1, id)
            try statement.bind(2, value)
            try statement.run()
        }
    }

    /// A connection that has read something, as it must have before it can read without blocking.
    private func makeReader(_ pages: ResidentPages) throws -> Connection {
        let reader = try Connection(path: path, mode: .readWrite, nonblockingReads: pages)
        #expect(try reader.withStatement("SELECT count(*) FROM sqlite_schema") { try $0.step() && $0.int64(0) == 1 })
        return reader
    }

    private func value(_ id: Int, _ connection: Connection) throws -> [UInt8]? {
        try connection.withStatement("SELECT a FROM t WHERE id = ?1") { statement in
            try statement.bind(1, id)
            return try statement.step() ? statement.bytes(0) : nil
        }
    }

    private func nonblockingValue(_ id: Int, _ connection: Connection) -> [UInt8]?? {
        connection.nonblocking { try value(id, connection) }
    }

    @Test func whatIsInMemoryIsReadWithoutBlocking() throws {
        // Given
        let writer = try makeDatabase()
        let reader = try makeReader(.chosen { _ in true })
        // Then, from the log
        #expect(nonblockingValue(7, reader) == .some([7]))
        #expect(nonblockingValue(1_000, reader) == .some(Self.long))
        #expect(nonblockingValue(2_000, reader) == .some(nil))
        // And from the database's file, once the log is in it
        try writer.checkpoint(truncating: true)
        _ = try value(0, reader)
        #expect(nonblockingValue(500, reader) == .some([244]))
        #expect(nonblockingValue(1_000, reader) == .some(Self.long))
    }

    @Test func aReadThatWouldHaveToWaitGivesNothingAndIsRightWhereItMayWait() throws {
        // Given
        let writer = try makeDatabase()
        let reader = try makeReader(.chosen { _ in false })
        // Then
        #expect(nonblockingValue(7, reader) == nil)
        #expect(try value(7, reader) == [7])
        // And what SQLite has in its own cache since then needs no file
        #expect(nonblockingValue(7, reader) == .some([7]))
        #expect(nonblockingValue(1_000, reader) == nil)
        withExtendedLifetime(writer) {}
    }

    @Test func aReadOfASlowDiskIsLeftToThoseWhoMayWait() throws {
        // Given a disk of which nothing is in memory, and SQLite's own functions, which would wait for it
        #expect(SystemReads.isInstalled)
        let writer = try makeDatabase()
        let reader = try makeReader(.chosen { _ in false })
        let files = descriptors(of: path) + descriptors(of: path + "-wal")
        // When
        let refused = SystemReads.count(of: files) {
            for id in stride(from: 0, through: 1_000, by: 100) { #expect(nonblockingValue(id, reader) == nil) }
        }
        // Then none of them is called, as they are where it may wait
        #expect(refused == 0)
        var found: [UInt8]?
        let waited = try SystemReads.count(of: files) { found = try value(1_000, reader) }
        #expect(found == Self.long && waited > 12)
        withExtendedLifetime(writer) {}
    }

    /// `cachestat` came with Linux 6.5, and some file systems do not know `RWF_NOWAIT`.
    @Test(.enabled(if: LockedMemory.isAllowed), arguments: Self.failures)
    func whereTheSystemCannotTellAReadIsRefusedOnceAndThenNotTried(call: UInt32, code: Int32) async throws {
        // Given
        let writer = try makeDatabase()
        try writer.checkpoint(truncating: true)
        let path = path
        // When
        let seen = await FailingSystemCall.run(call, failingWith: code) {
            Result {
                let reader = try Connection(path: path, mode: .readWrite, nonblockingReads: .pageCache)
                let read = { (id: Int) in
                    try reader.withStatement("SELECT a FROM t WHERE id = ?1") { statement in
                        try statement.bind(1, id)
                        return try statement.step() ? statement.bytes(0) : nil
                    }
                }
                _ = try reader.withStatement("SELECT count(*) FROM sqlite_schema") { try $0.step() }
                let file = try #require(reader.layeredFile)
                #expect(file.obstacles == 0)
                // Then
                for id in [7, 1_000] {
                    #expect(reader.nonblocking { try read(id) } == nil)
                    #expect(file.obstacles == 1)
                }
                return try read(7)
            }
        }
        // And where it may wait it is read
        #expect(try #require(seen).get() == [7])
        withExtendedLifetime(writer) {}
    }

    /// The calls that fail. `preadv2` is reached only where `cachestat` sees a file's pages: on overlayfs, it sees none.
    private static let failures: [(call: UInt32, code: Int32)] =
        [(cachestat, ENOSYS), (cachestat, EPERM)] + (seesPages() ? [(preadv2, EOPNOTSUPP), (preadv2, ENOSYS)] : [])

    /// Whether a page that was just written counts as in memory. The kernel cannot reclaim it before it is on the disk.
    private static func seesPages() -> Bool {
        let directory = TemporaryDirectory()
        let descriptor = open(directory.file("probe"), O_RDWR | O_CREAT, 0o600)
        defer { close(descriptor) }
        var page = [UInt8](repeating: 1, count: 4_096)
        guard descriptor >= 0, Glibc.write(descriptor, page, page.count) == page.count else { return false }
        return page.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return false }
            return ResidentPages.pageCache.read(descriptor, into: base, count: bytes.count, at: 0) == .done
        }
    }

    private static let cachestat: UInt32 = 451
    #if arch(x86_64)
    private static let preadv2: UInt32 = 327
    #else
    private static let preadv2: UInt32 = 286
    #endif

    /// Whether so much memory may be locked that other tests cannot have used it up.
    private enum LockedMemory {
        static var isAllowed: Bool {
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit)
            return geteuid() == 0 || limit.rlim_cur >= 4 << 20
        }
    }

    @Test func aFileThatIsReplacedWhileItIsOpenedIsNotCounted() throws {
        // Given
        let writer = try makeDatabase()
        let other = directory.file("other")
        close(creat(other, 0o600))
        // When the path comes to name another file
        let opened = OpenDatabases.open(path) { rename(other, path) == 0 }
        // Then
        #expect(opened == nil)
        withExtendedLifetime(writer) {}
    }

    @Test func aLogThatMayBeAnotherOneIsNotReadWithoutBlocking() throws {
        // Given a connection that has found no log and made one, so it is not known which one SQLite has opened
        let writer = try makeDatabase()
        // Then
        #expect(try value(7, writer) == [7])
        #expect(nonblockingValue(7, writer) == nil)
        #expect(writer.layeredFile?.obstacles == 1)
    }

    @Test func aReadThatIsRefusedAtAnyPageIsRightAtTheNextAttempt() throws {
        // Given
        let writer = try makeDatabase()
        // When each page of the read in turn is the first that is not in memory
        var attempts = 0
        while attempts < 100 {
            let left = Atomic(attempts)
            let reader = try makeReader(.chosen { _ in left.wrappingSubtract(1, ordering: .relaxed).oldValue > 0 })
            let found = nonblockingValue(1_000, reader)
            // Then the whole value or nothing
            #expect(found == nil || found == .some(Self.long))
            #expect(try value(1_000, reader) == Self.long)
            #expect(!reader.isInTransaction)
            if found != nil { break }
            attempts += 1
        }
        // The row alone has 13 pages.
        #expect(attempts > 12 && attempts < 100)
        withExtendedLifetime(writer) {}
    }

    @Test func aReadAfterACommitMayHaveToWaitAndNeverMissesIt() throws {
        // Given
        let writer = try makeDatabase()
        let reader = try makeReader(.chosen { _ in true })
        for round in 0..<100 {
            // When
            try write([1, UInt8(round)], 7, writer)
            // Then to note which part of the log is read is to write into its index, which may wait
            #expect(nonblockingValue(7, reader) == nil)
            #expect(try value(7, reader) == [1, UInt8(round)])
            #expect(nonblockingValue(7, reader) == .some([1, UInt8(round)]))
        }
    }

    @Test func aReadStaysOutWhileSQLiteHoldsALockAndMayWaitForTheDisk() throws {
        // Given
        let writer = try makeDatabase()
        let reader = try makeReader(.chosen { _ in true })
        #expect(nonblockingValue(7, reader) == .some([7]))
        // When another connection grows the log's index
        let gate = try #require(writer.layeredFile?.opened?.gate)
        let found = gate.withExclusiveAccess { nonblockingValue(7, reader) }
        // Then
        #expect(found == nil)
        #expect(nonblockingValue(7, reader) == .some([7]))
    }

    @Test func aReadDoesNotWaitForALockOfAnotherConnection() throws {
        // Given a log that is all in the database, so that a reader locks the database's part of the index: the fourth
        // of eight locks
        let writer = try makeDatabase()
        try writer.checkpoint()
        let reader = try makeReader(.chosen { _ in true })
        #expect(nonblockingValue(7, reader) == .some([7]))
        // When another has that lock
        var file: UnsafeMutablePointer<sqlite3_file>?
        #expect(sqlite3_file_control(writer.handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK)
        let functions = try #require(file?.pointee.pMethods?.pointee)
        #expect(functions.xShmLock?(file, 3, 1, SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE) == SQLITE_OK)
        // Then the read gives up at the first attempt
        #expect(nonblockingValue(7, reader) == nil)
        #expect(reader.layeredFile?.sharedLocks == 1)
        #expect(functions.xShmLock?(file, 3, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE) == SQLITE_OK)
        #expect(nonblockingValue(7, reader) == .some([7]))
    }

    @Test func aReadDoesNotWaitWhileAnotherDatabaseIsOpened() throws {
        // Given
        let writer = try makeDatabase()
        let reader = Mutex(Optional(try makeReader(.chosen { _ in true })))
        // When another thread has the lock with which SQLite opens and closes files, and may wait for the disk with it
        let opening = sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_VFS1)
        sqlite3_mutex_enter(opening)
        let found = Mutex<[UInt8]??>(nil)
        let isDone = DispatchSemaphore(value: 0)
        DispatchQueue(label: "reader").async {
            found.withLock { $0 = reader.withLock { $0.flatMap { nonblockingValue(7, $0) } } }
            isDone.signal()
        }
        // Then it is read at once. The time is for a read that waits, which would do so for ever.
        #expect(isDone.wait(timeout: .now() + .seconds(60)) == .success)
        sqlite3_mutex_leave(opening)
        #expect(found.withLock { $0 } == .some([7]))
        withExtendedLifetime(writer) {}
    }

    @Test func nothingButReadsIsDone() throws {
        // Given
        let writer = try makeDatabase()
        let reader = try makeReader(.chosen { _ in true })
        #expect(nonblockingValue(7, reader) == .some([7]))
        // When it writes, it is refused
        let result: Void? = reader.nonblocking { try write([9], 7, reader) }
        // Then
        #expect(result == nil)
        #expect(try value(7, writer) == [7])
        try write([8], 7, reader)
        #expect(try value(7, writer) == [8])
    }

    @Test func anErrorOfTheClosureGivesNothing() throws {
        struct Failure: Error {}
        let writer = try makeDatabase()
        let reader = try makeReader(.chosen { _ in true })
        let result: Int? = reader.nonblocking { throw Failure() }
        #expect(result == nil)
        #expect(nonblockingValue(7, reader) == .some([7]))
        withExtendedLifetime(writer) {}
    }

    @Test func aConnectionThatDidNotAskForItHasNone() throws {
        let writer = try makeDatabase()
        let reader = try Connection(path: path, mode: .readOnly)
        #expect(try value(7, reader) == [7])
        #expect(nonblockingValue(7, reader) == nil)
        withExtendedLifetime(writer) {}
    }

    @Test func aDatabaseInMemoryOrWithoutALogHasNone() throws {
        // Given
        for path in [":memory:", directory.file("b")] {
            let connection = try Connection(path: path, nonblockingReads: .chosen { _ in true })
            try connection.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, a BLOB)")
            try write([7], 7, connection)
            // Then
            #expect(nonblockingValue(7, connection) == nil)
            #expect(try value(7, connection) == [7])
        }
    }

    @Test func otherConnectionsOfTheProcessKeepTheirFunctions() throws {
        // Given
        #expect(SystemReads.isInstalled)
        let standard = try #require(sqlite3_vfs_find(nil))
        let read = "pread".withCString { standard.pointee.xGetSystemCall?(standard, $0) }
        // When
        let writer = try makeDatabase()
        // Then
        #expect(sqlite3_vfs_find(nil) == standard)
        #expect(standard.pointee.zName.map { String(cString: $0) } == "unix")
        let now = "pread".withCString { standard.pointee.xGetSystemCall?(standard, $0) }
        #expect(unsafeBitCast(read, to: Int.self) == unsafeBitCast(now, to: Int.self))
        #expect(try Connection(path: directory.file("b")).layeredFile == nil)
        withExtendedLifetime(writer) {}
    }

    @Test func closingAConnectionLeavesTheLocksOfTheOthers() throws {
        // Given a connection with locks
        let writer = try makeDatabase()
        #expect(try value(7, writer) == [7])
        let locks = try recordLocks()
        #expect(!locks.isEmpty)
        // When another is opened, reads and is closed
        let found = try nonblockingValue(7, makeReader(.chosen { _ in true }))
        #expect(found == .some([7]))
        // Then all locks of the database are where they were
        #expect(try recordLocks() == locks)
        withExtendedLifetime(writer) {}
    }

    @Test func descriptorsGoWithTheLastConnection() throws {
        // Given
        var writer: Connection? = try makeDatabase()
        var readers = try (0..<3).map { _ in try makeReader(.chosen { _ in true }) }
        for reader in readers { #expect(nonblockingValue(7, reader) == .some([7])) }
        // Then there is one for all connections, beside those of SQLite
        #expect(descriptors(of: path).count == 5)
        #expect(descriptors(of: path + "-wal").count == 8)
        // When
        readers = []
        writer = nil
        #expect(writer == nil && readers.isEmpty)
        // Then
        #expect(descriptors(of: path).isEmpty && descriptors(of: path + "-wal").isEmpty)
    }

    /// The locks that the process has on the database's file, as the kernel describes them.
    private func recordLocks() throws -> [String] {
        try descriptors(of: path).flatMap { descriptor in
            // https://man7.org/linux/man-pages/man5/proc_pid_fdinfo.5.html
            let information = try #require(fopen("/proc/self/fdinfo/\(descriptor)", "r"))
            defer { fclose(information) }
            var found: [String] = []
            var line = [CChar](repeating: 0, count: 1_024)
            while fgets(&line, Int32(line.count), information) != nil {
                let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                if text.hasPrefix("lock:") { found.append(text) }
            }
            return found
        }
    }

    /// The process's descriptors of a file.
    private func descriptors(of path: String) -> [Int] {
        guard let folder = opendir("/proc/self/fd") else { return [] }
        defer { closedir(folder) }
        var found: [Int] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            var target = [CChar](repeating: 0, count: 4_096)
            let length = readlink("/proc/self/fd/\(name)", &target, target.count)
            guard length > 0, let descriptor = Int(name) else { continue }
            if String(decoding: target[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self) == path {
                found.append(descriptor)
            }
        }
        return found
    }
}
