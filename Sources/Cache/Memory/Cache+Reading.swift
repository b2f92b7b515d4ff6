public import Synchronization

extension Cache {
    /// The value of a key; nil if there is none or its lifetime is over. Counts as a hit or a miss. Storing nil removes
    /// the value. O(1).
    @inlinable
    public subscript(key: Key) -> Value? {
        get { value(forKey: key) }
        set {
            if let newValue { setValue(newValue, forKey: key) } else { removeValue(forKey: key) }
        }
    }

    /// The value of a key; nil if there is none or its lifetime is over. Counts as a hit or a miss. O(1).
    @inlinable
    public func value(forKey key: Key) -> Value? {
        let hash = key.hashValue
        let shard = shard(ofHash: hash)
        var end = EntryEnd(.unlimited, .max)
        let value: Value? = lock(of: shard).pointee.withLock { _ in
            let number = shard.pointee.find(key, hash)
            guard number >= 0 else {
                shard.pointee.misses &+= 1
                return nil
            }
            shard.pointee.hits &+= 1
            let slot = shard.pointee.slot(number)
            end = slot.pointee.end
            slot.pointee.end.countHit()
            return slot.pointee.value
        }
        if end.timing == .unlimited || (end.timing == .fixed && uptime() < end.deadline) { return value }
        return finishRead(value, key, hash, end)
    }

    /// The value of a key, without counting a hit or a miss, and without extending its lifetime. O(1).
    @inlinable
    public func peek(_ key: Key) -> Value? {
        let hash = key.hashValue
        let shard = shard(ofHash: hash)
        var end = EntryEnd(.unlimited, .max)
        let value: Value? = lock(of: shard).pointee.withLock { _ in
            let number = shard.pointee.find(key, hash)
            guard number >= 0 else { return nil }
            let slot = shard.pointee.slot(number)
            end = slot.pointee.end
            return slot.pointee.value
        }
        return isExpired(end) ? nil : value
    }

    /// Whether a key holds a value whose lifetime is not over, without counting a hit or a miss. O(1).
    @inlinable
    public func contains(_ key: Key) -> Bool { peek(key) != nil }

    /// Whether an entry's lifetime is over. May call an injected clock, so no lock may be held.
    @inlinable
    func isExpired(_ end: EntryEnd) -> Bool {
        switch end.timing {
        case .unlimited: false
        case .fixed, .sliding: end.deadline <= uptime()
        case .wall: end.deadline <= clock.wall()
        }
    }

    /// The slow path of a read: the lifetime is sliding, ends by the wall clock, or is over.
    @usableFromInline
    func finishRead(_ value: Value?, _ key: Key, _ hash: Int, _ end: EntryEnd) -> Value? {
        guard isExpired(end) else {
            if end.timing == .sliding { slide(key, hash, at: uptime()) }
            return value
        }
        let shard = shard(ofHash: hash)
        lock(of: shard).pointee.withLock { _ in
            shard.pointee.hits &-= 1
            shard.pointee.misses &+= 1
        }
        let reading = readClock()
        write { released in
            let entry = find(key, hash)
            // The entry may have been written again since.
            if !entry.isNone, isExpired(entry, at: reading) { remove(entry, .expired, &released) }
        }
        return nil
    }

    private func slide(_ key: Key, _ hash: Int, at now: Int64) {
        let shard = shard(ofHash: hash)
        lock(of: shard).pointee.withLock { _ in
            let number = shard.pointee.find(key, hash)
            guard number >= 0, shard.pointee.slot(number).pointee.end.timing == .sliding else { return }
            let (slot, span) = (shard.pointee.slot(number), shard.pointee.record(number).pointee.span)
            slot.pointee.end.set(.sliding, max(slot.pointee.end.deadline, now.saturatingAdd(span)))
        }
    }

    /// Whether an entry's lifetime is over. Requires the write lock, and takes the shard's, since readers extend
    /// sliding lifetimes.
    @inlinable
    func isExpired(_ entry: EntryReference, at reading: ClockReading) -> Bool {
        let slot = slot(entry)
        return lock(of: shard(of: entry)).pointee.withLock { _ in slot.pointee.end.isExpired(at: reading) }
    }

    /// The keys that hold a value whose lifetime is not over, from the newest of each queue to its oldest. O(count).
    public var keys: [Key] { snapshot().map(\.key) }

    /// The number of values, including expired ones that were not removed yet. O(1).
    public var count: Int { writeLock.withLock { _ in state.pointee.count } }

    /// Whether the cache holds no value.
    public var isEmpty: Bool { count == 0 }

    /// The total cost of all values, including expired ones that were not removed yet. O(1).
    public var totalCost: Int { writeLock.withLock { _ in state.pointee.totalCost } }

    /// The counters since the cache was created. They are read one after the other, while other threads may go on.
    /// O(shards).
    public var statistics: CacheStatistics {
        var statistics = writeLock.withLock { _ in state.pointee.statistics }
        for number in 0...shardMask {
            let shard = shard(number)
            lock(of: shard).pointee.withLock { _ in
                statistics.hits += shard.pointee.hits
                statistics.misses += shard.pointee.misses
            }
        }
        return statistics
    }
}
