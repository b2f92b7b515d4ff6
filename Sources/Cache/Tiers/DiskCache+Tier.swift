extension DiskCache: SecondaryCacheTier {
    /// The value under a name, with its dates and tags. The read counts as a use.
    public func storedValue(named name: [UInt8]) async throws(CacheError) -> StoredValue? {
        guard let value = try await value(forKey: name, isTagged: true) else { return nil }
        return StoredValue(
            bytes: value.bytes, tags: value.tags, protection: value.isEncrypted ? .encrypted : .plain, storedTime: value.head.recorded,
            validatedTime: value.head.verified, deadline: value.head.deadline)
    }

    /// Stores a value with its dates and tags. Returns once the write survives the end of the process.
    public func store(_ value: StoredValue, named name: [UInt8]) async throws(CacheError) {
        var change = try change(value.bytes, name, .unlimited, Array(value.tags ?? []), value.protection)
        if case .put(let bytes, var head, let tags) = change {
            (head.recorded, head.verified, head.deadline) = (value.storedTime, value.validatedTime, value.deadline)
            change = .put(bytes: bytes, head: head, tags: tags)
        }
        try await write(change, name)
    }

    /// Removes the value under a name. Returns once the removal survives the end of the process.
    public func removeValue(named name: [UInt8]) async throws(CacheError) { try await removeValue(forKey: name) }

    /// Removes the values that have a tag.
    public func removeValues(taggedWith tag: CacheTag) async throws(CacheError) { try await removeAll(taggedWith: tag) }

    /// Removes the values whose names begin with these bytes.
    public func removeValues(withPrefix prefix: [UInt8]) async throws(CacheError) { try await removeAll(withPrefix: prefix) }
}
