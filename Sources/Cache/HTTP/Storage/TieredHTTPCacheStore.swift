/// Keeps responses on disk, and those that are used in memory before it.
///
/// ```swift
/// let disk = try await DiskCache.open("/var/cache/app")
/// let client = try CachingHTTPClient(store: TieredHTTPCacheStore(disk: disk, memoryByteLimit: 16 << 20))
/// ```
///
/// Memory is filled by reads alone, each shared by all who ask at once, and a read that a write or a removal has overtaken is not kept: so
/// memory never holds another response than the disk. Safe from any thread. `CachingHTTPClient.removeAll()` empties both tiers.
public final class TieredHTTPCacheStore: HTTPCacheStore {
    private struct NotThere: Error {}

    private let memory: Cache<String, [UInt8]>
    private let disk: DiskCache
    private let protection: DiskProtection

    /// - Parameters:
    ///   - disk: where the responses are; it may hold other things too, under other names than theirs.
    ///   - memoryByteLimit: the most bytes that are held in memory, names and fields included.
    ///   - protection: whether responses are stored as they are, encrypted, or in the disk cache's memory alone.
    public init(disk: DiskCache, memoryByteLimit: Int = 16 << 20, protection: DiskProtection = .plain) {
        // A response says by itself how long it may be used; it may serve long after that, confirmed.
        memory = Cache(costLimit: memoryByteLimit, lifetime: .unlimited)
        self.disk = disk
        self.protection = protection
    }

    /// How many bytes are in memory now.
    public var memoryByteCount: Int { memory.totalCost }

    /// The bytes of a name, from memory or else from the disk.
    ///
    /// - Throws: ``CacheError`` of the disk; `CancellationError`.
    public func bytes(named name: String) async throws -> [UInt8]? {
        do {
            return try await memory.value(forKey: name, cost: { [size = name.utf8.count] in $0.count + size }) { [disk] in
                guard let value = try await disk.value(forKey: name) else { throw NotThere() }
                return value.bytes
            }
        } catch is NotThere {
            return nil
        }
    }

    /// Keeps bytes under a name, on disk.
    ///
    /// - Throws: ``CacheError`` of the disk; then nothing is under the name.
    public func store(_ bytes: [UInt8], named name: String) async throws {
        // Reads of before must not outlive this one, whenever they end.
        defer { memory.removeValue(forKey: name) }
        memory.removeValue(forKey: name)
        try await disk.setValue(bytes, forKey: name, lifetime: .unlimited, protection: protection)
    }

    /// Forgets a name in both tiers.
    public func remove(named name: String) async throws {
        defer { memory.removeValue(forKey: name) }
        memory.removeValue(forKey: name)
        try await disk.removeValue(forKey: name)
    }

    /// Forgets the names that begin so in both tiers.
    public func removeAll(withPrefix prefix: String) async throws {
        defer { memory.removeAll(withPrefix: prefix) }
        memory.removeAll(withPrefix: prefix)
        try await disk.removeAll(withPrefix: prefix)
    }

    /// Empties both tiers, whatever else the disk cache held.
    public func removeAll() async throws {
        defer { memory.removeAll() }
        memory.removeAll()
        try await disk.removeAll()
    }
}
