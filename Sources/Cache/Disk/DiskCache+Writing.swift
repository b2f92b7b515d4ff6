internal import Dispatch
internal import FreshetPlatform
internal import Synchronization

extension DiskCache {
    /// Stores a value under a key, and replaces any other. Returns when the value would survive the end of the process.
    ///
    /// - Parameters:
    ///   - lifetime: how long the value may be returned, by the wall clock; by default the configuration's.
    ///   - tags: by which it can be removed together with others, see ``removeAll(taggedWith:)``.
    ///   - protection: whether it may be on the disk at all, and how.
    /// - Throws: ``CacheError``: nothing was stored, and in this process the key misses until it is written again.
    /// - Complexity: O(bytes + log entries).
    public func setValue(
        _ bytes: [UInt8], forKey key: some DiskKey, lifetime: Lifetime? = nil, tags: [CacheTag] = [], protection: DiskProtection = .plain
    ) async throws(CacheError) {
        let change: DiskWrite.Change
        do {
            change = try self.change(bytes, key, lifetime, tags, protection)
        } catch {
            // The stored value is outdated.
            try await write(.remove, key)
            throw error
        }
        try await write(change, key)
    }

    /// Stages a value: reads return it at once, and it reaches the disk in the background. See
    /// ``setValue(_:forKey:lifetime:tags:protection:)`` and ``flush()``, which throws the first failure.
    ///
    /// - Throws: ``CacheError/tooLarge(bytes:limit:)``, ``CacheError/noCipher``, ``CacheError/cannotSeal(reason:)``.
    /// - Returns: whether the staged values left room for it; if not, the value is dropped and its key removed.
    @discardableResult
    public func stageValue(
        _ bytes: [UInt8], forKey key: some DiskKey, lifetime: Lifetime? = nil, tags: [CacheTag] = [], protection: DiskProtection = .plain
    ) throws(CacheError) -> Bool {
        let change: DiskWrite.Change
        do {
            change = try self.change(bytes, key, lifetime, tags, protection)
        } catch {
            stageRemoval(forKey: key)
            throw error
        }
        if stage(change, key.keyBytes, limit: configuration.stagedByteLimit) { return true }
        refuse(key.keyBytes, bytes.count)
        stageRemoval(forKey: key)
        return false
    }

    /// Stages a removal: the key misses at once, and the entry is removed from the disk in the background.
    public func stageRemoval(forKey key: some DiskKey) { _ = stage(.remove, key.keyBytes, limit: .max) }

    /// Removes an entry. Returns when the removal would survive the end of the process.
    public func removeValue(forKey key: some DiskKey) async throws(CacheError) { try await write(.remove, key) }

    /// Waits until all changes that were staged before are on the disk, access times too.
    ///
    /// - Throws: ``CacheError``: the first failure of a staged write since the last flush.
    public func flush() async throws(CacheError) {
        try await perform { self.writeAccesses() }
        if let error = staging.takeError() { throw error }
    }

    func write(_ change: DiskWrite.Change, _ key: some DiskKey) async throws(CacheError) {
        let bytes = key.keyBytes
        let result: Result<Void, CacheError> = await withCheckedContinuation { continuation in
            let write = DiskWrite(key: bytes, number: KeyHash(bytes), change: change) { continuation.resume(returning: $0) }
            // No limit: the caller waits, so it can stage no more than it holds in memory itself.
            if staging.append(write, limit: .max) == true { queue.async { self.drain() } }
        }
        try result.get()
    }

    private func stage(_ change: DiskWrite.Change, _ key: [UInt8], limit: Int) -> Bool {
        let write = DiskWrite(key: key, number: KeyHash(key), change: change, done: nil)
        guard let isFirst = staging.append(write, limit: limit) else { return false }
        if isFirst { queue.async { self.drain() } }
        return true
    }

    func change(
        _ bytes: [UInt8], _ key: some DiskKey, _ lifetime: Lifetime?, _ tags: [CacheTag], _ protection: DiskProtection
    ) throws(CacheError) -> DiskWrite.Change {
        let now = now
        var bytes = bytes
        switch protection {
        case .plain: break
        case .encrypted:
            guard let cipher = configuration.cipher else { throw .noCipher }
            do {
                bytes = try cipher.seal(bytes, name: key.keyBytes)
            } catch {
                throw .cannotSeal(reason: "\(error)")
            }
        case .memoryOnly: return .remove
        }
        let tags = Set(tags).sorted()
        let size = DiskDatabase.cost(
            value: bytes.count, key: key.withKeyBytes { $0.count }, tags: DiskTags.byteCount(tags))
        guard size <= configuration.byteLimit else {
            refuse(key.keyBytes, bytes.count)
            throw .tooLarge(bytes: size, limit: configuration.byteLimit)
        }
        let head = DiskRecord.Head(
            isEncrypted: protection == .encrypted, recorded: now, verified: now,
            deadline: DiskDeadline(lifetime ?? configuration.lifetime, from: now))
        return .put(bytes: bytes, head: head, tags: tags)
    }

    private func refuse(_ key: [UInt8], _ bytes: Int) {
        counters.refusals.add(1, ordering: .relaxed)
        broadcast.send(.refused(key: key, bytes: bytes))
    }
}
