internal import Synchronization

/// What a ``DiskCache`` has done since it was opened, and what it holds. The difference of two tells of the time between.
public struct DiskCacheStatistics: Hashable, Sendable {
    /// Reads that gave a value.
    public var hits = 0
    /// Reads that gave none.
    public var misses = 0
    /// Values written.
    public var writes = 0
    /// Entries removed on request, not counting those of an emptied cache.
    public var removals = 0
    /// Entries that left for the limit of bytes.
    public var evictions = 0
    /// Entries whose lifetime was over.
    public var expirations = 0
    /// Entries that were damaged.
    public var damaged = 0
    /// Values that were too large, or found too much waiting.
    public var refusals = 0
    /// Writes that failed.
    public var failures = 0
    /// How often the cache began anew.
    public var restarts = 0
    /// How many entries there are, those of other processes too.
    public var entries = 0
    /// How many bytes count against the limit.
    public var bytes = 0

    /// None of anything.
    public init() {}

    /// The part of the reads that gave a value, from 0 to 1; 0 without reads.
    public var hitRate: Double { Double(hits: hits, misses: misses) }

    /// What happened since an earlier moment; the entries and bytes are those of the later one.
    public static func - (later: Self, earlier: Self) -> Self {
        var difference = later
        difference.hits &-= earlier.hits
        difference.misses &-= earlier.misses
        difference.writes &-= earlier.writes
        difference.removals &-= earlier.removals
        difference.evictions &-= earlier.evictions
        difference.expirations &-= earlier.expirations
        difference.damaged &-= earlier.damaged
        difference.refusals &-= earlier.refusals
        difference.failures &-= earlier.failures
        difference.restarts &-= earlier.restarts
        return difference
    }
}

extension DiskCacheStatistics: CustomStringConvertible {
    /// One line for a person, such as `90 hits and 10 misses (90.0 %), 12 written; 12 entries, 4096 bytes`. What never happened is left out.
    public var description: String {
        let counts = StatisticsText.counts([
            (writes, "written"), (removals, "removed"), (evictions, "evicted"), (expirations, "expired"), (damaged, "damaged"),
            (refusals, "refused"), (failures, "not written since the disk failed"), (restarts, "times begun anew"),
        ])
        return "\(StatisticsText.reads(hits: hits, misses: misses))\(counts); \(entries) entries, \(bytes) bytes"
    }
}

/// The counters behind ``DiskCacheStatistics``, raised from any thread.
final class DiskCounters: Sendable {
    let hits = Atomic(0)
    let misses = Atomic(0)
    let writes = Atomic(0)
    let removals = Atomic(0)
    let evictions = Atomic(0)
    let expirations = Atomic(0)
    let damaged = Atomic(0)
    let refusals = Atomic(0)
    let failures = Atomic(0)
    let restarts = Atomic(0)

    var snapshot: DiskCacheStatistics {
        var statistics = DiskCacheStatistics()
        statistics.hits = hits.load(ordering: .relaxed)
        statistics.misses = misses.load(ordering: .relaxed)
        statistics.writes = writes.load(ordering: .relaxed)
        statistics.removals = removals.load(ordering: .relaxed)
        statistics.evictions = evictions.load(ordering: .relaxed)
        statistics.expirations = expirations.load(ordering: .relaxed)
        statistics.damaged = damaged.load(ordering: .relaxed)
        statistics.refusals = refusals.load(ordering: .relaxed)
        statistics.failures = failures.load(ordering: .relaxed)
        statistics.restarts = restarts.load(ordering: .relaxed)
        return statistics
    }
}
