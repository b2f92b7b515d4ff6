public import Synchronization

extension Cache {
    /// Stores a value, and evicts others until all fits. O(1) amortised.
    ///
    /// - Parameters:
    ///   - cost: in the unit of ``costLimit``; less than 1 counts as 1. Nil for the cost that the cache's `cost`
    ///     closure or the value itself states (see ``CostedValue``), and 1 if neither does.
    ///   - lifetime: how long the value may be returned; nil for ``defaultLifetime``.
    ///   - tags: tags by which ``removeAll(taggedWith:)`` finds the value.
    /// - Returns: false if the value was refused since it exceeds a limit, even with only the pinned values beside it.
    ///   The key then holds nothing, since its earlier value is outdated. The values of pinned keys are never refused.
    @inlinable
    @discardableResult
    public func setValue(_ value: Value, forKey key: Key, cost: Int? = nil, lifetime: Lifetime? = nil, tags: Set<CacheTag> = []) -> Bool {
        let span = lifetime.map { LifetimeLength($0) } ?? defaultSpan
        if span.timing == .wall { usesWall.store(true, ordering: .relaxed) }
        let (hash, reading, cost) = (key.hashValue, readClock(), max(1, cost ?? self.cost(of: value)))
        let resolved = span.begun(at: reading.uptime)
        return write { released in store(value, key, hash, cost, resolved, tags, reading, &released) }
    }

    /// Removes a key's value. Its pins stay. O(1).
    ///
    /// - Returns: the removed value; nil if there was none or its lifetime was over.
    @inlinable
    @discardableResult
    public func removeValue(forKey key: Key) -> Value? {
        let (hash, reading) = (key.hashValue, readClock())
        return write { released in
            fence(key, &released)
            let entry = find(key, hash)
            guard !entry.isNone else { return nil }
            let isExpired = isExpired(entry, at: reading)
            let value = slot(entry).pointee.value
            remove(entry, isExpired ? .expired : .removed, &released)
            return isExpired ? nil : value
        }
    }

    /// Runs a change under the write lock, then, without the lock, frees the removed objects and notifies listeners.
    @inlinable
    func write<Result: Sendable>(_ body: (inout DeferredRelease<Key, Value>) -> Result) -> Result {
        var released = DeferredRelease<Key, Value>()
        var isHeard = false
        let result = writeLock.withLock { _ in
            let result = body(&released)
            isHeard = !state.pointee.undelivered.isEmpty
            return result
        }
        withExtendedLifetime(released) {}
        if isHeard { deliverChanges() }
        return result
    }

    /// Stores a value. Requires the write lock.
    @inlinable
    func store(
        _ value: Value, _ key: Key, _ hash: Int, _ cost: Int, _ resolved: ResolvedLifetime, _ tags: Set<CacheTag>, _ reading: ClockReading,
        _ released: inout DeferredRelease<Key, Value>
    ) -> Bool {
        if state.pointee.sweep.isDue(at: reading) { sweep(at: reading, &released) }
        fence(key, &released)
        let entry = find(key, hash)
        let isPinned = entry.isNone ? state.pointee.pins[key] != nil : record(entry).pointee.queue == .pinned
        guard fits(cost, entry, hash, isPinned: isPinned) else {
            refuse(value, key, entry, &released)
            return false
        }
        state.pointee.stamp &+= 1
        state.pointee.sweep.note(resolved.timing, resolved.deadline)
        let target: EntryReference
        if entry.isNone {
            target = add(value, key, hash, cost, resolved, isPinned: isPinned, reading, &released)
        } else {
            replace(entry, value, cost, resolved, reading, &released)
            target = entry
        }
        if !tags.isEmpty || record(target).pointee.isTagged {
            state.pointee.tags.set(tags, of: target)
            record(target).pointee.isTagged = !tags.isEmpty
        }
        return true
    }

    /// Whether a value fits once everything that can be evicted is gone.
    @inlinable
    func fits(_ cost: Int, _ entry: EntryReference, _ hash: Int, isPinned: Bool) -> Bool {
        // A shard's slot numbers use the 32 bits that its own number leaves free. The greatest slot number is reserved
        // for `none`.
        guard shard(ofHash: hash).pointee.count < (1 << (32 - shardBits)) - 2 else { return false }
        if isPinned { return true }
        return cost <= state.pointee.costLimit - state.pointee.pinnedCost && state.pointee.pinnedCount < state.pointee.countLimit
    }

    @inlinable
    func add(
        _ value: Value, _ key: Key, _ hash: Int, _ cost: Int, _ resolved: ResolvedLifetime, isPinned: Bool, _ reading: ClockReading,
        _ released: inout DeferredRelease<Key, Value>
    ) -> EntryReference {
        // Checked before any eviction: evicting pushes the oldest hashes out of the ghost queue.
        let isKnown = state.pointee.ghost.contains(hash)
        state.pointee.ghost.remove(hash)
        makeRoom(cost: cost, count: 1, reading, &released)
        // The total cost of the pinned values is capped at `Int.max`.
        let cost = min(cost, .max - state.pointee.totalCost)
        let shard = shard(ofHash: hash)
        let record = SlotRecord(hash: hash, cost: cost, resolved: resolved, stamp: state.pointee.stamp)
        let number = lock(of: shard).pointee.withLock { _ in shard.pointee.add(key, value, resolved, record) }
        let entry = reference(number, hash)
        state.pointee.totalCost += cost
        state.pointee.count += 1
        state.pointee.statistics.insertions += 1
        link(entry, isPinned ? .pinned : isKnown || isFilling ? .main : .small)
        if isObserved { note(key, nil, value, .inserted) }
        return entry
    }

    /// Whether the small queue is full and nothing has been evicted yet.
    ///
    /// New entries then go to the main queue, as in the authors' code since their paper. In a loop over slightly more
    /// keys than fit, the main queue keeps the first ones; the small queue would evict each key just before its next
    /// use.
    @inlinable
    var isFilling: Bool {
        let small = state.pointee.small
        guard state.pointee.ghost.isUnused, small.count > 0 else { return false }
        return small.cost >= max(1, state.pointee.costLimit / 10) || small.count >= max(1, state.pointee.countLimit / 10)
    }

    /// Replaces an entry's value. The entry keeps its place, unless the new value needs room: then it moves to the head
    /// of its queue.
    @inlinable
    func replace(
        _ entry: EntryReference, _ value: Value, _ cost: Int, _ resolved: ResolvedLifetime, _ reading: ClockReading,
        _ released: inout DeferredRelease<Key, Value>
    ) {
        let (record, slot) = (record(entry), slot(entry))
        let (queue, oldCost) = (record.pointee.queue, record.pointee.cost)
        let isBeyond = state.pointee.totalCost - oldCost > state.pointee.costLimit - cost
        if isBeyond || queue == .pinned { unlink(entry) }
        state.pointee.totalCost -= oldCost
        state.pointee.count -= 1
        if isBeyond { makeRoom(cost: cost, count: 1, reading, &released) }
        let cost = min(cost, .max - state.pointee.totalCost)
        state.pointee.totalCost += cost
        state.pointee.count += 1
        switch queue {
        case .small where !isBeyond: state.pointee.small.cost += cost - oldCost
        case .main where !isBeyond: state.pointee.main.cost += cost - oldCost
        default: break
        }
        var old = value
        var isExpired = false
        lock(of: shard(of: entry)).pointee.withLock { _ in
            isExpired = slot.pointee.end.isExpired(at: reading)
            swap(&old, &slot.pointee.value)
            slot.pointee.end.set(resolved.timing, resolved.deadline)
            record.pointee.span = resolved.span
        }
        record.pointee.cost = cost
        record.pointee.storedAt = resolved.start
        record.pointee.validatedAt = resolved.start
        record.pointee.stamp = state.pointee.stamp
        if isBeyond || queue == .pinned { link(entry, queue) }
        if isExpired { state.pointee.statistics.expirations += 1 }
        if isExpired { state.pointee.statistics.insertions += 1 } else { state.pointee.statistics.overwrites += 1 }
        if isObserved { noteReplacement(slot.pointee.key, old, value, isExpired: isExpired) }
        released.add(slot.pointee.key, old)
    }

    @usableFromInline
    func refuse(_ value: Value, _ key: Key, _ entry: EntryReference, _ released: inout DeferredRelease<Key, Value>) {
        state.pointee.statistics.refusals += 1
        if entry.isNone {
            if isObserved { note(key, nil, nil, .refused) }
        } else {
            remove(entry, .refused, &released)
        }
    }
}
