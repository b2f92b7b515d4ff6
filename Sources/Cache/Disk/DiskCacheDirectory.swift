internal import FreshetPlatform
internal import FreshetSQLite

/// A look into a cache's directory from outside, whatever its schema: for tools. Nothing but ``clear()`` changes anything, and other processes may
/// use the cache meanwhile. Every call waits for the disk.
public struct DiskCacheDirectory: Sendable {
    /// What a directory holds.
    public struct Summary: Hashable, Sendable {
        /// How many entries there are, those whose lifetime is over but that are still there too.
        public let entries: Int
        /// How many bytes count against the limit.
        public let bytes: Int
        /// How many bytes the files have.
        public let fileBytes: Int
        /// What the values are, and for whom.
        public let schema: String
    }

    /// Where it is, an absolute path.
    public let path: String

    /// - Throws: ``CacheError/invalidPath(path:reason:)``, ``CacheError/noSuchDirectory(path:)``, ``CacheError/notACacheDirectory(path:)``.
    public init(_ path: String) throws(CacheError) {
        let path = try AbsolutePath(ofCache: path).text
        self.path = path
        guard DiskFolder.exists(path) else { throw .noSuchDirectory(path: path) }
        guard DiskFolder.names(in: path) != nil, DiskControl.isCache(path) else { throw .notACacheDirectory(path: path) }
    }

    /// What it holds. O(files).
    ///
    /// - Throws: ``CacheError``: the cache is damaged, of another version, or cannot be read.
    public func summary() throws(CacheError) -> Summary {
        try reading { connection, _ in
            let (scope, entries, bytes) = try connection.withStatement("SELECT scope, entries, bytes FROM state") { statement in
                guard try statement.step() else { throw DiskFailure.damage("the state is lost") }
                return (statement.text(0), Int(statement.int64(1)), Int(statement.int64(2)))
            }
            return Summary(entries: entries, bytes: bytes, fileBytes: DiskFolder.bytes(path), schema: scope)
        }
    }

    /// Entries in the order of their keys' bytes; see ``DiskCache/entries(withPrefix:after:limit:)``.
    ///
    /// - Throws: ``CacheError``: the cache is damaged, of another version, or cannot be read.
    public func entries(
        withPrefix prefix: some DiskKey = "", after: [UInt8]? = nil, limit: Int = 1_000
    ) throws(CacheError) -> [DiskEntry] {
        let range = DiskKeyRange(prefix: prefix.keyBytes).after(after)
        return try reading { connection, files in
            try DiskListing.entries(in: connection, files, range, now: CacheClock.system.wall(), limit: limit)
        }
    }

    /// Removes all entries, for every process that uses the cache; the directory stays one. A damaged cache, and another version's, can be
    /// cleared too.
    ///
    /// - Throws: ``CacheError``: the directory cannot be written.
    public func clear() throws(CacheError) {
        do {
            let control = try DiskControl.open(directory: path).control
            try control.locked { try DiskGeneration.raise(control, path) }
            if let generation = control.generation { try DiskGeneration.removeAll(before: generation, path) }
        } catch {
            throw cacheError(error)
        }
    }

    private func reading<Value>(_ body: (Connection, DiskFiles) throws -> Value) throws(CacheError) -> Value {
        guard let generation = DiskControl.generation(of: path) else {
            throw .unreadable(path: path, reason: "the file \(DiskControl.name) is of another version, or damaged")
        }
        let folder = path + "/" + DiskGeneration.name(generation)
        // A cache that was just cleared, or is just being made.
        guard DiskFolder.exists(folder + "/" + DiskSchema.file) else { return try empty(body, folder) }
        do {
            let connection = try Connection(
                path: folder + "/" + DiskSchema.file, mode: .readWrite, nonblockingReads: .pageCache)
            try DiskSchema.prepare(connection)
            try connection.pragma("query_only = ON")
            guard try DiskSchema.isIntact(in: connection) else { throw DiskFailure.damage("its tables are not those of this version") }
            return try body(connection, DiskFiles(root: folder))
        } catch {
            throw cacheError(error)
        }
    }

    private func empty<Value>(_ body: (Connection, DiskFiles) throws -> Value, _ folder: String) throws(CacheError) -> Value {
        do {
            let connection = try Connection(path: ":memory:")
            try DiskSchema.create(in: connection, scope: "")
            return try body(connection, DiskFiles(root: folder))
        } catch {
            throw cacheError(error)
        }
    }

    private func cacheError(_ error: any Error) -> CacheError {
        switch DiskFailure(error, path) {
        case .cache(let error): error
        case .damage(let reason): .unreadable(path: path, reason: reason)
        }
    }
}
