internal import CFreshetLinux
internal import Glibc

/// Which bytes of a file a nonblocking read finds in memory.
package enum ResidentPages: Sendable {
    /// Those that are in the kernel's page cache.
    case pageCache
    /// Those at whose offset the closure returns true, read with an ordinary call. For tests: the kernel may reclaim
    /// any page at any time.
    case chosen(@Sendable (Int64) -> Bool)

    /// Whether mapped files have to be locked in memory, too.
    package var needsLockedMemory: Bool { if case .pageCache = self { true } else { false } }

    /// What became of a read.
    enum Outcome {
        case done
        /// Some of the bytes are not in memory now, or not in the file. Those in `bytes` may have changed.
        case absent
        /// The system cannot read this file without waiting.
        case unsupported
    }

    func read(_ descriptor: Int32, into bytes: UnsafeMutableRawPointer, count: Int, at offset: Int64) -> Outcome {
        switch self {
        case .pageCache:
            switch freshet_read_cached(descriptor, bytes, count, off_t(offset), Self.pageSize) {
            case count: .done
            case -2: .unsupported
            default: .absent
            }
        case .chosen(let isResident):
            isResident(offset) && pread(descriptor, bytes, count, off_t(offset)) == count ? .done : .absent
        }
    }

    private static let pageSize = Int(getpagesize())
}
