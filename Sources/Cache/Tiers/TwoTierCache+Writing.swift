internal import Logging
internal import Synchronization

extension TwoTierCache {
    /// Stores a value: in memory now, in the second tier soon. O(1).
    ///
    /// - Parameters:
    ///   - lifetime: how long it is given out; nil for the configuration's.
    ///   - tags: names under which ``removeAll(taggedWith:)`` finds it.
    ///   - protection: where it may be; nil for the configuration's. With ``DiskProtection/memoryOnly`` it never reaches the second tier, and
    ///     what was there under the key leaves it.
    public func setValue(
        _ value: Value, forKey key: Key, lifetime: Lifetime? = nil, tags: Set<String> = [], protection: DiskProtection? = nil
    ) {
        put(item(value, lifetime, tags, protection), key)
    }

    /// Removes a key's value: from memory now, from the second tier soon, and it is not read there any more. O(1).
    public func removeValue(forKey key: Key) { put(nil, key) }

    /// Says that a key's value was found to be right still: its date of verification is now, and its lifetime begins anew, in both tiers.
    ///
    /// - Parameter lifetime: from now on; nil for the configuration's.
    /// - Returns: whether there was a value. If it was written or removed meanwhile, that holds.
    @discardableResult
    public func markVerified(_ key: Key, lifetime: Lifetime? = nil) async -> Bool {
        let arrival = try? await shared(.renewal, key, tags: nil) {
            guard let (old, source) = await self.find(key) else { return Arrival(item: nil, source: .memory, keeping: .nowhere) }
            let item = TieredValue(
                old.value, lifetime: lifetime ?? self.configuration.lifetime, tags: old.tags, protection: old.protection,
                recordedAt: old.recordedAt, clock: self.clock)
            return Arrival(item: item, source: source, keeping: .inBoth)
        }
        return arrival?.item != nil
    }

    /// Waits until the second tier has all that was written or removed before.
    ///
    /// - Throws: the first error of the second tier in writing or removing since the last flush, for which nobody waited.
    public func flush() async throws {
        _ = await wait(for: .nothing) { _ in }
        let error = change { state in
            defer { state.firstError = nil }
            return state.firstError
        }
        if let error { throw error }
    }

    func item(_ value: Value, _ lifetime: Lifetime?, _ tags: Set<String>, _ protection: DiskProtection?) -> TieredValue<Value> {
        TieredValue(
            value, lifetime: lifetime ?? configuration.lifetime, tags: tags, protection: protection ?? configuration.protection,
            clock: clock)
    }

    /// Stores or removes in both tiers.
    private func put(_ item: TieredValue<Value>?, _ key: Key) {
        let name = name(key)
        let (isMine, isKept) = change { state in
            state.fence(key)
            let isKept = stage(item, key, name, &state)
            return (state.move(key, name, item), isKept)
        }
        if isMine { carryOut(key) }
        startDraining()
        if !isKept { drop(key) }
    }

    /// Under the lock.
    func stage(_ item: TieredValue<Value>?, _ key: Key, _ name: [UInt8]?, _ state: inout TwoTierState<Key, Value>) -> Bool {
        guard let name else { return true }
        if let item, item.protection != .memoryOnly { return state.behind.write(key, name, .put(item)) }
        return state.behind.write(key, name, .remove)
    }

    func drop(_ key: Key) {
        counters.dropped.add(1, ordering: .relaxed)
        configuration.logger.warning("a value does not reach the second tier: too many wait")
        hub.send(.dropped(key))
    }

    /// Tells the first tier what its key is to hold, and what comes meanwhile.
    func carryOut(_ key: Key) {
        while let move = change({ $0.nextMove(key) }) {
            if let item = move.item {
                primary.setValue(item, forKey: key, lifetime: item.lifetime(by: clock))
            } else {
                primary.discardValue(forKey: key)
            }
        }
    }
}
