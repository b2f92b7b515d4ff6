package import FreshetWire
internal import Synchronization

/// The tier that answers without waiting: views of keys, bounded by their cost.
///
/// Written by the engine's queue alone, read by any thread. One lock, held for a table access and never while anything is called.
/// (Shards would divide it by key; nothing outside this file would notice.)
package final class MemoryTier: Sendable {
    private struct State {
        var table: EvictingTable<RecordKey, CachedValue>
        /// Keys that are pinned since a write of ours waits for its verdict.
        var pending: Set<RecordKey> = []
        var freshness = FreshnessRule()

        mutating func setPending(_ key: RecordKey, _ isPending: Bool) {
            if isPending {
                if pending.insert(key).inserted { table.pin(key) }
            } else if pending.remove(key) != nil {
                table.unpin(key)
            }
        }
    }

    /// A hit: the value, and how far it can be relied on at this moment.
    package struct Hit: Sendable {
        package var value: CachedValue
        package var freshness: SnapshotFreshness?
    }

    private let state: Mutex<State>

    package init(costLimit: Int) { state = Mutex(State(table: EvictingTable(costLimit: costLimit))) }

    /// What is held for the key. O(1).
    package func read(_ key: RecordKey) -> Hit? {
        state.withLock { state in
            state.table.value(key).map { Hit(value: $0, freshness: state.freshness.of($0.view)) }
        }
    }

    /// What is held for the key, without counting a hit.
    package func peek(_ key: RecordKey) -> CachedValue? { state.withLock { $0.table.peek(key) } }

    /// The freshness of a view that came from elsewhere.
    package func freshness(of view: KeyView) -> SnapshotFreshness? { state.withLock { $0.freshness.of(view) } }

    package func setFreshness(_ rule: FreshnessRule) { state.withLock { $0.freshness = rule } }

    /// Takes a view that is on disk. An unknown one without pending writes removes the key.
    ///
    /// - Returns: the object that now stands for the view, in the tier or not.
    @discardableResult
    package func store(_ view: KeyView) -> CachedValue {
        let value = CachedValue(view)
        state.withLock { state in
            state.setPending(view.key, view.isPending)
            if view.value == .unknown, !view.isPending {
                state.table.remove(view.key)
            } else {
                state.table.insert(view.key, value, cost: value.cost)
            }
        }
        return value
    }

    /// Raises what is known of an entry whose value has not changed.
    ///
    /// - Returns: the object that now stands for the key, if one does.
    @discardableResult
    package func confirm(_ news: Confirmation) -> CachedValue? {
        state.withLock { state in
            guard let held = state.table.peek(news.key), var entry = held.view.entry else { return nil }
            entry.confirm(news)
            guard entry != held.view.entry else { return nil }
            var view = held.view
            view.entry = entry
            let value = CachedValue(view, decodedBy: held)
            state.table.insert(news.key, value, cost: value.cost)
            return value
        }
    }

    /// Removes what is in scope and of another epoch, or known only through an earlier position, unless it is pending.
    package func sweep(_ scope: InvalidationScope, before position: Cursor) {
        remove { scope.contains($0.key) && ($0.entry?.isKnownOnly(before: position) ?? true) }
    }

    /// Removes what was not confirmed in this verification pass or a later one, unless it is pending.
    package func sweep(unverifiedBefore pass: Int64) {
        remove { ($0.entry?.pass ?? pass) < pass }
    }

    package func removeAll() {
        state.withLock { state in
            for key in state.pending { state.table.unpin(key) }
            state.pending = []
            state.table.removeAll()
        }
    }

    /// Keeps a key that is observed, once it is there, until ``release(_:)`` was called as often.
    func retain(_ key: RecordKey) { state.withLock { $0.table.pin(key) } }

    func release(_ key: RecordKey) { state.withLock { $0.table.unpin(key) } }

    /// How many keys it holds, and their cost together.
    var size: (count: Int, cost: Int) { state.withLock { ($0.table.count, $0.table.totalCost) } }

    /// The conditions are asked outside of the lock: only the engine's queue changes the table, and it is that which asks.
    private func remove(_ condition: (KeyView) -> Bool) {
        let views = state.withLock { state in state.table.keys.compactMap { state.table.peek($0)?.view } }
        let doomed = views.filter { !$0.isPending && condition($0) }.map(\.key)
        state.withLock { state in for key in doomed { state.table.remove(key) } }
    }
}

/// ``SyncStatus/freshness(of:)`` reduced to what a read needs, so that it costs no copies.
package struct FreshnessRule: Sendable {
    var isLive = false
    var pass: Int64 = 0
    private var filter = ChangeFilter.all

    init() {}

    package init(_ status: SyncStatus) {
        isLive = status.connection == .live
        pass = status.pass
        filter = status.filter
    }

    func of(_ view: KeyView) -> SnapshotFreshness? {
        guard let entry = view.entry else { return nil }
        guard entry.pass >= pass else { return .unverified(since: entry.verifiedAt) }
        return isLive && !view.isOutdated && filter.matches(entry.key) ? .live : .confirmed(at: entry.verifiedAt)
    }
}
