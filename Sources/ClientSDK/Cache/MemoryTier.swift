internal import FreshetCache
package import FreshetWire
internal import Synchronization

/// The tier that answers without waiting: views of keys, bounded by their cost, in a separate `Cache`.
///
/// Only the engine's queue writes, any thread reads. A read takes one of many locks, for a table access.
package final class MemoryTier: Sendable {
    /// A value, and how far it could be relied on when it was stored or found.
    package struct Hit: Sendable {
        package var value: CachedValue
        package var freshness: SnapshotFreshness?
    }

    private let cache: Cache<RecordKey, CachedValue>
    /// Keys that are pinned because a write of this device waits for its verdict.
    private let pending = Mutex<Set<RecordKey>>([])
    private let rule: SharedFreshness
    /// Counts changes of views, so that a reader of the disk knows whether its row is still current.
    private let changeCount = Atomic(0)

    /// - Parameters:
    ///   - costLimit: the most bytes that all views may cost together; pending or observed views may exceed it.
    ///   - filter: the keys that the client follows: no others are ever live.
    ///   - shards: the number of locks over which reads are spread.
    ///   - uptime: milliseconds of a clock that counts sleep; read only if ``liveUntil`` was set.
    package init(
        costLimit: Int, filter: ChangeFilter, shards: Int? = nil, uptime: @escaping @Sendable () -> Int64 = { DeviceClock.uptime }
    ) {
        cache = Cache(costLimit: costLimit, lifetime: .unlimited, shards: shards, cost: { $0.cost })
        rule = SharedFreshness(filter, uptime: uptime)
    }

    /// Returns the value of the key. O(1).
    package func read(_ key: RecordKey) -> Hit? { found { cache.value(forKey: key) } }

    /// As ``read(_:)``, without counting a hit or a miss.
    func held(_ key: RecordKey) -> Hit? { found { cache.peek(key) } }

    private func found(_ look: () -> CachedValue?) -> Hit? {
        let (value, freshness) = rule.readConsistently(look)
        return value.map { Hit(value: $0, freshness: freshness.of($0.view)) }
    }

    /// Returns the value of the key, without counting a hit or a miss.
    package func peek(_ key: RecordKey) -> CachedValue? { cache.peek(key) }

    /// Returns a value from elsewhere with its freshness. Called on the engine's queue, where nothing changes in the
    /// meantime.
    package func hit(_ value: CachedValue) -> Hit { Hit(value: value, freshness: freshness(of: value.view)) }

    /// Returns the freshness of a view that was right throughout this call.
    package func freshness(of view: KeyView) -> SnapshotFreshness? { rule.now.of(view) }

    /// Returns the closure's result, and a rule that held during the call. The closure may be called several times;
    /// see ``SharedFreshness/readConsistently(_:)``.
    func readConsistently<Found>(_ look: () -> Found) -> (Found, FreshnessState) { rule.readConsistently(look) }

    /// Sets how far values can be relied on from now on.
    ///
    /// - Parameters:
    ///   - isLive: whether the feed is followed live.
    ///   - pass: the verification pass; entries of an earlier one do not count as confirmed.
    package func setFreshness(isLive: Bool, pass: Int64) { rule.set(isLive: isLive, pass: pass) }

    /// From this uptime on nothing is live, even before the engine has noticed: after the device has woken, or while
    /// its disk is stuck. In milliseconds; initially never.
    var liveUntil: Int64 {
        get { rule.liveUntil }
        set { rule.liveUntil = newValue }
    }

    /// Whether ``liveUntil`` is in the future.
    var mayBeLive: Bool { rule.mayBeLive }

    /// Increases before any view changes.
    var changes: Int { changeCount.load(ordering: .sequentiallyConsistent) }

    /// Stores a view that is on disk. An unknown view without pending writes removes the key.
    ///
    /// - Returns: the object that now represents the view, in the tier or not.
    @discardableResult
    package func store(_ view: KeyView) -> CachedValue {
        noteChange()
        let value = CachedValue(view)
        setPending(view.key, view.isPending)
        if view.value == .unknown, !view.isPending {
            cache.removeValue(forKey: view.key)
        } else {
            cache.setValue(value, forKey: view.key)
        }
        return value
    }

    /// Raises `asOf`, `pass` and `verifiedAt` of an entry whose value has not changed.
    ///
    /// - Returns: the object that now represents the key, if there is one.
    @discardableResult
    package func confirm(_ revalidation: Revalidation) -> CachedValue? { update(revalidation.key) { $0.confirm(revalidation) } }

    private func update(_ key: RecordKey, _ change: (inout Entry) -> Void) -> CachedValue? {
        guard let held = cache.peek(key), var entry = held.view.entry else { return nil }
        change(&entry)
        guard entry != held.view.entry else { return nil }
        var view = held.view
        view.entry = entry
        let value = CachedValue(view, decodedBy: held)
        noteChange()
        cache.setValue(value, forKey: key)
        return value
    }

    /// Removes views in scope that are of another epoch, or known only through an earlier position, unless they are pending.
    package func evict(_ scope: InvalidationScope, before position: Cursor) {
        remove { scope.contains($0.key) && ($0.entry?.isKnownOnly(before: position) ?? true) }
    }

    /// Removes views that a verification pass has not confirmed and that are not known through its end either, unless
    /// they are pending.
    ///
    /// - Returns: the new values of views that were not confirmed and stay.
    @discardableResult
    package func finishPass(_ pass: Int64, at position: Cursor) -> [CachedValue] {
        var kept: [RecordKey] = []
        remove { view in
            guard let entry = view.entry else { return false }
            guard let ended = entry.ended(pass, at: position) else { return true }
            if ended != entry { kept.append(view.key) }
            return false
        }
        return kept.compactMap { key in update(key) { $0 = $0.ended(pass, at: position) ?? $0 } }
    }

    /// Takes the entries that two histories share into the later one.
    ///
    /// - Returns: the new values of these views.
    @discardableResult
    package func inherit(_ inheritance: Inheritance) -> [CachedValue] {
        keys { _, entry in entry.inherited(inheritance) != entry }.compactMap { key in update(key) { $0 = $0.inherited(inheritance) } }
    }

    /// Notes an invalidation in the views in scope that are known only through an earlier position.
    ///
    /// - Returns: the new values of these views. Pending views follow separately.
    @discardableResult
    package func invalidate(_ scope: InvalidationScope, at position: Cursor) -> [CachedValue] {
        let reached = keys { view, entry in scope.contains(view.key) && !view.isPending && entry.isKnownOnly(before: position) }
        return reached.compactMap { key in update(key) { $0.invalidate(at: position) } }
    }

    package func removeAll() {
        noteChange()
        let unpinned = pending.withLock { pending in
            defer { pending = [] }
            return pending
        }
        for key in unpinned { cache.unpin(key) }
        cache.removeAll()
    }

    /// Pins an observed key, also one that is stored later, until ``release(_:)`` was called as often.
    func retain(_ key: RecordKey) { cache.pin(key) }

    func release(_ key: RecordKey) { cache.unpin(key) }

    /// The number of keys, and their total cost.
    var size: (count: Int, cost: Int) { (cache.count, cache.totalCost) }

    /// Removes unpinned views while memory is short. O(1), except for the first cache to join.
    func shrinks(under pressure: MemoryPressure) { cache.shrinks(under: pressure) }

    /// The tier's counts since it was created.
    var statistics: CacheStatistics { cache.statistics }

    private func setPending(_ key: RecordKey, _ isPending: Bool) {
        // An empty set is not asked, since it would hash the key.
        let hasChanged = pending.withLock { isPending ? $0.insert(key).inserted : !$0.isEmpty && $0.remove(key) != nil }
        guard hasChanged else { return }
        if isPending { cache.pin(key) } else { cache.unpin(key) }
    }

    private func remove(_ condition: (KeyView) -> Bool) {
        noteChange()
        cache.removeAll { _, value in !value.view.isPending && condition(value.view) }
    }

    /// The keys whose views have an entry that meets the condition.
    private func keys(where condition: (KeyView, Entry) -> Bool) -> [RecordKey] {
        var found: [RecordKey] = []
        cache.removeAll { key, value in
            if let entry = value.view.entry, condition(value.view, entry) { found.append(key) }
            return false
        }
        return found
    }

    private func noteChange() { changeCount.add(1, ordering: .sequentiallyConsistent) }
}
