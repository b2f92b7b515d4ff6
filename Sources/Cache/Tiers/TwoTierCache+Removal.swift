extension TwoTierCache {
    /// Removes everything in both tiers. Once the call has begun, none of the removed values is returned.
    ///
    /// - Throws: the second tier's error. The second tier is then not read until it could be emptied; the next write or
    ///   removal retries that.
    public func removeAll() async throws { try await removeEverything(.all) }

    /// Removes everything in both tiers, for a log-out, another account, or a new version of the value type.
    ///
    /// - Parameter schema: the new schema of the values, see ``DiskCache/invalidateEverything(schema:)``; nil keeps the
    ///   present one.
    /// - Throws: as ``removeAll()``.
    public func invalidateEverything(schema: String? = nil) async throws { try await removeEverything(.everything(schema: schema)) }

    /// Removes the values that were stored with a tag, in both tiers.
    ///
    /// - Throws: the second tier's error. Values with that tag are then not read there until they could be removed.
    public func removeAll(taggedWith tag: CacheTag) async throws {
        try await wait(for: .tag(tag)) { state in
            state.invalidateAllLoads(taggedWith: tag)
            state.removeMemoryWrites { $0.item?.isTagged(tag) ?? false }
        } meanwhile: {
            primary.discardAll { _, item in item.isTagged(tag) }
        }.get()
    }

    /// Removes the values whose names in the second tier begin with these bytes, in both tiers. Also removes keys
    /// without a name from memory.
    ///
    /// - Throws: the second tier's error. Values with that prefix are then not read there until they could be removed.
    public func removeAll(withNamePrefix prefix: [UInt8]) async throws {
        try await wait(for: .prefix(prefix)) { state in
            // The names of the keys that are being loaded are not known under the lock.
            state.invalidateAllLoads()
            state.removeMemoryWrites { $0.name?.starts(with: prefix) ?? true }
        } meanwhile: {
            primary.discardAll { key, _ in (try? keys.name(key).starts(with: prefix)) ?? true }
        }.get()
    }

    private func removeEverything(_ scope: WriteBehind<Key, Value>.Scope) async throws {
        try await wait(for: scope) { state in
            state.invalidateAllLoads()
            state.removeMemoryWrites { _ in true }
        } meanwhile: {
            primary.removeAll()
        }.get()
    }

    /// Waits for a bulk removal in the second tier. Readers no longer see the removed values once the state has changed.
    func wait(
        for scope: WriteBehind<Key, Value>.Scope, changing body: (inout TwoTierState<Key, Value>) -> Void, meanwhile: () -> Void = {}
    ) async -> Result<Void, any Error> {
        await withCheckedContinuation { continuation in
            change { state in
                body(&state)
                let number = state.behind.bulkRemoval(scope)
                state.waiters[number] = continuation
            }
            meanwhile()
            startDraining()
        }
    }
}

extension TwoTierCache where Key == String {
    /// Removes the values whose keys begin with a prefix, in both tiers. See ``removeAll(withNamePrefix:)``; with the
    /// standard names, the same keys as ``Cache/removeAll(withPrefix:)``.
    public func removeAll(withPrefix prefix: String) async throws { try await removeAll(withNamePrefix: keys.name(prefix)) }
}
