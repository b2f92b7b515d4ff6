internal import FreshetCache
package import FreshetWire
internal import Synchronization

/// The tier that answers without waiting: views of keys, bounded by their cost, in a `Cache` of their own.
///
/// Written by the engine's queue alone, read by any thread. A read takes one lock of many, for a table access.
package final class MemoryTier: Sendable {
    /// A value, and how far it could be relied on when it was held or found.
    package struct Hit: Sendable {
        package var value: CachedValue
        package var freshness: SnapshotFreshness?
    }

    private let cache: Cache<RecordKey, CachedValue>
    /// Keys that are pinned since a write of ours waits for its verdict.
    private let pending = Mutex<Set<RecordKey>>([])
    private let rule: SharedFreshness
    /// Counts what may have changed a view, so that who looked elsewhere knows whether it still holds.
    private let changeCount = Atomic(0)

    /// - Parameters:
    ///   - costLimit: the most bytes that all views may cost together; those that are pending or observed may exceed it.
    ///   - filter: what the client follows: nothing else is ever live.
    ///   - shards: how many locks the reads are spread over.
    ///   - uptime: milliseconds of a clock that counts sleep; looked at only where ``liveUntil`` was set.
    package init(
        costLimit: Int, filter: ChangeFilter, shards: Int? = nil, uptime: @escaping @Sendable () -> Int64 = { DeviceClock.uptime }
    ) {
        cache = Cache(costLimit: costLimit, lifetime: .unlimited, shards: shards, cost: { $0.cost })
        rule = SharedFreshness(filter, uptime: uptime)
    }

    /// What is held for the key. O(1).
    package func read(_ key: RecordKey) -> Hit? { found { cache.value(forKey: key) } }

    /// As ``read(_:)``, without counting a hit or a miss.
    func held(_ key: RecordKey) -> Hit? { found { cache.peek(key) } }

    private func found(_ look: () -> CachedValue?) -> Hit? {
        let (value, freshness) = rule.during(look)
        return value.map { Hit(value: $0, freshness: freshness.of($0.view)) }
    }

    /// What is held for the key, without counting a hit.
    package func peek(_ key: RecordKey) -> CachedValue? { cache.peek(key) }

    /// A value that came from elsewhere, and how far it can be relied on. On the engine's queue, where nothing changes meanwhile.
    package func hit(_ value: CachedValue) -> Hit { Hit(value: value, freshness: freshness(of: value.view)) }

    /// The freshness of a view that was right throughout this call.
    package func freshness(of view: KeyView) -> SnapshotFreshness? { rule.now.of(view) }

    /// What the closure finds, and a rule that held when it did. The closure may be called several times; see ``SharedFreshness/during(_:)``.
    func during<Found>(_ look: () -> Found) -> (Found, FreshnessRule) { rule.during(look) }

    /// What may be relied on from now on.
    ///
    /// - Parameters:
    ///   - isLive: whether the feed is followed live.
    ///   - pass: the verification pass without which nothing counts as confirmed.
    package func setFreshness(isLive: Bool, pass: Int64) { rule.set(isLive: isLive, pass: pass) }

    /// From this uptime on nothing is live, whoever has not noticed yet that it is not: a device that has just woken, or one whose disk is
    /// stuck. In milliseconds; at first it never comes.
    var liveUntil: Int64 {
        get { rule.liveUntil }
        set { rule.liveUntil = newValue }
    }

    /// Whether that is yet to come.
    var mayBeLive: Bool { rule.mayBeLive }

    /// Moves on before any view changes.
    var changes: Int { changeCount.load(ordering: .sequentiallyConsistent) }

    /// Takes a view that is on disk. An unknown one without pending writes removes the key.
    ///
    /// - Returns: the object that now stands for the view, in the tier or not.
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

    /// Raises what is known of an entry whose value has not changed.
    ///
    /// - Returns: the object that now stands for the key, if one does.
    @discardableResult
    package func confirm(_ news: Confirmation) -> CachedValue? { update(news.key) { $0.confirm(news) } }

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

    /// Removes what is in scope and of another epoch, or known only through an earlier position, unless it is pending.
    package func sweep(_ scope: InvalidationScope, before position: Cursor) {
        remove { scope.contains($0.key) && ($0.entry?.isKnownOnly(before: position) ?? true) }
    }

    /// Removes what a verification pass has not confirmed and is not known through its end either, unless it is pending.
    ///
    /// - Returns: what was not confirmed and stays, as it is now.
    @discardableResult
    package func endPass(_ pass: Int64, at position: Cursor) -> [CachedValue] {
        var kept: [RecordKey] = []
        remove { view in
            guard let entry = view.entry else { return false }
            guard let ended = entry.ended(pass, at: position) else { return true }
            if ended != entry { kept.append(view.key) }
            return false
        }
        return kept.compactMap { key in update(key) { $0 = $0.ended(pass, at: position) ?? $0 } }
    }

    /// Notes an invalidation in what is in scope and known only through an earlier position.
    ///
    /// - Returns: what it reached, as it is now. What is pending follows as a view of its own.
    @discardableResult
    package func invalidate(_ scope: InvalidationScope, at position: Cursor) -> [CachedValue] {
        var reached: [RecordKey] = []
        cache.removeAll { key, value in
            if scope.contains(key), !value.view.isPending, value.view.entry?.isKnownOnly(before: position) ?? false { reached.append(key) }
            return false
        }
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

    /// Keeps a key that is observed, once it is there, until ``release(_:)`` was called as often.
    func retain(_ key: RecordKey) { cache.pin(key) }

    func release(_ key: RecordKey) { cache.unpin(key) }

    /// How many keys it holds, and their cost together.
    var size: (count: Int, cost: Int) { (cache.count, cache.totalCost) }

    /// Lets go of what is not pinned while memory is short. O(1), but for the first to join.
    func shrinks(under pressure: MemoryPressure) { cache.shrinks(under: pressure) }

    /// What it has done since it was made.
    var statistics: CacheStatistics { cache.statistics }

    private func setPending(_ key: RecordKey, _ isPending: Bool) {
        let hasChanged = pending.withLock { isPending ? $0.insert(key).inserted : $0.remove(key) != nil }
        guard hasChanged else { return }
        if isPending { cache.pin(key) } else { cache.unpin(key) }
    }

    private func remove(_ condition: (KeyView) -> Bool) {
        noteChange()
        cache.removeAll { _, value in !value.view.isPending && condition(value.view) }
    }

    private func noteChange() { changeCount.add(1, ordering: .sequentiallyConsistent) }
}
