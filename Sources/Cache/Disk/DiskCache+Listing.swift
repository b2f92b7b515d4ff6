internal import Synchronization

extension DiskCache {
    /// Entries in the order of their keys' bytes, a page at a time; those whose lifetime is over are left out.
    ///
    /// - Parameters:
    ///   - prefix: what their keys begin with; all of them for an empty one.
    ///   - after: the last key of the page before.
    ///   - limit: the most that are returned.
    /// - Complexity: O(limit + log entries).
    public func entries(
        withPrefix prefix: some DiskKey = "", after: [UInt8]? = nil, limit: Int = 1_000
    ) async throws(CacheError) -> [DiskEntry] {
        let range = DiskKeyRange(prefix: prefix.keyBytes, after: after)
        return try await perform {
            // What readers know of uses belongs to when an entry ends.
            self.writeTouches()
            let database = try self.currentDatabase()
            return try DiskListing.entries(in: database.connection, database.files, range, now: self.now, limit: limit)
        }
    }

    /// The keys of entries in the order of their bytes, as text; see ``entries(withPrefix:after:limit:)``.
    public func keys(withPrefix prefix: some DiskKey = "", after: String? = nil, limit: Int = 1_000) async throws(CacheError) -> [String] {
        try await entries(withPrefix: prefix, after: after?.keyBytes, limit: limit).map(\.key)
    }

    /// What is known of a key without reading its value, or `nil`. It counts as no use.
    public func entry(forKey key: some DiskKey) async throws(CacheError) -> DiskEntry? {
        let bytes = key.keyBytes
        return try await perform {
            self.writeTouches()
            let database = try self.currentDatabase()
            return try DiskListing.entry(in: database.connection, database.files, bytes, now: self.now)
        }
    }

    /// Whether there is a value for the key. It counts as no use.
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

    /// Says that a value is still right: its date of verification is now, and its lifetime begins anew.
    ///
    /// - Parameter lifetime: from now on; the configuration's unless told otherwise.
    /// - Returns: whether there is such a value.
    @discardableResult
    public func renewValue(forKey key: some DiskKey, lifetime: Lifetime? = nil) async throws(CacheError) -> Bool {
        let bytes = key.keyBytes
        return try await perform {
            let now = self.now
            let deadline = DiskDeadline(lifetime ?? self.configuration.lifetime, from: now)
            let database = try self.currentDatabase()
            return try database.transaction { try database.renew(bytes, deadline, now: now) }
        }
    }
}
