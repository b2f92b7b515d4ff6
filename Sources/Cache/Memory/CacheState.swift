/// The state that only writers use. Guarded by the cache's write lock.
@usableFromInline
struct CacheState<Key: Hashable & Sendable, Value: Sendable> {
    /// The effective limits: those that were set, or a share of them while memory is short.
    @usableFromInline var costLimit: Int
    @usableFromInline var countLimit: Int
    /// The limits that were set, and the share that may be used.
    var limitScale: LimitScale
    @usableFromInline var totalCost = 0
    @usableFromInline var count = 0
    @usableFromInline var pinnedCost = 0
    @usableFromInline var pinnedCount = 0
    @usableFromInline var small = EvictionQueue()
    @usableFromInline var main = EvictionQueue()
    @usableFromInline var ghost = GhostRing()
    /// Without hits and misses, which the shards count.
    @usableFromInline var statistics = CacheStatistics()
    @usableFromInline var stamp: UInt32 = 0
    /// The number of pins of each key, with or without a value.
    @usableFromInline var pins: [Key: Int] = [:]
    @usableFromInline var tags = TagIndex()
    @usableFromInline var sweep = ExpirySweep()
    /// The loads in flight whose results may be stored.
    @usableFromInline var loads = LoadTable<Key, Value>()
    /// The loads that failed and must not be retried for a while.
    @usableFromInline var failures: [Key: LoadFailure] = [:]
    /// Whether there are listeners to changes. Without them no change is noted.
    @usableFromInline var isObserved = false
    /// The changes that were not delivered yet.
    @usableFromInline var undelivered: [UndeliveredChange<Key, Value>] = []
    var isDelivering = false
    var listeners: [UInt64: CacheListener<Key, Value>] = [:]
    var lastListener: UInt64 = 0

    @usableFromInline
    init(costLimit: Int, countLimit: Int) {
        limitScale = LimitScale(costLimit: max(0, costLimit), countLimit: max(0, countLimit))
        self.costLimit = limitScale.costLimit
        self.countLimit = limitScale.countLimit
    }
}
