/// The state that only writers use. Guarded by the cache's write lock.
@usableFromInline
struct CacheState<Key: Hashable & Sendable, Value: Sendable> {
    /// The effective limits: those that were set, or a share of them while memory is short.
    @usableFromInline var costLimit: Int
    @usableFromInline var countLimit: Int
    /// The limits that were set, and the share that may be used.
    var ration: MemoryRation
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
    @usableFromInline var news: [CacheNews<Key, Value>] = []
    var isDelivering = false
    var listeners: [UInt64: CacheListener<Key, Value>] = [:]
    var lastListener: UInt64 = 0

    @usableFromInline
    init(costLimit: Int, countLimit: Int) {
        ration = MemoryRation(costLimit: max(0, costLimit), countLimit: max(0, countLimit))
        self.costLimit = ration.costLimit
        self.countLimit = ration.countLimit
    }
}

/// The tags of the entries.
@usableFromInline
struct TagIndex: Sendable {
    private var entries: [String: Set<EntryReference>] = [:]
    private var tags: [EntryReference: Set<String>] = [:]

    @usableFromInline
    init() {}

    @usableFromInline
    mutating func set(_ newTags: Set<String>, of entry: EntryReference) {
        removeAll(of: entry)
        guard !newTags.isEmpty else { return }
        tags[entry] = newTags
        for tag in newTags { entries[tag, default: []].insert(entry) }
    }

    @usableFromInline
    mutating func removeAll(of entry: EntryReference) {
        for tag in tags.removeValue(forKey: entry) ?? [] {
            entries[tag]?.remove(entry)
            if entries[tag]?.isEmpty == true { entries[tag] = nil }
        }
    }

    func tags(of entry: EntryReference) -> Set<String> { tags[entry] ?? [] }

    func entries(with tag: String) -> Set<EntryReference> { entries[tag] ?? [] }
}

/// The position of the search for expired entries. Each write advances it a little; it rests while no entry can have
/// expired.
@usableFromInline
struct ExpirySweep: Sendable {
    /// No entry ends earlier, by the uptime clock.
    @usableFromInline var earliest = Int64.max
    /// The same by the wall clock.
    @usableFromInline var earliestWall = Int64.max
    /// The same for the entries that this pass has visited, and those written since it began.
    @usableFromInline var next = (uptime: Int64.max, wall: Int64.max)
    @usableFromInline var shard = 0
    @usableFromInline var slot = 0

    @usableFromInline
    init() {}

    /// Whether an entry may have expired.
    @inlinable
    func isDue(at moment: Moment) -> Bool { moment.uptime >= earliest || moment.wall >= earliestWall }

    /// Records an entry's end.
    @inlinable
    mutating func note(_ timing: Timing, _ deadline: Int64) {
        switch timing {
        case .unlimited: break
        case .fixed, .sliding:
            earliest = min(earliest, deadline)
            next.uptime = min(next.uptime, deadline)
        case .wall:
            earliestWall = min(earliestWall, deadline)
            next.wall = min(next.wall, deadline)
        }
    }

    /// Begins a new pass. The last pass determined how long no entry expires.
    mutating func wrap() {
        (earliest, earliestWall) = next
        next = (.max, .max)
        (shard, slot) = (0, 0)
    }
}

/// Objects that were removed from a cache, to be freed once no lock is held: a value's deinitialiser is the user's
/// code.
@usableFromInline
struct Leaving<Key, Value> {
    @usableFromInline var first: (key: Key, value: Value)?
    @usableFromInline var others: [(key: Key, value: Value)] = []
    private var rest: [any Sendable] = []

    @usableFromInline
    init() {}

    /// Adds another object with user code: keys of other tables, errors, loads.
    mutating func keep(_ thing: (any Sendable)?) { if let thing { rest.append(thing) } }

    /// Adds an entry. Mostly there is one, which needs no array.
    @inlinable
    mutating func add(_ key: Key, _ value: Value) {
        if first == nil { first = (key, value) } else { others.append((key, value)) }
    }
}
