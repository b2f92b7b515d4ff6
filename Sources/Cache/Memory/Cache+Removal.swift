internal import Synchronization

extension Cache {
    /// Removes everything, and forgets the hashes of evicted keys. Pins stay. O(count).
    public func removeAll() {
        let moment = moment()
        write { leaving in
            fenceAll(&leaving)
            for entry in entries() { remove(entry, isOver(entry, at: moment) ? .expired : .removed, &leaving) }
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
        let judged = write { leaving in
            fenceAll(&leaving)
            return entries().map {
                Judged(entry: $0, stamp: record($0).pointee.stamp, key: slot($0).pointee.key, value: slot($0).pointee.value)
            }
        }
        return remove(try judged.filter { try condition($0.key, $0.value) }.map { (entry: $0.entry, stamp: $0.stamp) })
    }

    /// Removes the values that were stored with a tag. O(removed).
    ///
    /// - Returns: the number of removed values.
    @discardableResult
    public func removeAll(taggedWith tag: String) -> Int {
        let moment = moment()
        return write { leaving in
            fenceAll(taggedWith: tag, &leaving)
            let tagged = state.pointee.tags.entries(with: tag)
            for entry in tagged.sorted(by: { $0.bits < $1.bits }) {
                remove(entry, isOver(entry, at: moment) ? .expired : .removed, &leaving)
            }
            return tagged.count
        }
    }

    /// Removes the values whose lifetime is over. Without this call, later writes remove them. O(count).
    ///
    /// - Returns: the number of removed values.
    @discardableResult
    public func removeExpired() -> Int {
        let moment = moment()
        return write { leaving in
            let expired = entries().filter { isOver($0, at: moment) }
            for entry in expired { remove(entry, .expired, &leaving) }
            return expired.count
        }
    }

    /// The greatest total cost of all values; setting a lower limit evicts values. While memory is short a share of it
    /// applies, see ``MemoryPressure``. O(1) to read.
    ///
    /// - Precondition: to set a limit other than `.max`, the cache was created with a `cost` closure, or its values are
    ///   ``CostedValue``s.
    public var costLimit: Int {
        get { writeLock.withLock { _ in state.pointee.ration.costLimit } }
        set {
            precondition(
                newValue == .max || statedCost != nil,
                "A cost limit needs a cost: make the cache with costLimit and cost, or make \(Value.self) a CostedValue.")
            let moment = moment()
            write { leaving in
                state.pointee.ration.costLimit = max(0, newValue)
                state.pointee.costLimit = state.pointee.ration.costShare
                makeRoom(cost: 0, count: 0, moment, &leaving)
            }
        }
    }

    /// The greatest number of values; setting a lower limit evicts values. While memory is short a share of it applies,
    /// see ``MemoryPressure``. O(1) to read.
    public var countLimit: Int {
        get { writeLock.withLock { _ in state.pointee.ration.countLimit } }
        set {
            let moment = moment()
            write { leaving in
                state.pointee.ration.countLimit = max(0, newValue)
                state.pointee.countLimit = state.pointee.ration.countShare
                makeRoom(cost: 0, count: 0, moment, &leaving)
            }
        }
    }

    /// Evicts until the values that are not pinned cost at most this much. The limit stays the same. O(evicted).
    public func trim(toCost cost: Int) { trim(toCost: cost, toCount: .max) }

    /// Evicts until at most so many values that are not pinned remain. The limit stays the same. O(evicted).
    public func trim(toCount count: Int) { trim(toCost: .max, toCount: count) }

    private func trim(toCost cost: Int, toCount count: Int) {
        let moment = moment()
        write { leaving in
            evict(toCost: max(0, cost), toCount: max(0, count), smallCost: cost / 10, smallCount: count / 10, .evicted, moment, &leaving)
        }
    }

    /// Removes entries that were selected without the lock, unless they changed since.
    private func remove(_ judged: [(entry: EntryReference, stamp: UInt32)]) -> Int {
        let moment = moment()
        return write { leaving in
            var removed = 0
            for (entry, stamp) in judged where isThere(entry, stamp) {
                remove(entry, isOver(entry, at: moment) ? .expired : .removed, &leaving)
                removed += 1
            }
            return removed
        }
    }

    /// Slots are never freed, so the record can be read even if its entry has been removed or replaced.
    private func isThere(_ entry: EntryReference, _ stamp: UInt32) -> Bool {
        record(entry).pointee.place != .free && record(entry).pointee.stamp == stamp
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
            for slot in 0..<shard(number).pointee.usedSlots where shard(number).pointee.record(slot).pointee.place == .pinned {
                entries.append(reference(slot, number))
            }
        }
        return entries
    }

    /// An entry, and the key and value to pass to a condition.
    private struct Judged: Sendable {
        let entry: EntryReference
        let stamp: UInt32
        let key: Key
        let value: Value
    }
}

extension Cache where Key == String {
    /// Removes the values whose keys begin with a prefix. O(count).
    ///
    /// - Returns: the number of removed values.
    @discardableResult
    public func removeAll(withPrefix prefix: String) -> Int { removeAll { key, _ in key.hasPrefix(prefix) } }
}

extension Cache {
    /// Visits a few entries and removes expired ones. Writes call it while any entry may have expired. O(1).
    @usableFromInline
    func sweep(at moment: Moment, _ leaving: inout Leaving<Key, Value>) {
        for _ in 0..<16 {
            while state.pointee.sweep.slot >= shard(state.pointee.sweep.shard).pointee.usedSlots {
                state.pointee.sweep.slot = 0
                state.pointee.sweep.shard += 1
                guard state.pointee.sweep.shard <= shardMask else { return state.pointee.sweep.wrap() }
            }
            let entry = reference(state.pointee.sweep.slot, state.pointee.sweep.shard)
            state.pointee.sweep.slot += 1
            guard record(entry).pointee.place != .free else { continue }
            let slot = slot(entry)
            let end = lock(of: shard(of: entry)).pointee.withLock { _ in slot.pointee.end }
            if end.isOver(at: moment) {
                remove(entry, .expired, &leaving)
            } else {
                state.pointee.sweep.note(end.timing, end.deadline)
            }
        }
    }
}
