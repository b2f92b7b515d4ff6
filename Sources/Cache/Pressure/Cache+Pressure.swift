extension Cache: ShrinkableCache {
    /// Holds the cache to a share of its limits. Evicts the values above that share of the limits, and above the same
    /// share of the cost and count that the cache held when memory became short. These evictions have the cause
    /// ``CacheChange/Cause/evictedUnderPressure``; later ones, by writes under the lower limits, have the usual cause.
    /// Pinned values stay. A value that exceeds the lower limits is refused. Evicts at most some hundred values under
    /// one lock, so that other threads do not wait long. O(evicted).
    ///
    /// - Parameter percent: 0 … 100; 100 restores the limits.
    public func shrink(toPercent percent: Int) {
        let reading = readClock()
        let target = write { _ in
            state.pointee.limitScale.set(percent: percent, cost: state.pointee.totalCost, count: state.pointee.count)
        }
        var goesOn = true
        while goesOn {
            goesOn = write { released in
                let limitScale = state.pointee.limitScale
                let isMore = target.map { evictSome(toCost: $0.cost, toCount: $0.count, limitScale, reading, &released) } ?? false
                (state.pointee.costLimit, state.pointee.countLimit) = (limitScale.costShare, limitScale.countShare)
                guard isMore else { return false }
                // Limits in between: writes do not undo the progress, and no single write has to make all the room.
                state.pointee.costLimit = max(target?.cost ?? 0, state.pointee.totalCost)
                state.pointee.countLimit = max(target?.count ?? 0, state.pointee.count)
                return true
            }
        }
    }

    /// - Returns: whether more may have to be evicted.
    private func evictSome(
        toCost cost: Int, toCount count: Int, _ limitScale: LimitScale, _ reading: ClockReading,
        _ released: inout DeferredRelease<Key, Value>
    ) -> Bool {
        let (cost, count) = (min(cost, limitScale.costShare), min(count, limitScale.countShare))
        for _ in 0..<256 {
            let isMore = evictOne(
                toCost: cost, toCount: count, smallCost: cost / 10, smallCount: count / 10, .evictedUnderPressure, reading, &released)
            guard isMore else { return false }
        }
        return true
    }
}
