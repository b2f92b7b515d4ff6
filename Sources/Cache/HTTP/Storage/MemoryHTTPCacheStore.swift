/// Keeps responses in memory, within a bound; they are gone with it.
///
/// For responses that must never touch the disk, and for tests. Safe from any thread.
public final class MemoryHTTPCacheStore: HTTPCacheStore {
    private let cache: Cache<String, [UInt8]>

    /// - Parameter byteLimit: the most bytes that it holds, names and fields included.
    public init(byteLimit: Int = 64 << 20) {
        // A response says by itself how long it may be used; it may serve long after that, confirmed.
        cache = Cache(costLimit: byteLimit, lifetime: .unlimited)
    }

    /// How many bytes it holds now.
    public var byteCount: Int { cache.totalCost }

    /// The bytes of a name, or `nil`.
    public func bytes(named name: String) -> [UInt8]? { cache.value(forKey: name) }

    /// Keeps bytes under a name; those that are larger than all it may hold are not kept, nor what was there before.
    public func store(_ bytes: [UInt8], named name: String) {
        // A refusal leaves nothing under the name, as the store's contract wants.
        cache.setValue(bytes, forKey: name, cost: bytes.count + name.utf8.count)
    }

    /// Forgets a name.
    public func remove(named name: String) { cache.removeValue(forKey: name) }

    /// Forgets the names that begin so. O(names).
    public func removeAll(withPrefix prefix: String) { cache.removeAll(withPrefix: prefix) }

    /// Forgets all names.
    public func removeAll() { cache.removeAll() }
}
