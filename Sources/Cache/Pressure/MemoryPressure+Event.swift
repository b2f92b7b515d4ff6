extension MemoryPressure {
    /// How short memory is.
    public enum Level: String, Hashable, Sendable, CaseIterable {
        /// It is not.
        case normal
        /// Work has begun to wait for it: caches go one step down.
        case warning
        /// Work stands still, or will be killed: caches go two steps down.
        case critical
    }

    /// What told that memory is short.
    public enum Cause: Hashable, Sendable, CustomStringConvertible {
        /// Work waited for memory, by a `memory.pressure` file or a service manager.
        case stalls(path: String)
        /// So much of a limit is used, not counting what the kernel can take back by itself.
        case usage(path: String, percent: Int)
        /// Something in the control group was killed, or nearly.
        case kills(path: String)
        /// ``MemoryPressure/report(_:)`` was called.
        case report

        /// A line for people.
        public var description: String {
            switch self {
            case .stalls(let path): "work waits for memory, says \(path)"
            case .usage(let path, let percent): "\(percent) % of the limit of \(path) are used"
            case .kills(let path): "\(path) ran out of memory"
            case .report: "reported"
            }
        }
    }

    /// What happened to all caches that joined.
    public enum Event: Hashable, Sendable {
        /// They were told to keep within a share of their limits.
        case shrunk(toPercent: Int, Level, Cause)
        /// There was no pressure for a while, and they may use more; at 100 their limits are back.
        case grown(toPercent: Int)
        /// The kernel no longer tells of something, which is no longer watched.
        case lost(path: String, reason: String)
    }
}
