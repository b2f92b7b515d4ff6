public import Synchronization

extension TwoTierCache {
    /// The value of a key in memory; nil where there is none or its lifetime is over. The second tier is not asked:
    /// see ``value(forKey:)``. Storing nil removes. O(1).
    @inlinable
    public subscript(key: Key) -> Value? {
        get { item(forKey: key)?.value }
        set {
            if let newValue { setValue(newValue, forKey: key) } else { removeValue(forKey: key) }
        }
    }

    /// The value of a key with what is known of it, from memory alone, without a hit or a miss. O(1).
    public func peek(_ key: Key) -> TieredValue<Value>? {
        if moving.load(ordering: .acquiring) > 0, let move = state.withLock({ $0.moves[key] }) { return open(move.item) }
        // Our own cache knows of uses that put off an end.
        if let item = memory.map({ $0.peek(key) }) ?? open(primary.peek(key)) { return item }
        return stagedItem(key)
    }

    /// The value of a key, from memory or else from the second tier; then it is kept in memory, unless it was overtaken. Nil where there
    /// is none, where the second tier fails (see ``events``), and at once where the task is cancelled.
    public func value(forKey key: Key) async -> Value? { await find(key)?.item.value }

    /// The same, with what is known of the value: when it was stored, when it was last verified, when it is over, its tags.
    public func entry(forKey key: Key) async -> TieredValue<Value>? { await find(key)?.item }

    /// What memory holds, read to be used.
    @inlinable
    func item(forKey key: Key) -> TieredValue<Value>? {
        if let memory, moving.load(ordering: .acquiring) == 0, let item = memory.value(forKey: key) { return item }
        return overlaidItem(key)
    }

    /// The rest of a read that found nothing in the first tier, or does not know whether that holds the latest.
    @usableFromInline
    func overlaidItem(_ key: Key) -> TieredValue<Value>? {
        if moving.load(ordering: .acquiring) > 0 {
            if let move = state.withLock({ $0.moves[key] }) { return counted(open(move.item)) }
            if let memory, let item = memory.value(forKey: key) { return item }
        }
        if memory == nil, let item = open(primary.value(forKey: key)) { return counted(item) }
        return counted(stagedItem(key))
    }

    /// What waits to be written is in memory too, whether the first tier keeps it or not.
    private func stagedItem(_ key: Key) -> TieredValue<Value>? {
        guard staged.load(ordering: .acquiring) > 0 else { return nil }
        return open(state.withLock { $0.behind.value(key) })
    }

    /// A value unless its lifetime is over, wherever it was found.
    func open(_ item: TieredValue<Value>?) -> TieredValue<Value>? {
        guard let item, !item.isOver(by: clock) else { return nil }
        return item
    }

    private func counted(_ item: TieredValue<Value>?) -> TieredValue<Value>? {
        if item != nil { counters.overlaid.add(1, ordering: .relaxed) } else { counters.absent.add(1, ordering: .relaxed) }
        return item
    }
}
