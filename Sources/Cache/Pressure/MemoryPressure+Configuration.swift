internal import FoundationEssentials
internal import Glibc
public import Logging

extension MemoryPressure {
    /// The configuration of a ``MemoryPressure``.
    public struct Configuration: Sendable {
        /// The time without pressure before caches grow by a step; at least a second, at most 30 days, by default 30
        /// seconds.
        public var calm = Duration.seconds(30)
        /// The interval between readings of files for which the kernel sends no notifications; at least a tenth of a
        /// second, at most 30 days, by default 5 seconds.
        public var readInterval = Duration.seconds(5)
        /// A prefix of every path in `/proc` and `/sys`: in tests, a directory with a copy of these trees.
        public var root = ""
        /// The file to watch in place of the process's control group, as a service manager asks: a `memory.pressure`
        /// file, or a FIFO into which it writes when memory is short; `/dev/null` disables all watching. By default the
        /// value of `MEMORY_PRESSURE_WATCH`, see <https://systemd.io/MEMORY_PRESSURE/>. Without ``root`` as a prefix.
        public var servicePath: String?
        /// The bytes to write into that file to request warnings. By default the decoded value of
        /// `MEMORY_PRESSURE_WRITE`.
        public var serviceTrigger: [UInt8]?
        /// The source of time; only its uptime is used.
        public var clock = CacheClock.system
        /// The logger for caches that shrink and grow, and for sources that can no longer be watched.
        public var logger = Logger(label: "freshet.cache.pressure")

        /// Creates the default configuration.
        public init() {
            servicePath = getenv("MEMORY_PRESSURE_WATCH").map { String(cString: $0) }
            serviceTrigger = getenv("MEMORY_PRESSURE_WRITE").flatMap { Data(base64Encoded: String(cString: $0)) }.map { Array($0) }
        }
    }
}
