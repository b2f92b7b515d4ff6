internal import FoundationEssentials
internal import Glibc
public import Logging

extension MemoryPressure {
    /// How a ``MemoryPressure`` works.
    public struct Configuration: Sendable {
        /// How long there must be no pressure before caches grow by a step; at least a second, at most 30 days, 30 seconds unless told
        /// otherwise.
        public var calm = Duration.seconds(30)
        /// How often it reads what the kernel does not tell by itself; at least a tenth of a second, at most 30 days, 5 seconds unless told
        /// otherwise.
        public var readInterval = Duration.seconds(5)
        /// Before `/proc` and `/sys` in every path: for tests, a directory with a tree of their own.
        public var root = ""
        /// What a service manager wants watched in place of the process's own control group: a `memory.pressure` file, or a FIFO into which it
        /// writes when memory is short; `/dev/null` for nothing at all. That in `MEMORY_PRESSURE_WATCH` unless told otherwise, see
        /// <https://systemd.io/MEMORY_PRESSURE/>. Without ``root`` before it.
        public var servicePath: String?
        /// What is written into that file to ask for a warning; that in `MEMORY_PRESSURE_WRITE` unless told otherwise, decoded.
        public var serviceTrigger: [UInt8]?
        /// Where time comes from: its uptime counts.
        public var clock = CacheClock.system
        /// Where it says that caches shrink and grow, and what can no longer be watched.
        public var logger = Logger(label: "freshet.cache.pressure")

        /// What has the values given above.
        public init() {
            servicePath = getenv("MEMORY_PRESSURE_WATCH").map { String(cString: $0) }
            serviceTrigger = getenv("MEMORY_PRESSURE_WRITE").flatMap { Data(base64Encoded: String(cString: $0)) }.map { Array($0) }
        }
    }
}
