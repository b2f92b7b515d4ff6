internal import Synchronization

/// What a ``TwoTierCache`` has done since it was made; the difference of two says what it did between them.
public struct TwoTierStatistics: Hashable, Sendable {
    /// Reads that found a value in memory.
    public var memoryHits = 0
    /// Reads that found none there.
    public var memoryMisses = 0
    /// Reads of the second tier that found a value. All who ask at once are one.
    public var diskHits = 0
    /// Reads of the second tier that found none, or one that is none any more.
    public var diskMisses = 0
    /// Reads of the second tier that failed.
    public var failedReads = 0
    /// Loads that brought a value.
    public var loads = 0
    /// Loads that failed.
    public var failedLoads = 0
    /// Values written to the second tier.
    public var writes = 0
    /// Values removed from it one by one.
    public var removals = 0
    /// Writes and removals that failed.
    public var failedWrites = 0
    /// Values that stayed in memory alone, since too many waited for the second tier.
    public var dropped = 0
    /// How many keys wait for the second tier now.
    public var staged = 0

    /// Nothing yet.
    public init() {}

    /// Hits among all reads of memory, 0 … 1; zero before the first.
    public var memoryHitRate: Double { Double(hits: memoryHits, misses: memoryMisses) }
    /// Hits among all reads of the second tier, 0 … 1; zero before the first.
    public var diskHitRate: Double { Double(hits: diskHits, misses: diskMisses, failedReads) }

    /// What happened between an earlier reading and a later one; ``staged`` is the later one's.
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
    /// One line for a person, such as `memory: 90 hits and 10 misses (90.0 %); disk: 8 hits and 2 misses (80.0 %), 3 written; 2 loaded; 1 keys wait
    /// for the disk`. What never happened is left out but for the reads.
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

/// The counters behind ``TwoTierStatistics``, raised from any thread.
final class TwoTierCounters: Sendable {
    /// Hits that the first tier did not count by itself.
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
    /// What it has done since it was made. The parts are read one after the other, while others may go on.
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
