/// The counters of a cache since its creation. Subtract an earlier reading to get the activity in between.
public struct CacheStatistics: Hashable, Sendable {
    /// Reads that found a value.
    public var hits = 0
    /// Reads that found no value, or one whose lifetime was over.
    public var misses = 0
    /// Values stored under keys that held none.
    public var insertions = 0
    /// Values stored in place of others.
    public var overwrites = 0
    /// Values evicted to make room.
    public var evictions = 0
    /// Values evicted since memory was short, see ``MemoryPressure``. Not included in ``evictions``.
    public var pressureEvictions = 0
    /// Values removed since their lifetime was over.
    public var expirations = 0
    /// Values removed by a call.
    public var removals = 0
    /// Values that were too large to be stored.
    public var refusals = 0

    /// Creates statistics with all counters at zero.
    public init() {}

    /// Hits among all reads, 0 … 1; zero before the first read.
    public var hitRate: Double { Double(hits: hits, misses: misses) }

    /// The activity between an earlier reading and a later one.
    public static func - (later: CacheStatistics, earlier: CacheStatistics) -> CacheStatistics {
        var difference = later
        difference.hits &-= earlier.hits
        difference.misses &-= earlier.misses
        difference.insertions &-= earlier.insertions
        difference.overwrites &-= earlier.overwrites
        difference.evictions &-= earlier.evictions
        difference.pressureEvictions &-= earlier.pressureEvictions
        difference.expirations &-= earlier.expirations
        difference.removals &-= earlier.removals
        difference.refusals &-= earlier.refusals
        return difference
    }
}

extension CacheStatistics: CustomStringConvertible {
    /// One line for a person, such as `90 hits and 10 misses (90.0 %), 12 inserted, 2 evicted`. Omits counters that are
    /// zero.
    public var description: String {
        StatisticsText.reads(hits: hits, misses: misses)
            + StatisticsText.counts([
                (insertions, "inserted"), (overwrites, "overwritten"), (evictions, "evicted"),
                (pressureEvictions, "evicted since memory was short"), (expirations, "expired"), (removals, "removed"),
                (refusals, "refused"),
            ])
    }
}

extension Double {
    /// Hits among all reads, 0 … 1; zero before the first.
    init(hits: Int, misses: Int...) {
        let reads = misses.reduce(Double(hits)) { $0 + Double($1) }
        self = reads == 0 ? 0 : Double(hits) / reads
    }
}
