public import Synchronization

/// Changes of the queues. All of them require the write lock.
extension Cache {
    /// Evicts until an entry of this cost and count fits.
    @inlinable
    func makeRoom(cost: Int, count: Int, _ reading: ClockReading, _ released: inout DeferredRelease<Key, Value>) {
        let (costLimit, countLimit) = (state.pointee.costLimit, state.pointee.countLimit)
        let (wantedCost, wantedCount) = (costLimit - cost, countLimit - count)
        guard state.pointee.totalCost > wantedCost || state.pointee.count > wantedCount else { return }
        evict(
            toCost: wantedCost, toCount: wantedCount, smallCost: costLimit / 10, smallCount: countLimit / 10, .evicted, reading, &released)
    }

    /// Evicts until the wanted cost and count are reached. Terminates: each turn removes an entry, moves one from small
    /// to main, or lowers a counter.
    @inlinable
    func evict(
        toCost wantedCost: Int, toCount wantedCount: Int, smallCost: Int, smallCount: Int, _ cause: CacheChange<Key, Value>.Cause,
        _ reading: ClockReading, _ released: inout DeferredRelease<Key, Value>
    ) {
        var goesOn = true
        while goesOn {
            goesOn = evictOne(
                toCost: wantedCost, toCount: wantedCount, smallCost: smallCost, smallCount: smallCount, cause, reading, &released)
        }
    }

    /// One turn of ``evict(toCost:toCount:smallCost:smallCount:_:_:_:)``.
    ///
    /// - Returns: false if nothing has to be evicted, or nothing can be.
    @inlinable
    func evictOne(
        toCost wantedCost: Int, toCount wantedCount: Int, smallCost: Int, smallCount: Int, _ cause: CacheChange<Key, Value>.Cause,
        _ reading: ClockReading, _ released: inout DeferredRelease<Key, Value>
    ) -> Bool {
        let isOverCost = state.pointee.totalCost > wantedCost
        guard isOverCost || state.pointee.count > wantedCount else { return false }
        let small = state.pointee.small
        let isSmallFull = isOverCost ? small.cost >= max(1, smallCost) : small.count >= max(1, smallCount)
        if small.count > 0, isSmallFull || state.pointee.main.count == 0 {
            evictOrRequeue(small.tail, isSmall: true, cause, reading, &released)
        } else if state.pointee.main.count > 0 {
            evictOrRequeue(state.pointee.main.tail, isSmall: false, cause, reading, &released)
        } else {
            return false
        }
        return true
    }

    /// Decides about the oldest entry of a queue: removes it, or moves it to the head of the main queue.
    @inlinable
    func evictOrRequeue(
        _ entry: EntryReference, isSmall: Bool, _ cause: CacheChange<Key, Value>.Cause, _ reading: ClockReading,
        _ released: inout DeferredRelease<Key, Value>
    ) {
        let (shard, slot) = (shard(of: entry), slot(entry))
        var isExpired = false
        let isSpared = lock(of: shard).pointee.withLock { _ in
            isExpired = slot.pointee.end.isExpired(at: reading)
            // A new entry needs more than one hit, as in the authors' code: a single hit is often the second half of
            // one use.
            guard !isExpired, slot.pointee.end.frequency > (isSmall ? 1 : 0) else { return false }
            slot.pointee.end.frequency = isSmall ? 0 : slot.pointee.end.frequency - 1
            return true
        }
        if isSpared {
            unlink(entry)
            link(entry, .main)
        } else {
            // Remembers as many hashes as the main queue holds entries if all have the same cost.
            if isSmall, !isExpired { state.pointee.ghost.insert(record(entry).pointee.hash, capacity: state.pointee.count * 9 / 10) }
            remove(entry, isExpired ? .expired : cause, &released)
        }
    }

    /// Removes an entry from its queue, the tags and its shard.
    @inlinable
    func remove(_ entry: EntryReference, _ cause: CacheChange<Key, Value>.Cause, _ released: inout DeferredRelease<Key, Value>) {
        let (shard, record) = (shard(of: entry), record(entry))
        unlink(entry)
        if record.pointee.isTagged { state.pointee.tags.removeAll(of: entry) }
        state.pointee.totalCost -= record.pointee.cost
        state.pointee.count -= 1
        let number = Int(entry.bits) >> shardBits
        let left = lock(of: shard).pointee.withLock { _ in shard.pointee.take(number) }
        switch cause {
        case .evicted: state.pointee.statistics.evictions += 1
        case .evictedUnderPressure: state.pointee.statistics.pressureEvictions += 1
        case .expired: state.pointee.statistics.expirations += 1
        case .removed: state.pointee.statistics.removals += 1
        case .inserted, .overwritten, .refused: break
        }
        if isObserved { note(left.key, left.value, nil, cause) }
        released.add(left.key, left.value)
    }

    /// Puts an entry at the head of a queue, or among the pinned ones.
    @inlinable
    func link(_ entry: EntryReference, _ queue: SlotRecord.Queue) {
        let record = record(entry)
        record.pointee.queue = queue
        record.pointee.newer = .none
        switch queue {
        case .small: push(entry, record, &state.pointee.small)
        case .main: push(entry, record, &state.pointee.main)
        case .pinned:
            state.pointee.pinnedCost += record.pointee.cost
            state.pointee.pinnedCount += 1
        case .free: break
        }
    }

    /// Takes an entry out of its queue, or from among the pinned ones.
    @inlinable
    func unlink(_ entry: EntryReference) {
        let record = record(entry)
        switch record.pointee.queue {
        case .small: pull(record, &state.pointee.small)
        case .main: pull(record, &state.pointee.main)
        case .pinned:
            state.pointee.pinnedCost -= record.pointee.cost
            state.pointee.pinnedCount -= 1
        case .free: break
        }
    }

    @inlinable
    func push(_ entry: EntryReference, _ record: UnsafeMutablePointer<SlotRecord>, _ queue: inout EvictionQueue) {
        record.pointee.older = queue.head
        if queue.head.isNone { queue.tail = entry } else { self.record(queue.head).pointee.newer = entry }
        queue.head = entry
        queue.cost += record.pointee.cost
        queue.count += 1
    }

    @inlinable
    func pull(_ record: UnsafeMutablePointer<SlotRecord>, _ queue: inout EvictionQueue) {
        let (newer, older) = (record.pointee.newer, record.pointee.older)
        if newer.isNone { queue.head = older } else { self.record(newer).pointee.older = older }
        if older.isNone { queue.tail = newer } else { self.record(older).pointee.newer = newer }
        queue.cost -= record.pointee.cost
        queue.count -= 1
    }
}
