internal import Synchronization

extension TwoTierCache {
    /// The value of a key: from memory, else from the second tier, else from a load that stores it in both.
    ///
    /// Concurrent callers share one load. The loaded value is not stored if the key was written or removed since the load
    /// began, also by a tag, a prefix or the removal of everything; callers that joined before then still get it. Errors
    /// go to all callers and are not stored. A caller that is cancelled gets `CancellationError` at once while the others
    /// keep waiting; when the last one is cancelled, the load is cancelled.
    ///
    /// A load may ask for other values, in this cache or another one. The call by which a load would wait for itself,
    /// directly or through other loads, throws ``LoadError/cyclic(keys:)``. `Task { }` and child tasks within a load count
    /// as the load; a wait in `Task.detached` is bounded by ``Configuration/loadTimeout`` alone.
    ///
    /// - Parameters:
    ///   - lifetime: how long the value may be returned; nil for the configuration's. Lifetime, tags and protection are
    ///     those of the caller that began the load.
    ///   - tags: tags by which ``removeAll(taggedWith:)`` finds the value.
    ///   - protection: where the value may be stored; nil for the configuration's.
    ///   - load: loads the value, in a separate task.
    /// - Throws: the error of `load`, a ``LoadError``, or `CancellationError`.
    public func value(
        forKey key: Key, lifetime: Lifetime? = nil, tags: Set<CacheTag> = [], protection: DiskProtection? = nil,
        orLoad load: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        if let value = self[key] { return value }
        return try await loaded(key, lifetime, tags, protection, load).item.value
    }

    /// Looks up both tiers, then loads. Does not count another read of the first tier.
    func loaded(
        _ key: Key, _ lifetime: Lifetime?, _ tags: Set<CacheTag>, _ protection: DiskProtection?,
        _ load: @escaping @Sendable () async throws -> Value
    ) async throws -> (item: TieredValue<Value>, source: CacheSource) {
        let loaded = try await shared(.load, key, tags: tags) {
            if let (item, source) = await self.lookUp(key) { return LoadResult(item: item, source: source, storePolicy: .nowhere) }
            try Task.checkCancellation()
            let item = try await self.fetched(key, lifetime, tags, protection, load)
            return LoadResult(item: item, source: .network, storePolicy: .nowhere)
        }
        guard let item = loaded.item else { throw CancellationError() }
        return (item, loaded.source)
    }

    /// Loads even if a tier has a value, and stores the result in both tiers. Joins a load that is in flight.
    func fetched(
        _ key: Key, _ lifetime: Lifetime?, _ tags: Set<CacheTag>, _ protection: DiskProtection?,
        _ load: @escaping @Sendable () async throws -> Value
    ) async throws -> TieredValue<Value> {
        let loaded = try await shared(.fetch, key, tags: tags, timeout: configuration.loadTimeout) {
            do {
                let value = try await load()
                self.counters.loads.add(1, ordering: .relaxed)
                return LoadResult(item: self.item(value, lifetime, tags, protection), source: .network, storePolicy: .inBoth)
            } catch {
                self.counters.failedLoads.add(1, ordering: .relaxed)
                throw error
            }
        }
        guard let item = loaded.item else { throw CancellationError() }
        return item
    }

    /// Looks up memory, then the second tier.
    func find(_ key: Key) async -> (item: TieredValue<Value>, source: CacheSource)? {
        if let item = item(forKey: key) { return (item, .memory) }
        return await lookUp(key)
    }

    private func lookUp(_ key: Key) async -> (item: TieredValue<Value>, source: CacheSource)? {
        guard let name = name(key) else { return peek(key).map { ($0, .memory) } }
        guard let loaded = try? await shared(.lookup, key, tags: nil, { await self.readSecondary(key, name) }) else { return nil }
        return loaded.item.map { ($0, loaded.source) }
    }

    /// Reads the second tier, taking queued changes into account.
    private func readSecondary(_ key: Key, _ name: [UInt8]) async -> LoadResult<Value> {
        // The value may have been stored since the caller's lookup.
        if let item = peek(key) { return LoadResult(item: item, source: .memory, storePolicy: .nowhere) }
        let nothing = LoadResult<Value>(item: nil, source: .disk, storePolicy: .nowhere)
        let tags: Set<CacheTag>
        switch state.withLock({ $0.behind.lookUp(key, name) }) {
        case .absent: return nothing
        case .value(let item): return LoadResult(item: open(item), source: .memory, storePolicy: .nowhere)
        case .ask(let hidden): tags = hidden
        }
        do {
            guard let stored = try await secondary.storedValue(named: name), !isHidden(stored, by: tags) else {
                counters.secondaryMisses.add(1, ordering: .relaxed)
                return nothing
            }
            return decoded(stored, key)
        } catch {
            counters.failedReads.add(1, ordering: .relaxed)
            report(.readFailed(key, error), "the second tier could not be read", error)
            return nothing
        }
    }

    /// Whether a queued removal by tag applies to a value, or its lifetime is over.
    func isHidden(_ stored: StoredValue, by tags: Set<CacheTag>) -> Bool {
        if !tags.isEmpty, !(stored.tags.map { tags.isDisjoint(with: $0) } ?? false) { return true }
        return stored.deadline.end != .max && clock.wall() >= stored.deadline.end
    }

    private func decoded(_ stored: StoredValue, _ key: Key) -> LoadResult<Value> {
        do {
            let item = TieredValue(try values.decode(stored.bytes), from: stored, clock: clock)
            counters.secondaryHits.add(1, ordering: .relaxed)
            return LoadResult(item: item, source: .disk, storePolicy: .inMemory)
        } catch {
            counters.secondaryMisses.add(1, ordering: .relaxed)
            report(.undecodable(key, error), "stored bytes could not be decoded", error)
            return LoadResult(item: nil, source: .disk, storePolicy: .discard)
        }
    }
}

/// The common part of all loads: concurrent callers share one, and a write or removal invalidates it.
extension TwoTierCache {
    typealias Purpose = TwoTierState<Key, Value>.Purpose
    private typealias LoadName = TwoTierState<Key, Value>.LoadName

    func shared(
        _ purpose: Purpose, _ key: Key, tags: Set<CacheTag>?, timeout: Duration? = nil,
        _ body: @escaping @Sendable () async throws -> LoadResult<Value>
    ) async throws -> LoadResult<Value> {
        let name = LoadName(purpose: purpose, key: key)
        let (load, waiter, isNew) = change { state in
            let (load, waiter, isNew, left) = state.loads.ask(name, tags: tags, key: purpose.runsForeignCode ? key : nil)
            if let left { state.dropped.append(left) }
            return (load, waiter, isNew)
        }
        if isNew { load.begin(timeout: timeout, fail: { _ in self.end(load, name) }) { await self.run(load, name, body) } }
        return try await load.value(waiter) { self.end(load, name) }
    }

    private func run(
        _ load: Load<LoadResult<Value>>, _ name: LoadName, _ body: @Sendable () async throws -> LoadResult<Value>
    ) async {
        do {
            let loaded = try await body()
            keep(loaded, load, name)
            load.finish(.success(loaded))
        } catch {
            end(load, name)
            load.finish(.failure(error))
        }
    }

    private func end(_ load: Load<LoadResult<Value>>, _ name: LoadName) { change { state in _ = Self.isEnded(load, name, &state) } }

    /// Stores the result of a load, unless the load was invalidated.
    private func keep(_ loaded: LoadResult<Value>, _ load: Load<LoadResult<Value>>, _ loadName: LoadName) {
        let key = loadName.key
        let name = loaded.storePolicy == .nowhere ? nil : name(key)
        let (isMine, isKept) = change { state in
            guard Self.isEnded(load, loadName, &state) else { return (false, true) }
            switch loaded.storePolicy {
            case .nowhere: return (false, true)
            case .inMemory: return (state.writeToMemory(key, name, loaded.item), true)
            case .discard: return (false, stage(nil, key, name, &state))
            case .inBoth:
                // A load need not be invalidated, since it stores nothing by itself. A renewal is invalidated by a fetch, whose
                // value is newer.
                state.invalidateLoads(key, loadName.purpose == .fetch ? [.lookup, .renewal] : [.lookup])
                let isKept = stage(loaded.item, key, name, &state)
                return (state.writeToMemory(key, name, loaded.item), isKept)
            }
        }
        if isMine { carryOut(key) }
        startDraining()
        if !isKept { drop(key) }
    }

    /// - Returns: whether the load might still store.
    private static func isEnded(_ load: Load<LoadResult<Value>>, _ name: LoadName, _ state: inout TwoTierState<Key, Value>) -> Bool {
        guard state.loads.holds(load, name), let ended = state.loads.end(name) else { return false }
        state.dropped += [ended.name, ended.load] as [any Sendable]
        return true
    }
}
