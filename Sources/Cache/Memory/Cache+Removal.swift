internal import Synchronization

extension Cache {
    /// Removes everything, and forgets the hashes of evicted keys. Pins stay. O(count).
    public func removeAll() {
        let reading = readClock()
        write { released in
            fenceAll(&released)
            for entry in entries() { remove(entry, isExpired(entry, at: reading) ? .expired : .removed, &released) }
            state.pointee.ghost.removeAll()
        }
    }

    /// Removes the values that match a condition, and prevents all loads in flight from storing their results, which
    /// were not checked.
    ///
    /// The condition runs in the caller's thread without a lock, over the entries that the cache held at the call. A
    /// value that was written since then stays. O(count).
    ///
    /// - Returns: the number of removed values.
    @discardableResult
    public func removeAll(where condition: (_ key: Key, _ value: Value) throws -> Bool) rethrows -> Int {
        let evaluated = write { released in
            fenceAll(&released)
            return entries().map {
                Evaluated(entry: $0, stamp: record($0).pointee.stamp, key: slot($0).pointee.key, value: slot($0).pointee.value)
            }
        }
        return remove(try evaluated.filter { try condition($0.key, $0.value) }.map { (entry: $0.entry, stamp: $0.stamp) })
    }

    /// Removes the values that were stored with a tag. O(removed).
    ///
    /// - Returns: the number of removed values.
    @discardableResult
    public func removeAll(taggedWith tag: CacheTag) -> Int {
        let reading = readClock()
        return write { released in
            fenceAll(taggedWith: tag, &released)
            let tagged = state.pointee.tags.entries(with: tag)
            for entry in tagged.sorted(by: { $0.bits < $1.bits }) {
                remove(entry, isExpired(entry, at: reading) ? .expired : .removed, &released)
            }
            return tagged.count
        }
    }

    /// Removes the values whose lifetime is over. Without this call, later writes remove them. O(count).
    ///
    /// - Returns: the number of removed values.
    @discardableResult
    public func removeExpired() -> Int {
        let reading = readClock()
        return write { released in
            let expired = entries().filter { isExpired($0, at: reading) }
            for entry in expired { remove(entry, .expired, &released) }
            return expired.count
        }
    }

    /// The greatest total cost of all values; setting a lower limit evicts values. While memory is short a share of it
    /// applies, see ``MemoryPressure``. O(1) to read.
    ///
    /// - Precondition: to set a limit other than `.max`, the cache was created with a `cost` closure, or its values are
    ///   ``CostedValue``s.
    public var costLimit: Int {
        get { writeLock.withLock { _ in state.pointee.limitScale.costLimit } }
        set {
            precondition(
                newValue == .max || statedCost != nil,
                "A cost limit needs a cost: make the cache with costLimit and cost, or make \(Value.self) a CostedValue.")
            let reading = readClock()
            write { released in
                state.pointee.limitScale.costLimit = max(0, newValue)
                state.pointee.costLimit = state.pointee.limitScale.costShare
                makeRoom(cost: 0, count: 0, reading, &released)
            }
        }
    }

    /// The greatest number of values; setting a lower limit evicts values. While memory is short a share of it applies,
    /// see ``MemoryPressure``. O(1) to read.
    public var countLimit: Int {
        get { writeLock.withLock { _ in state.pointee.limitScale.countLimit } }
        set {
            let reading = readClock()
            write { released in
                state.pointee.limitScale.countLimit = max(0, newValue)
                state.pointee.countLimit = state.pointee.limitScale.countShare
                makeRoom(cost: 0, count: 0, reading, &released)
            }
        }
    }

    /// Evicts until the values that are not pinned cost at most this much. The limit stays the same. O(evicted).
    public func trim(toCost cost: Int) { trim(toCost: cost, toCount: .max) }

    /// Evicts until at most so many values that are not pinned remain. The limit stays the same. O(evicted).
    public func trim(toCount count: Int) { trim(toCost: .max, toCount: count) }

    private func trim(toCost cost: Int, toCount count: Int) {
        let reading = readClock()
        write { released in
            evict(toCost: max(0, cost), toCount: max(0, count), smallCost: cost / 10, smallCount: count / 10, .evicted, reading, &released)
        }
    }

    /// Removes entries that were selected without the lock, unless they changed since.
    private func remove(_ evaluated: [(entry: EntryReference, stamp: UInt32)]) -> Int {
        let reading = readClock()
        return write { released in
            var removed = 0
            for (entry, stamp) in evaluated where isThere(entry, stamp) {
                remove(entry, isExpired(entry, at: reading) ? .expired : .removed, &released)
                removed += 1
            }
            return removed
        }
    }

    /// Slots are never freed, so the record can be read even if its entry has been removed or replaced.
    private func isThere(_ entry: EntryReference, _ stamp: UInt32) -> Bool {
        record(entry).pointee.queue != .free && record(entry).pointee.stamp == stamp
    }

    /// All entries, expired ones too: from the newest of each queue to its oldest, then the pinned ones. Requires the
    /// write lock.
    func entries() -> [EntryReference] {
        var entries: [EntryReference] = []
        entries.reserveCapacity(state.pointee.count)
        for queue in [state.pointee.small, state.pointee.main] {
            var entry = queue.head
            while !entry.isNone {
                entries.append(entry)
                entry = record(entry).pointee.older
            }
        }
        guard state.pointee.pinnedCount > 0 else { return entries }
        for number in 0...shardMask {
            for slot in 0..<shard(number).pointee.usedSlots where shard(number).pointee.record(slot).pointee.queue == .pinned {
                entries.append(reference(slot, number))
            }
        }
        return entries
    }

    /// An entry, and the key and value to pass to a condition.
    private struct Evaluated: Sendable {
        let entry: EntryReference
        let stamp: UInt32
        let key: Key
        let value: Value
    }
}

extension Cache where Key == String {
    /// Removes the values whose keys begin with a prefix; all for an empty one. O(count).
    ///
    /// A key begins with a prefix if the bytes of its `nameBytes` begin with those of the prefix, as in a ``TwoTierCache``:
    /// equal keys begin with the same prefixes, and `user/` is a prefix of all keys that were made of it and more.
    ///
    /// - Returns: the number of removed values.
    @discardableResult
    public func removeAll(withPrefix prefix: String) -> Int {
        let bytes = prefix.nameBytes
        return removeAll { key, _ in CanonicalText.bytes(key, startWith: bytes) }
    }
}

extension Cache {
    /// Visits a few entries and removes expired ones. Writes call it while any entry may have expired. O(1).
    @usableFromInline
    func sweep(at reading: ClockReading, _ released: inout DeferredRelease<Key, Value>) {
        for _ in 0..<16 {
            while state.pointee.sweep.slot >= shard(state.pointee.sweep.shard).pointee.usedSlots {
                state.pointee.sweep.slot = 0
                state.pointee.sweep.shard += 1
                guard state.pointee.sweep.shard <= shardMask else { return state.pointee.sweep.wrap() }
            }
            let entry = reference(state.pointee.sweep.slot, state.pointee.sweep.shard)
            state.pointee.sweep.slot += 1
            guard record(entry).pointee.queue != .free else { continue }
            let slot = slot(entry)
            let end = lock(of: shard(of: entry)).pointee.withLock { _ in slot.pointee.end }
            if end.isExpired(at: reading) {
                remove(entry, .expired, &released)
            } else {
                state.pointee.sweep.note(end.timing, end.deadline)
            }
        }
    }
}
