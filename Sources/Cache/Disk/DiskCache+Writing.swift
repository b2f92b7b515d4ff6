internal import Dispatch
internal import Synchronization

extension DiskCache {
    /// Stores a value under a key, in the place of any other. Returns when no end of the process can undo it.
    ///
    /// - Parameters:
    ///   - lifetime: how long it may be given out, by the wall clock; the configuration's unless told otherwise.
    ///   - tags: by which it can be removed together with others, see ``removeAll(taggedWith:)``.
    ///   - protection: whether it may be on the disk at all, and how.
    /// - Throws: ``CacheError``: nothing was stored, and in this process the key misses until it is written again.
    /// - Complexity: O(bytes + log entries).
    public func setValue(
        _ bytes: [UInt8], forKey key: some DiskKey, lifetime: Lifetime? = nil, tags: [String] = [], protection: DiskProtection = .plain
    ) async throws(CacheError) {
        let change: DiskWrite.Change
        do {
            change = try self.change(bytes, key, lifetime, tags, protection)
        } catch {
            // What is stored is not what holds now.
            try await write(.remove, key)
            throw error
        }
        try await write(change, key)
    }

    /// Stores a value soon: it is read back at once, and reaches the disk in the background. See ``setValue(_:forKey:lifetime:tags:protection:)``
    /// and ``flush()``, which throws what went wrong.
    ///
    /// - Throws: ``CacheError/tooLarge(bytes:limit:)``, ``CacheError/noSealing``, ``CacheError/cannotSeal(reason:)``.
    /// - Returns: whether there was room among what waits; if not, the value is dropped and its key removed.
    @discardableResult
    public func stageValue(
        _ bytes: [UInt8], forKey key: some DiskKey, lifetime: Lifetime? = nil, tags: [String] = [], protection: DiskProtection = .plain
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

    /// Removes an entry soon: it misses at once, and leaves the disk in the background.
    public func stageRemoval(forKey key: some DiskKey) { _ = stage(.remove, key.keyBytes, limit: .max) }

    /// Removes an entry. Returns when no end of the process can undo it.
    public func removeValue(forKey key: some DiskKey) async throws(CacheError) { try await write(.remove, key) }

    /// Waits until all that was staged before is on the disk, access times too.
    ///
    /// - Throws: ``CacheError``: the first that went wrong with a staged write since the last flush.
    public func flush() async throws(CacheError) {
        try await perform { self.writeTouches() }
        if let error = staging.takeError() { throw error }
    }

    func write(_ change: DiskWrite.Change, _ key: some DiskKey) async throws(CacheError) {
        let bytes = key.keyBytes
        let result: Result<Void, CacheError> = await withCheckedContinuation { continuation in
            let write = DiskWrite(key: bytes, number: DiskNumber(bytes), change: change) { continuation.resume(returning: $0) }
            // The caller waits, so it cannot bring more than it holds itself.
            if staging.append(write, limit: .max) == true { queue.async { self.drain() } }
        }
        try result.get()
    }

    private func stage(_ change: DiskWrite.Change, _ key: [UInt8], limit: Int) -> Bool {
        let write = DiskWrite(key: key, number: DiskNumber(key), change: change, done: nil)
        guard let isFirst = staging.append(write, limit: limit) else { return false }
        if isFirst { queue.async { self.drain() } }
        return true
    }

    func change(
        _ bytes: [UInt8], _ key: some DiskKey, _ lifetime: Lifetime?, _ tags: [String], _ protection: DiskProtection
    ) throws(CacheError) -> DiskWrite.Change {
        let now = now
        var bytes = bytes
        switch protection {
        case .plain: break
        case .encrypted:
            guard let sealing = configuration.sealing else { throw .noSealing }
            do {
                bytes = try sealing.seal(bytes, name: key.keyBytes)
            } catch {
                throw .cannotSeal(reason: "\(error)")
            }
        case .memoryOnly: return .remove
        }
        let size = bytes.count + key.withKeyBytes { $0.count } + DiskDatabase.overhead
        guard size <= configuration.byteLimit else {
            refuse(key.keyBytes, bytes.count)
            throw .tooLarge(bytes: size, limit: configuration.byteLimit)
        }
        let head = DiskRecord.Head(
            isEncrypted: protection == .encrypted, recorded: now, verified: now,
            deadline: DiskDeadline(lifetime ?? configuration.lifetime, from: now))
        return .put(bytes: bytes, head: head, tags: Set(tags).sorted())
    }

    private func refuse(_ key: [UInt8], _ bytes: Int) {
        counters.refusals.add(1, ordering: .relaxed)
        hub.send(.refused(key: key, bytes: bytes))
    }
}
