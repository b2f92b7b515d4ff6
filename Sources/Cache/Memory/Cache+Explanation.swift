internal import FoundationEssentials
internal import Synchronization

extension Cache {
    /// Explains why a key's value is or is not returned, without counting a hit or a miss. O(1).
    public func explain(_ key: Key) -> CacheExplanation {
        let (hash, now, wall) = (key.hashValue, uptime(), clock.wall())
        return writeLock.withLock { _ in
            let entry = find(key, hash)
            let at = Date(timeIntervalSince1970: Double(wall) / 1_000)
            let (pins, isLoading) = (state.pointee.pins[key] ?? 0, state.pointee.loads.contains(key))
            guard !entry.isNone else {
                return CacheExplanation(
                    state: state.pointee.ghost.contains(hash) ? .evictedLately : .absent, queue: nil, frequency: 0, cost: 0, pins: pins,
                    isLoading: isLoading, storedAt: nil, validatedAt: nil, expiresAt: nil, limitPercent: state.pointee.limitScale.percent,
                    tags: [],
                    at: at)
            }
            let (about, slot) = (describe(entry, now, wall), slot(entry))
            let frequency = lock(of: shard(of: entry)).pointee.withLock { _ in slot.pointee.end.frequency }
            let queue: CacheExplanation.Queue? =
                switch record(entry).pointee.queue {
                case .small: .small
                case .main: .main
                case .pinned: .pinned
                case .free: nil
                }
            return CacheExplanation(
                state: isExpired(entry, at: ClockReading(uptime: now, wall: wall)) ? .expired : .present, queue: queue,
                frequency: frequency,
                cost: about.cost, pins: pins, isLoading: isLoading, storedAt: about.storedAt, validatedAt: about.validatedAt,
                expiresAt: about.expiresAt, limitPercent: state.pointee.limitScale.percent, tags: about.tags, at: at)
        }
    }
}
