internal import Synchronization

/// The counts of a ``DiskCache`` since it was opened, and its present size. The difference of two values counts the time between.
public struct DiskCacheStatistics: Hashable, Sendable {
    /// Reads that returned a value.
    public var hits = 0
    /// Reads that returned none.
    public var misses = 0
    /// Values written.
    public var writes = 0
    /// Entries removed on request, not counting those of an emptied cache.
    public var removals = 0
    /// Entries that were evicted for the limit of bytes.
    public var evictions = 0
    /// Entries that had expired and were removed.
    public var expirations = 0
    /// Entries that were damaged.
    public var damaged = 0
    /// Values that were not stored: too large, or too many bytes were staged.
    public var refusals = 0
    /// Writes that failed.
    public var failures = 0
    /// How often the cache was reset for another reason than a request.
    public var restarts = 0
    /// How many entries there are, those of other processes too.
    public var entries = 0
    /// How many bytes count against the limit.
    public var bytes = 0

    /// Makes a value of zeros.
    public init() {}

    /// The part of the reads that returned a value, from 0 to 1; 0 without reads.
    public var hitRate: Double { Double(hits: hits, misses: misses) }

    /// The counts since an earlier moment; the entries and bytes are those of the later one.
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
    /// One line for a person, such as `90 hits and 10 misses (90.0 %), 12 written; 12 entries, 4096 bytes`. Counts of zero are left out.
    public var description: String {
        let counts = StatisticsText.counts([
            (writes, "written"), (removals, "removed"), (evictions, "evicted"), (expirations, "expired"), (damaged, "damaged"),
            (refusals, "refused"), (failures, "not written since the disk failed"), (restarts, "times reset"),
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
    /// Awaited reads that ran on a queue, since they might have had to wait. Not part of the statistics.
    let queuedReads = Atomic(0)
    /// Awaited reads that returned without leaving the caller's thread. Not part of the statistics.
    let immediateReads = Atomic(0)

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
