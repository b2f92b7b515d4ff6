internal import FreshetCache
internal import Synchronization

extension SyncClient {
    /// Counts of the tiers' operations since the client was made, and the present sizes of the tiers.
    public struct Statistics: Hashable, Sendable {
        /// The counts of one tier.
        public struct Tier: Hashable, Sendable {
            /// Reads of single records that found an entry in this tier: a value, or the absence of a record.
            public var hits: Int
            /// Reads that found none, and continued with the next tier or the server.
            public var misses: Int
            /// Entries evicted for want of room, or of memory in the machine.
            public var evictions: Int
            /// The present size in bytes, with the bookkeeping; 0 for the disk of a client that is not running.
            public var bytes: Int

            /// Hits for each read, 0 … 1; `nil` before the first.
            public var hitRate: Double? { hits == 0 && misses == 0 ? nil : Double(hits) / (Double(hits) + Double(misses)) }

            /// The counts since an earlier moment; ``bytes`` is the present size.
            public static func - (now: Self, earlier: Self) -> Self {
                Tier(
                    hits: now.hits &- earlier.hits, misses: now.misses &- earlier.misses, evictions: now.evictions &- earlier.evictions,
                    bytes: now.bytes)
            }
        }

        /// The memory tier, which a read finds without waiting.
        public var memory: Tier
        /// The disk tier, which is read for records that are not in memory.
        public var disk: Tier

        /// The counts since an earlier moment.
        public static func - (now: Self, earlier: Self) -> Self {
            Statistics(memory: now.memory - earlier.memory, disk: now.disk - earlier.disk)
        }
    }

    /// Returns the statistics of the tiers. The tiers are read one after the other, and may change in between.
    public func statistics() async -> Statistics { await engine.statistics() }
}

extension SyncClient.Statistics: CustomStringConvertible {
    /// One line for a person.
    public var description: String { "memory: \(memory); disk: \(disk)" }
}

extension SyncClient.Statistics.Tier: CustomStringConvertible {
    /// A part of a line for a person, such as `90 hits and 10 misses (90.0 %), 0 evictions, 1024 bytes`.
    public var description: String {
        let rate = hitRate.map { " (\(StatisticsText.percent($0)))" } ?? ""
        return "\(hits) hits and \(misses) misses\(rate), \(evictions) evictions, \(bytes) bytes"
    }
}

extension Engine {
    func statistics() -> SyncClient.Statistics {
        let memory = memory.statistics
        return SyncClient.Statistics(
            memory: .init(
                hits: memory.hits, misses: memory.misses, evictions: memory.evictions + memory.pressureEvictions,
                bytes: self.memory.size.cost),
            // A disk that cannot be queried counts as 0 here; reads and writes report the failure.
            disk: .init(
                hits: counters.hits.load(ordering: .relaxed), misses: counters.misses.load(ordering: .relaxed),
                evictions: counters.evictions.load(ordering: .relaxed), bytes: (try? disk?.bytes) ?? 0))
    }
}
