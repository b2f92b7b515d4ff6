extension MemoryPressure {
    /// A level of memory pressure.
    public enum Level: String, Hashable, Sendable, CaseIterable {
        /// There is no pressure.
        case normal
        /// Tasks have begun to wait for memory: caches go one step down.
        case warning
        /// All tasks wait, or one will be killed: caches go two steps down.
        case critical
    }

    /// The source of a sign of pressure.
    public enum Cause: Hashable, Sendable, CustomStringConvertible {
        /// Tasks waited for memory, by a `memory.pressure` file or a service manager.
        case stalls(path: String)
        /// The used share of a limit, without the memory that the kernel can reclaim.
        case usage(path: String, percent: Int)
        /// A task in the control group was killed, or nearly.
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

    /// An event that concerns all caches that joined.
    public enum Event: Hashable, Sendable {
        /// Caches had to shrink to a share of their limits.
        case shrunk(toPercent: Int, Level, Cause)
        /// There was no pressure for a while, and caches may use more; at 100 their limits are restored.
        case grown(toPercent: Int)
        /// The kernel no longer reports on a file, which is no longer watched.
        case lost(path: String, reason: String)
    }
}
