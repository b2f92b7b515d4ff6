internal import Synchronization

extension DiskCache {
    /// Returns a page of entries in the order of their keys' bytes, without the expired ones.
    ///
    /// - Parameters:
    ///   - prefix: the first bytes of their keys; an empty prefix matches all.
    ///   - after: the last key of the previous page.
    ///   - limit: the most that are returned.
    /// - Complexity: O(limit + log entries).
    public func entries(
        withPrefix prefix: some DiskKey = "", after: [UInt8]? = nil, limit: Int = 1_000
    ) async throws(CacheError) -> [DiskEntry] {
        try await entries(in: DiskKeyRange(prefix: prefix.keyBytes).after(after), limit: limit)
    }

    func entries(in range: DiskKeyRange, limit: Int) async throws(CacheError) -> [DiskEntry] {
        try await perform {
            // A use prolongs a sliding entry, so the uses that readers noted are written first.
            self.writeAccesses()
            let database = try self.currentDatabase()
            return try DiskListing.entries(in: database.connection, database.files, range, now: self.now, limit: limit)
        }
    }

    /// The keys of entries in the order of their bytes, as text; see ``entries(withPrefix:after:limit:)``.
    public func keys(withPrefix prefix: some DiskKey = "", after: String? = nil, limit: Int = 1_000) async throws(CacheError) -> [String] {
        try await entries(withPrefix: prefix, after: after?.keyBytes, limit: limit).map(\.key)
    }

    /// Returns a key's entry without reading its value, or `nil`. This does not count as a use.
    public func entry(forKey key: some DiskKey) async throws(CacheError) -> DiskEntry? {
        let bytes = key.keyBytes
        return try await perform {
            self.writeAccesses()
            let database = try self.currentDatabase()
            return try DiskListing.entry(in: database.connection, database.files, bytes, now: self.now)
        }
    }

    /// Whether there is a value for the key. This does not count as a use.
    public func contains(_ key: some DiskKey) async throws(CacheError) -> Bool { try await entry(forKey: key) != nil }

    /// What the cache has done since it was opened, and what it holds now.
    public func statistics() async throws(CacheError) -> DiskCacheStatistics {
        try await perform {
            let totals = try self.currentDatabase().storedTotals()
            var statistics = self.counters.snapshot
            statistics.entries = totals.entries
            statistics.bytes = totals.bytes
            return statistics
        }
    }

    /// Marks a value as still right: sets its date of verification to now, and starts its lifetime again.
    ///
    /// - Parameter lifetime: counted from now; by default the configuration's.
    /// - Returns: whether there is such a value.
    @discardableResult
    public func freshenValue(forKey key: some DiskKey, lifetime: Lifetime? = nil) async throws(CacheError) -> Bool {
        let bytes = key.keyBytes
        return try await perform {
            let now = self.now
            let deadline = DiskDeadline(lifetime ?? self.configuration.lifetime, from: now)
            let database = try self.currentDatabase()
            return try database.transaction { try database.renew(bytes, deadline, now: now) }
        }
    }
}
