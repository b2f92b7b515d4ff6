import CFreshetSQLite
import Glibc
import Synchronization

/// Counts the reads that SQLite's own functions make of chosen files, which may wait for the disk.
enum SystemReads {
    private typealias Read = @convention(c) (Int32, UnsafeMutableRawPointer?, Int) -> Int
    private typealias ReadAt = @convention(c) (Int32, UnsafeMutableRawPointer?, Int, Int) -> Int

    private static let counts = Mutex<[Int32: Int]>([:])

    /// Replaces the functions with which SQLite reads in this process by ones that count and do the same. Once, so tests that
    /// compare these functions call it first.
    static let isInstalled: Bool = {
        guard let standard = sqlite3_vfs_find("unix") else { return false }
        let read: Read = { descriptor, bytes, count in
            SystemReads.note(descriptor)
            return Glibc.read(descriptor, bytes, count)
        }
        let readAt: ReadAt = { descriptor, bytes, count, offset in
            SystemReads.note(descriptor)
            return pread(descriptor, bytes, count, off_t(offset))
        }
        var replaced = 0
        for name in ["read", "pread", "pread64"] {
            guard standard.pointee.xGetSystemCall?(standard, name) != nil else { continue }
            let function =
                name == "read"
                ? unsafeBitCast(read, to: sqlite3_syscall_ptr.self) : unsafeBitCast(readAt, to: sqlite3_syscall_ptr.self)
            if standard.pointee.xSetSystemCall?(standard, name, function) == SQLITE_OK { replaced += 1 }
        }
        return replaced > 0
    }()

    private static func note(_ descriptor: Int32) {
        counts.withLock { counts in if let count = counts[descriptor] { counts[descriptor] = count + 1 } }
    }

    /// How many times SQLite itself reads from these descriptors while the closure runs.
    static func count(of descriptors: [Int], _ body: () throws -> Void) rethrows -> Int {
        counts.withLock { counts in for descriptor in descriptors { counts[Int32(descriptor)] = 0 } }
        defer { counts.withLock { counts in for descriptor in descriptors { counts[Int32(descriptor)] = nil } } }
        try body()
        return counts.withLock { counts in descriptors.reduce(0) { $0 + (counts[Int32($1)] ?? 0) } }
    }
}
