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
                    state: state.pointee.ghost.contains(hash) ? .evictedLately : .absent, place: nil, frequency: 0, cost: 0, pins: pins,
                    isLoading: isLoading, recordedAt: nil, verifiedAt: nil, expiresAt: nil, limitPercent: state.pointee.ration.percent,
                    tags: [],
                    at: at)
            }
            let (about, slot) = (describe(entry, now, wall), slot(entry))
            let frequency = lock(of: shard(of: entry)).pointee.withLock { _ in slot.pointee.end.frequency }
            let place: CacheExplanation.Place? =
                switch record(entry).pointee.place {
                case .small: .small
                case .main: .main
                case .pinned: .pinned
                case .free: nil
                }
            return CacheExplanation(
                state: isOver(entry, at: Moment(uptime: now, wall: wall)) ? .expired : .present, place: place, frequency: frequency,
                cost: about.cost, pins: pins, isLoading: isLoading, recordedAt: about.recordedAt, verifiedAt: about.verifiedAt,
                expiresAt: about.expiresAt, limitPercent: state.pointee.ration.percent, tags: about.tags, at: at)
        }
    }
}
