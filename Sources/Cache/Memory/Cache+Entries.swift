internal import FoundationEssentials
internal import Synchronization

extension Cache {
    /// A key's value with its dates, cost and tags, without counting a hit or a miss. O(1).
    public func entry(forKey key: Key) -> CacheEntry<Key, Value>? {
        let (hash, now, wall) = (key.hashValue, uptime(), clock.wall())
        return writeLock.withLock { _ in
            let entry = find(key, hash)
            return entry.isNone || isOver(entry, at: Moment(uptime: now, wall: wall)) ? nil : describe(entry, now, wall)
        }
    }

    /// Marks a key's value as still right, and restarts its lifetime. O(1).
    ///
    /// - Parameter lifetime: the lifetime from now on; nil for ``defaultLifetime``.
    /// - Returns: false if there is no value or its lifetime is over.
    @discardableResult
    public func markVerified(_ key: Key, lifetime: Lifetime? = nil) -> Bool {
        let span = lifetime.map { Span($0) } ?? defaultSpan
        if span.timing == .wall { usesWall.store(true, ordering: .relaxed) }
        let (hash, moment) = (key.hashValue, moment())
        let term = span.begun(at: moment.uptime)
        return write { leaving in
            let entry = find(key, hash)
            guard !entry.isNone else { return false }
            guard !isOver(entry, at: moment) else {
                remove(entry, .expired, &leaving)
                return false
            }
            let (slot, record) = (slot(entry), record(entry))
            state.pointee.sweep.note(term.timing, term.deadline)
            record.pointee.verified = term.start
            lock(of: shard(of: entry)).pointee.withLock { _ in
                slot.pointee.end.set(term.timing, term.deadline)
                record.pointee.span = term.span
            }
            return true
        }
    }

    /// All entries whose lifetime is not over, from the newest of each queue to its oldest. O(count).
    public func snapshot() -> [CacheEntry<Key, Value>] {
        let (now, wall) = (uptime(), clock.wall())
        let moment = Moment(uptime: now, wall: wall)
        return writeLock.withLock { _ in entries().filter { !isOver($0, at: moment) }.map { describe($0, now, wall) } }
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
            key: slot.pointee.key, value: slot.pointee.value, cost: record.cost, recordedAt: date(record.recorded),
            verifiedAt: date(record.verified), expiresAt: expiresAt,
            slidingLifetime: end.timing == .sliding ? .nanoseconds(record.span) : nil,
            tags: record.isTagged ? state.pointee.tags.tags(of: entry) : [])
    }
}
