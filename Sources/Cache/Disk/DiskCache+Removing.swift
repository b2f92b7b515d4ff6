internal import FreshetSQLite
internal import Synchronization

extension DiskCache {
    /// The most entries that one transaction removes, so that other writes come in between.
    private static let step = 512

    /// Removes all entries, in every process that uses the directory. Returns when none of them is readable any more.
    ///
    /// The cost does not grow with the entries in the database, but with the files beside it.
    public func removeAll() async throws(CacheError) {
        try await perform { try self.reset(.request, unless: nil) }
    }

    /// Removes all entries, and continues with another schema: for a log-out, another account, or a new encoding of the values.
    ///
    /// From this call on, no process reads an earlier entry, nor does one that opens the cache with another schema. Instances that are
    /// open with the old schema read nothing more, and their writes throw ``CacheError/schemaChanged(path:)``.
    ///
    /// - Parameter schema: the new schema; `nil` keeps the present one.
    /// - Throws: ``CacheError``: the directory cannot be written. This instance reads nothing more until it can; the next write tries again.
    public func invalidateEverything(schema: String? = nil) async throws(CacheError) {
        try await perform {
            if let schema { self.scope.withLock { $0 = schema } }
            try self.reset(.request, unless: nil)
        }
    }

    /// Removes the entries that have a tag.
    ///
    /// - Returns: how many there were. O(that × log entries).
    @discardableResult
    public func removeAll(taggedWith tag: String) async throws(CacheError) -> Int {
        let bytes = Array(tag.utf8)
        return try await removeSteps { database in
            let numbers = try database.numbers("SELECT id FROM tag WHERE tag = ?1", limit: Self.step) { try $0.bind(1, bytes) }
            return try database.removeEach(numbers)
        }
    }

    /// Removes the entries whose keys begin with certain bytes; all of them for an empty prefix.
    ///
    /// - Returns: how many there were. O(that × log entries).
    @discardableResult
    public func removeAll(withPrefix prefix: some DiskKey) async throws(CacheError) -> Int {
        let range = DiskKeyRange(prefix: prefix.keyBytes, after: nil)
        return try await removeSteps { database in
            let numbers = try database.numbers("SELECT id FROM entry WHERE key >= ?1 AND (?2 IS NULL OR key < ?2)", limit: Self.step) {
                try range.bind(to: $0)
            }
            return try database.removeEach(numbers)
        }
    }

    /// Removes the entries for which the closure returns true. The closure gets what ``entries(withPrefix:after:limit:)`` lists, and may
    /// call the cache.
    ///
    /// - Returns: how many there were. O(entries).
    @discardableResult
    public func removeAll(where isRemoved: @escaping @Sendable (DiskEntry) -> Bool) async throws(CacheError) -> Int {
        var removed = 0
        var last: [UInt8]?
        while true {
            let page = try await entries(withPrefix: "", after: last, limit: Self.step)
            guard let end = page.last else { return removed }
            last = end.keyBytes
            let chosen = page.filter(isRemoved)
            if chosen.isEmpty { continue }
            removed += try await perform {
                let database = try self.currentDatabase()
                return try database.transaction { try chosen.count { try database.removeIfSame($0) } }
            }
        }
    }

    /// Removes in steps, each a transaction, until one finds nothing.
    private func removeSteps(_ step: @escaping @Sendable (DiskDatabase) throws -> Int) async throws(CacheError) -> Int {
        var removed = 0
        while true {
            let count = try await perform {
                let database = try self.currentDatabase()
                return try database.transaction { try step(database) }
            }
            if count == 0 { break }
            removed += count
        }
        counters.removals.add(removed, ordering: .relaxed)
        return removed
    }
}
