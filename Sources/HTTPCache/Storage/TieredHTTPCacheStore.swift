public import FreshetCache
internal import FreshetPlatform

/// A store that keeps responses on disk, and the recently read ones in memory.
///
/// ```swift
/// let disk = try await DiskCache.open("/var/cache/app")
/// let client = try CachingHTTPClient(store: TieredHTTPCacheStore(disk: disk, memoryByteLimit: 16 << 20))
/// ```
///
/// Only reads fill the memory, and concurrent reads of a name share one disk access. A read whose name was written or
/// removed meanwhile is not kept, so memory never holds a response other than the disk's. With
/// `DiskProtection.memoryOnly` writes fill the memory, and the disk holds nothing. Safe from any thread.
/// `CachingHTTPClient.removeAll()` empties both tiers.
///
/// The memory does not learn of changes by another process, or by another store over the same disk: use one store for
/// each directory.
public final class TieredHTTPCacheStore: HTTPCacheStore {
    private struct NotThere: Error {}

    private let memory: Cache<ByteIdentity.Name, [UInt8]>
    private let disk: DiskCache
    private let protection: DiskProtection

    /// - Parameters:
    ///   - disk: the cache for the responses; it may hold other values under other names.
    ///   - memoryByteLimit: the most bytes to hold in memory, names and fields included.
    ///   - protection: whether responses are stored as they are, encrypted, or in memory alone.
    public init(disk: DiskCache, memoryByteLimit: Int = 16 << 20, protection: DiskProtection = .plain) {
        // The response states how long it may be used; a stale one may be revalidated long after that.
        memory = Cache(costLimit: memoryByteLimit, lifetime: .unlimited)
        self.disk = disk
        self.protection = protection
    }

    /// The number of bytes in memory now.
    public var memoryByteCount: Int { memory.totalCost }

    /// The bytes of a name, from memory or else from the disk.
    ///
    /// - Throws: `CacheError` of the disk; `CancellationError`.
    public func bytes(named name: String) async throws -> [UInt8]? {
        do {
            let cost = { @Sendable [size = name.utf8.count] (bytes: [UInt8]) in bytes.count + size }
            // Without a timeout: the load waits for the disk alone.
            return try await memory.value(forKey: ByteIdentity.Name(text: name), cost: cost, timeout: nil) { [disk] in
                guard let value = try await disk.value(forKey: name) else { throw NotThere() }
                return value.bytes
            }
        } catch is NotThere {
            return nil
        }
    }

    /// Stores bytes under a name, on disk; with `DiskProtection.memoryOnly` in memory, unless they exceed its limit.
    ///
    /// - Throws: `CacheError` of the disk; then the name holds nothing.
    public func store(_ bytes: [UInt8], named name: String) async throws {
        guard protection != .memoryOnly else {
            try await remove(named: name)
            // Also discards the result of a read that is in progress.
            memory.setValue(bytes, forKey: ByteIdentity.Name(text: name), cost: bytes.count + name.utf8.count)
            return
        }
        // A read that began before this write must not be kept, even if it ends later.
        defer { memory.removeValue(forKey: ByteIdentity.Name(text: name)) }
        memory.removeValue(forKey: ByteIdentity.Name(text: name))
        try await disk.setValue(bytes, forKey: name, lifetime: .unlimited, protection: protection)
    }

    /// Removes a name in both tiers.
    public func remove(named name: String) async throws {
        defer { memory.removeValue(forKey: ByteIdentity.Name(text: name)) }
        memory.removeValue(forKey: ByteIdentity.Name(text: name))
        try await disk.removeValue(forKey: name)
    }

    /// Removes the names with a prefix in both tiers.
    public func removeAll(withPrefix prefix: String) async throws {
        defer { removeFromMemory(withPrefix: prefix) }
        removeFromMemory(withPrefix: prefix)
        try await disk.removeAll(withPrefix: prefix)
    }

    private func removeFromMemory(withPrefix prefix: String) {
        memory.removeAll { name, _ in name.text.utf8.starts(with: prefix.utf8) }
    }

    /// Empties both tiers, including other values in the disk cache.
    public func removeAll() async throws {
        defer { memory.removeAll() }
        memory.removeAll()
        try await disk.removeAll()
    }
}
