internal import FoundationEssentials
internal import Synchronization

extension Cache {
    /// A key's value with its dates, cost and tags, without counting a hit or a miss. O(1).
    public func entry(forKey key: Key) -> CacheEntry<Key, Value>? {
        let (hash, now, wall) = (key.hashValue, uptime(), clock.wall())
        return writeLock.withLock { _ in
            let entry = find(key, hash)
            return entry.isNone || isExpired(entry, at: ClockReading(uptime: now, wall: wall)) ? nil : describe(entry, now, wall)
        }
    }

    /// Marks a key's value as still right, and restarts its lifetime. O(1).
    ///
    /// - Parameter lifetime: the lifetime from now on; nil for ``defaultLifetime``.
    /// - Returns: false if there is no value or its lifetime is over.
    @discardableResult
    public func freshenValue(forKey key: Key, lifetime: Lifetime? = nil) -> Bool {
        let span = lifetime.map { LifetimeLength($0) } ?? defaultSpan
        if span.timing == .wall { usesWall.store(true, ordering: .relaxed) }
        let (hash, reading) = (key.hashValue, readClock())
        let resolved = span.begun(at: reading.uptime)
        return write { released in
            let entry = find(key, hash)
            guard !entry.isNone else { return false }
            guard !isExpired(entry, at: reading) else {
                remove(entry, .expired, &released)
                return false
            }
            let (slot, record) = (slot(entry), record(entry))
            state.pointee.sweep.note(resolved.timing, resolved.deadline)
            record.pointee.validatedAt = resolved.start
            lock(of: shard(of: entry)).pointee.withLock { _ in
                slot.pointee.end.set(resolved.timing, resolved.deadline)
                record.pointee.span = resolved.span
            }
            return true
        }
    }

    /// All entries whose lifetime is not over, from the newest of each queue to its oldest. O(count).
    public func snapshot() -> [CacheEntry<Key, Value>] {
        let (now, wall) = (uptime(), clock.wall())
        let reading = ClockReading(uptime: now, wall: wall)
        return writeLock.withLock { _ in entries().filter { !isExpired($0, at: reading) }.map { describe($0, now, wall) } }
    }

    /// Requires the write lock.
    func describe(_ entry: EntryReference, _ now: Int64, _ wall: Int64) -> CacheEntry<Key, Value> {
        let (slot, record) = (slot(entry), record(entry).pointee)
        let end = lock(of: shard(of: entry)).pointee.withLock { _ in slot.pointee.end }
        func date(_ uptime: Int64) -> Date { Date(timeIntervalSince1970: Double(wall) / 1_000 + Double(uptime &- now) / 1e9) }
        let expiresAt: Date? =
            switch end.timing {
            case .unlimited: nil
            case .fixed, .sliding: date(end.deadline)
            case .wall: Date(timeIntervalSince1970: Double(end.deadline) / 1_000)
            }
        return CacheEntry(
            key: slot.pointee.key, value: slot.pointee.value, cost: record.cost, storedAt: date(record.storedAt),
            validatedAt: date(record.validatedAt), expiresAt: expiresAt,
            slidingLifetime: end.timing == .sliding ? .nanoseconds(record.span) : nil,
            tags: record.isTagged ? state.pointee.tags.tags(of: entry) : [])
    }
}
