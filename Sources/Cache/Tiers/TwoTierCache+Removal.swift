extension TwoTierCache {
    /// Removes everything in both tiers. Nothing of it is given out any more once this has begun.
    ///
    /// - Throws: the second tier's error. Then it is not read until it could be emptied, which is tried again with what comes next.
    public func removeAll() async throws { try await removeEverything(.all) }

    /// Removes everything in both tiers, for a log-out, another account, or a new version of what the values are.
    ///
    /// - Parameter schema: what the values are from now on, see ``DiskCache/invalidateEverything(schema:)``; as before, if it is nil.
    /// - Throws: as ``removeAll()``.
    public func invalidateEverything(schema: String? = nil) async throws { try await removeEverything(.everything(schema: schema)) }

    /// Removes the values that were stored with a tag, in both tiers.
    ///
    /// - Throws: the second tier's error. Then nothing with that tag is read there until it could be removed.
    public func removeAll(taggedWith tag: String) async throws {
        try await wait(for: .tag(tag)) { state in
            state.fenceAll(taggedWith: tag)
            state.removeMoves { $0.item?.isTagged(tag) ?? false }
        } meanwhile: {
            primary.discardAll { _, item in item.isTagged(tag) }
        }.get()
    }

    /// Removes the values whose names in the second tier begin with these bytes, in both tiers. Keys without a name leave memory too.
    ///
    /// - Throws: the second tier's error. Then nothing with that prefix is read there until it could be removed.
    public func removeAll(withNamePrefix prefix: [UInt8]) async throws {
        try await wait(for: .prefix(prefix)) { state in
            // Which names the loads' keys have is not known under the lock.
            state.fenceAll()
            state.removeMoves { $0.name?.starts(with: prefix) ?? true }
        } meanwhile: {
            primary.discardAll { key, _ in (try? keys.name(key).starts(with: prefix)) ?? true }
        }.get()
    }

    private func removeEverything(_ scope: WriteBehind<Key, Value>.Scope) async throws {
        try await wait(for: scope) { state in
            state.fenceAll()
            state.removeMoves { _ in true }
        } meanwhile: {
            primary.removeAll()
        }.get()
    }

    /// Waits for a sweep of the second tier. What it removes is not seen from the moment of the change on.
    func wait(
        for scope: WriteBehind<Key, Value>.Scope, changing body: (inout TwoTierState<Key, Value>) -> Void, meanwhile: () -> Void = {}
    ) async -> Result<Void, any Error> {
        await withCheckedContinuation { continuation in
            change { state in
                body(&state)
                let number = state.behind.sweep(scope)
                state.waiters[number] = continuation
            }
            meanwhile()
            startDraining()
        }
    }
}

extension TwoTierCache where Key == String {
    /// Removes the values whose keys begin with this, in both tiers. See ``removeAll(withNamePrefix:)``.
    public func removeAll(withPrefix prefix: String) async throws { try await removeAll(withNamePrefix: keys.name(prefix)) }
}
