internal import FreshetCache
internal import FreshetPlatform

/// A store that keeps responses in memory only, within a limit.
///
/// For responses that must never touch the disk, and for tests. Safe from any thread.
public final class MemoryHTTPCacheStore: HTTPCacheStore {
    private let cache: Cache<ByteIdentity.Name, [UInt8]>

    /// - Parameter byteLimit: the most bytes to hold, names and fields included.
    public init(byteLimit: Int = 64 << 20) {
        // The response states how long it may be used; a stale one may be revalidated long after that.
        cache = Cache(costLimit: byteLimit, lifetime: .unlimited)
    }

    /// The number of bytes held now.
    public var byteCount: Int { cache.totalCost }

    /// The bytes of a name; `nil` if there are none.
    public func bytes(named name: String) -> [UInt8]? { cache.value(forKey: ByteIdentity.Name(text: name)) }

    /// Stores bytes under a name. If they exceed the limit, neither they nor the earlier bytes are kept.
    public func store(_ bytes: [UInt8], named name: String) {
        // A refusal leaves nothing under the name, as the store's contract requires.
        cache.setValue(bytes, forKey: ByteIdentity.Name(text: name), cost: bytes.count + name.utf8.count)
    }

    /// Removes a name.
    public func remove(named name: String) { cache.removeValue(forKey: ByteIdentity.Name(text: name)) }

    /// Removes the names with a prefix. O(names).
    public func removeAll(withPrefix prefix: String) { cache.removeAll { name, _ in name.text.utf8.starts(with: prefix.utf8) } }

    /// Removes all names.
    public func removeAll() { cache.removeAll() }
}
