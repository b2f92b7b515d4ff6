internal import Synchronization

/// The counters of a ``TwoTierCache`` since its creation. Subtract an earlier reading to get the activity in between.
public struct TwoTierStatistics: Hashable, Sendable {
    /// Reads that found a value in memory.
    public var memoryHits = 0
    /// Reads that found no value in memory.
    public var memoryMisses = 0
    /// Reads of the second tier that found a value. Concurrent callers count once.
    public var diskHits = 0
    /// Reads of the second tier that found no value, or one that is no longer valid.
    public var diskMisses = 0
    /// Reads of the second tier that failed.
    public var failedReads = 0
    /// Loads that returned a value.
    public var loads = 0
    /// Loads that failed.
    public var failedLoads = 0
    /// Values written to the second tier.
    public var writes = 0
    /// Values removed from the second tier one by one.
    public var removals = 0
    /// Writes and removals that failed.
    public var failedWrites = 0
    /// Values that stayed in memory alone, since too many writes were queued.
    public var dropped = 0
    /// The number of keys that are queued for the second tier now.
    public var staged = 0

    /// Creates statistics with all counters at zero.
    public init() {}

    /// Hits among all reads of memory, 0 … 1; zero before the first.
    public var memoryHitRate: Double { Double(hits: memoryHits, misses: memoryMisses) }
    /// Hits among all reads of the second tier, 0 … 1; zero before the first.
    public var diskHitRate: Double { Double(hits: diskHits, misses: diskMisses, failedReads) }

    /// The activity between an earlier reading and a later one; ``staged`` is the later one's.
    public static func - (later: Self, earlier: Self) -> Self {
        var difference = later
        difference.memoryHits &-= earlier.memoryHits
        difference.memoryMisses &-= earlier.memoryMisses
        difference.diskHits &-= earlier.diskHits
        difference.diskMisses &-= earlier.diskMisses
        difference.failedReads &-= earlier.failedReads
        difference.loads &-= earlier.loads
        difference.failedLoads &-= earlier.failedLoads
        difference.writes &-= earlier.writes
        difference.removals &-= earlier.removals
        difference.failedWrites &-= earlier.failedWrites
        difference.dropped &-= earlier.dropped
        return difference
    }
}

extension TwoTierStatistics: CustomStringConvertible {
    /// One line for a person, such as
    /// `memory: 90 hits and 10 misses (90.0 %); disk: 8 hits and 2 misses (80.0 %), 3 written; 2 loaded; 1 keys wait for the disk`.
    /// Omits counters that are zero, except for the reads.
    public var description: String {
        let disk = StatisticsText.counts([
            (failedReads, "not read since it failed"), (writes, "written"), (removals, "removed"),
            (failedWrites, "not written since it failed"), (dropped, "not written since too many waited"),
        ])
        let loads = StatisticsText.counts([(loads, "loaded"), (failedLoads, "not loaded since that failed")]).dropFirst(2)
        return """
            memory: \(StatisticsText.reads(hits: memoryHits, misses: memoryMisses)); \
            disk: \(StatisticsText.reads(hits: diskHits, misses: diskMisses))\(disk)\
            \(loads.isEmpty ? "" : "; \(loads)")\(staged == 0 ? "" : "; \(staged) keys wait for the disk")
            """
    }
}

/// The counters behind ``TwoTierStatistics``, incremented from any thread.
final class TwoTierCounters: Sendable {
    /// Hits that the first tier did not count.
    let overlaid = Atomic(0)
    let absent = Atomic(0)
    let secondaryHits = Atomic(0)
    let secondaryMisses = Atomic(0)
    let failedReads = Atomic(0)
    let loads = Atomic(0)
    let failedLoads = Atomic(0)
    let writes = Atomic(0)
    let removals = Atomic(0)
    let failedWrites = Atomic(0)
    let dropped = Atomic(0)
}

extension TwoTierCache {
    /// The counters since the cache was created. They are read one after the other, while other threads may go on.
    public var statistics: TwoTierStatistics {
        var statistics = TwoTierStatistics()
        statistics.memoryHits = (memory?.statistics.hits ?? 0) + counters.overlaid.load(ordering: .relaxed)
        statistics.memoryMisses = counters.absent.load(ordering: .relaxed)
        statistics.diskHits = counters.secondaryHits.load(ordering: .relaxed)
        statistics.diskMisses = counters.secondaryMisses.load(ordering: .relaxed)
        statistics.failedReads = counters.failedReads.load(ordering: .relaxed)
        statistics.loads = counters.loads.load(ordering: .relaxed)
        statistics.failedLoads = counters.failedLoads.load(ordering: .relaxed)
        statistics.writes = counters.writes.load(ordering: .relaxed)
        statistics.removals = counters.removals.load(ordering: .relaxed)
        statistics.failedWrites = counters.failedWrites.load(ordering: .relaxed)
        statistics.dropped = counters.dropped.load(ordering: .relaxed)
        statistics.staged = staged.load(ordering: .relaxed)
        return statistics
    }
}
