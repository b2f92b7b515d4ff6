internal import FreshetPlatform
internal import Logging
internal import Synchronization

extension TwoTierCache {
    /// Stores a value: in memory at once, in the second tier later. O(1).
    ///
    /// - Parameters:
    ///   - lifetime: how long the value may be returned; nil for the configuration's.
    ///   - tags: tags by which ``removeAll(taggedWith:)`` finds the value.
    ///   - protection: where the value may be stored; nil for the configuration's. With ``DiskProtection/memoryOnly``
    ///     the value never reaches the second tier, and an earlier value of the key is removed there.
    public func setValue(
        _ value: Value, forKey key: Key, lifetime: Lifetime? = nil, tags: Set<CacheTag> = [], protection: DiskProtection? = nil
    ) {
        put(item(value, lifetime, tags, protection), key)
    }

    /// Removes a key's value: from memory at once, from the second tier later. It is not read there meanwhile. O(1).
    public func removeValue(forKey key: Key) { put(nil, key) }

    /// Marks a key's value as still right: sets its date of verification to now, and restarts its lifetime, in both
    /// tiers.
    ///
    /// - Parameter lifetime: the lifetime from now on; nil for the configuration's.
    /// - Returns: whether there was a value. A concurrent write or removal of the key takes precedence.
    @discardableResult
    public func freshenValue(forKey key: Key, lifetime: Lifetime? = nil) async -> Bool {
        let loaded = try? await shared(.renewal, key, tags: nil) {
            guard let (old, source) = await self.find(key) else { return LoadResult(item: nil, source: .memory, storePolicy: .nowhere) }
            let item = TieredValue(
                old.value, lifetime: lifetime ?? self.configuration.lifetime, tags: old.tags, protection: old.protection,
                storedTime: old.storedTime, clock: self.clock)
            return LoadResult(item: item, source: source, storePolicy: .inBoth)
        }
        return loaded?.item != nil
    }

    /// Waits until the second tier has all earlier writes and removals.
    ///
    /// - Throws: the first error of a queued write or removal in the second tier since the last flush.
    public func flush() async throws {
        _ = await wait(for: .nothing) { _ in }
        let error = change { state in
            defer { state.firstError = nil }
            return state.firstError
        }
        if let error { throw error }
    }

    func item(_ value: Value, _ lifetime: Lifetime?, _ tags: Set<CacheTag>, _ protection: DiskProtection?) -> TieredValue<Value> {
        TieredValue(
            value, lifetime: lifetime ?? configuration.lifetime, tags: tags, protection: protection ?? configuration.protection,
            clock: clock)
    }

    /// Stores or removes in both tiers.
    private func put(_ item: TieredValue<Value>?, _ key: Key) {
        let name = name(key)
        let (isMine, isKept) = change { state in
            state.invalidateLoads(key)
            let isKept = stage(item, key, name, &state)
            return (state.writeToMemory(key, name, item), isKept)
        }
        if isMine { carryOut(key) }
        startDraining()
        if !isKept { drop(key) }
    }

    /// Queues a change for the second tier. Requires the lock.
    func stage(_ item: TieredValue<Value>?, _ key: Key, _ name: [UInt8]?, _ state: inout TwoTierState<Key, Value>) -> Bool {
        guard let name else { return true }
        if let item, item.protection != .memoryOnly { return state.behind.write(key, name, .put(item)) }
        return state.behind.write(key, name, .remove)
    }

    func drop(_ key: Key) {
        counters.dropped.add(1, ordering: .relaxed)
        configuration.logger.warning("a value does not reach the second tier: too many wait")
        broadcast.send(.dropped(key))
    }

    /// Applies the key's pending changes to the first tier, including those that are added meanwhile.
    func carryOut(_ key: Key) {
        while let memoryWrite = change({ $0.nextMemoryWrite(key) }) {
            if let item = memoryWrite.item {
                primary.setValue(item, forKey: key, lifetime: item.lifetime(by: clock))
            } else {
                primary.discardValue(forKey: key)
            }
        }
    }
}
