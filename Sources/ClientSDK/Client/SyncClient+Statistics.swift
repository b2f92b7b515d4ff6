internal import FreshetCache
internal import Synchronization

extension SyncClient {
    /// What the tiers have done since the client was made, and what they hold now.
    public struct Statistics: Hashable, Sendable {
        /// One tier's.
        public struct Tier: Hashable, Sendable {
            /// Reads of single records that found something here: a value, or that there is none.
            public var hits: Int
            /// Reads that did not, and went on to the next tier or the server.
            public var misses: Int
            /// Entries that left for want of room, or of memory in the machine.
            public var evictions: Int
            /// What it holds, in bytes with the bookkeeping; 0 for the disk of a client that does not run.
            public var bytes: Int

            /// Hits for each read, 0 … 1; `nil` before the first.
            public var hitRate: Double? { hits == 0 && misses == 0 ? nil : Double(hits) / (Double(hits) + Double(misses)) }

            /// What was done since an earlier moment; ``bytes`` is what is held now.
            public static func - (now: Self, earlier: Self) -> Self {
                Tier(
                    hits: now.hits &- earlier.hits, misses: now.misses &- earlier.misses, evictions: now.evictions &- earlier.evictions,
                    bytes: now.bytes)
            }
        }

        /// Values that a read finds without waiting.
        public var memory: Tier
        /// What the directory holds; it is asked for what memory has not.
        public var disk: Tier

        /// What was done since an earlier moment.
        public static func - (now: Self, earlier: Self) -> Self {
            Statistics(memory: now.memory - earlier.memory, disk: now.disk - earlier.disk)
        }
    }

    /// What the tiers have done and hold. A part is read after the other, while others may go on.
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
            // A disk that cannot be asked says so to whoever reads or writes.
            disk: .init(
                hits: counters.hits.load(ordering: .relaxed), misses: counters.misses.load(ordering: .relaxed),
                evictions: counters.evictions.load(ordering: .relaxed), bytes: (try? disk?.bytes) ?? 0))
    }
}
