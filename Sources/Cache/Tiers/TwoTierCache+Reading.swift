public import Synchronization

extension TwoTierCache {
    /// The value of a key in memory; nil if there is none or its lifetime is over. Does not read the second tier: see
    /// ``value(forKey:)``. Storing nil removes the value. O(1).
    @inlinable
    public subscript(key: Key) -> Value? {
        get { item(forKey: key)?.value }
        set {
            if let newValue { setValue(newValue, forKey: key) } else { removeValue(forKey: key) }
        }
    }

    /// The value of a key with its metadata, from memory alone, without counting a hit or a miss. O(1).
    public func peek(_ key: Key) -> TieredValue<Value>? {
        if memoryWriteCount.load(ordering: .acquiring) > 0, let memoryWrite = state.withLock({ $0.memoryWrites[key] }) {
            return open(memoryWrite.item)
        }
        // `Cache` knows of reads that extended a sliding lifetime.
        if let item = memory.map({ $0.peek(key) }) ?? open(primary.peek(key)) { return item }
        return stagedItem(key)
    }

    /// The value of a key, from memory or else from the second tier. A value from the second tier is stored in memory,
    /// unless the key was written or removed meanwhile. Nil if there is none, if the second tier fails (see
    /// ``events``), and at once if the task is cancelled.
    public func value(forKey key: Key) async -> Value? { await find(key)?.item.value }

    /// The value of a key with its metadata: when it was stored, last verified and when it expires, and its tags. Reads
    /// as ``value(forKey:)``.
    public func entry(forKey key: Key) async -> TieredValue<Value>? { await find(key)?.item }

    /// The value in memory, read for use.
    @inlinable
    func item(forKey key: Key) -> TieredValue<Value>? {
        if let memory, memoryWriteCount.load(ordering: .acquiring) == 0, let item = memory.value(forKey: key) { return item }
        return overlaidItem(key)
    }

    /// The slow path of a read: the first tier has no value, or may not hold the latest.
    @usableFromInline
    func overlaidItem(_ key: Key) -> TieredValue<Value>? {
        if memoryWriteCount.load(ordering: .acquiring) > 0 {
            if let memoryWrite = state.withLock({ $0.memoryWrites[key] }) { return counted(open(memoryWrite.item)) }
            if let memory, let item = memory.value(forKey: key) { return item }
        }
        if memory == nil, let item = open(primary.value(forKey: key)) { return counted(item) }
        return counted(stagedItem(key))
    }

    /// The value that is queued for the second tier. It counts as in memory, even if the first tier does not keep it.
    private func stagedItem(_ key: Key) -> TieredValue<Value>? {
        guard staged.load(ordering: .acquiring) > 0 else { return nil }
        return open(state.withLock { $0.behind.value(key) })
    }

    /// Returns the value unless its lifetime is over.
    func open(_ item: TieredValue<Value>?) -> TieredValue<Value>? {
        guard let item, !item.isExpired(by: clock) else { return nil }
        return item
    }

    private func counted(_ item: TieredValue<Value>?) -> TieredValue<Value>? {
        if item != nil { counters.overlaid.add(1, ordering: .relaxed) } else { counters.absent.add(1, ordering: .relaxed) }
        return item
    }
}
