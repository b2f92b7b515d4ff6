internal import FreshetSQLite
internal import Synchronization

extension DiskCache {
    /// The most entries that one transaction removes, so that other writes come in between.
    private static let step = 512

    /// Removes all entries, in every process that uses the directory. Returns when none of them is readable any more, also after a
    /// loss of power.
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

    /// Removes the entries that have a tag. Some of those that are stored meanwhile may stay.
    ///
    /// - Returns: how many there were. O(that × log entries).
    @discardableResult
    public func removeAll(taggedWith tag: CacheTag) async throws(CacheError) -> Int {
        let bytes = Array(tag.bytes)
        return try await removeSteps { (database, last: Int64?) in
            let start: Int64
            switch last {
            case nil: start = .min
            case Int64.max: return ([], nil)
            case let last?: start = last + 1
            }
            let rows = try database.numbers("SELECT id FROM tag WHERE tag = ?1 AND id >= ?2 ORDER BY id", limit: Self.step) {
                try $0.bind(1, bytes)
                try $0.bind(2, start)
            }
            return (rows, rows.last?.value)
        }
    }

    /// Removes the entries whose keys begin with certain bytes; all of them for an empty prefix. Some of those that are stored
    /// meanwhile may stay.
    ///
    /// - Returns: how many there were. O(that × log entries).
    @discardableResult
    public func removeAll(withPrefix prefix: some DiskKey) async throws(CacheError) -> Int {
        guard let range = try await present(DiskKeyRange(prefix: prefix.keyBytes)) else { return 0 }
        return try await removeSteps { (database, last: [UInt8]?) in
            try DiskListing.rows(in: database.connection, range.after(last), limit: Self.step)
        }
    }

    /// Removes the entries for which the closure returns true. The closure gets what ``entries(withPrefix:after:limit:)`` lists, and may
    /// call the cache. Some of the entries that are stored meanwhile may stay.
    ///
    /// - Returns: how many there were. O(entries).
    @discardableResult
    public func removeAll(where isRemoved: @escaping @Sendable (DiskEntry) -> Bool) async throws(CacheError) -> Int {
        guard let range = try await present(DiskKeyRange(prefix: [])) else { return 0 }
        var removed = 0
        var last: [UInt8]?
        while true {
            let page = try await entries(in: range.after(last), limit: Self.step)
            guard let end = page.last else { return removed }
            last = end.keyBytes
            let chosen = page.filter(isRemoved)
            if chosen.isEmpty { continue }
            let count = try await perform {
                let database = try self.currentDatabase()
                return try database.transaction { try chosen.count { try database.removeIfSame($0) } }
            }
            counters.removals.add(count, ordering: .relaxed)
            removed += count
        }
    }

    /// The part of a range that ends with the last key that is stored now; `nil` if there is none. Others may go on storing entries
    /// with later keys, so that a removal of all of them would not end.
    private func present(_ range: DiskKeyRange) async throws(CacheError) -> DiskKeyRange? {
        try await perform { try DiskListing.lastKey(in: self.currentDatabase().connection, range) }.map { range.through($0) }
    }

    /// Removes in steps, each a transaction, in an order in which none returns to the places of earlier ones.
    ///
    /// - Parameter find: returns the next rows to remove, at most ``step``, and the place of the last one.
    private func removeSteps<Position: Sendable>(
        _ find: @escaping @Sendable (DiskDatabase, _ last: Position?) throws -> (rows: [KeyHash], last: Position?)
    ) async throws(CacheError) -> Int {
        var removed = 0
        var last: Position?
        while true {
            let before = last
            let (found, count, end) = try await perform {
                let database = try self.currentDatabase()
                return try database.transaction {
                    let (rows, end) = try find(database, before)
                    return (rows.count, try database.removeEach(rows), end)
                }
            }
            counters.removals.add(count, ordering: .relaxed)
            removed += count
            last = end
            if found < Self.step { return removed }
        }
    }
}
