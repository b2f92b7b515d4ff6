/// The storage of an HTTP cache: bytes by name. Called from many tasks concurrently. Names and prefixes are compared by
/// their bytes.
///
/// The store may forget any name at any time. The cache verifies the bytes that it reads, so a damaged value is a miss.
/// A value older than the last one that was stored would be a stale response, so the store must never return to earlier
/// values.
public protocol HTTPCacheStore: Sendable {
    /// The bytes of a name; `nil` if there are none. The cache treats an error as a miss, and reports it.
    func bytes(named name: String) async throws -> [UInt8]?
    /// Stores bytes under a name, and replaces earlier ones.
    func store(_ bytes: [UInt8], named name: String) async throws
    /// Removes a name, if it exists. After an error the name must not be served.
    func remove(named name: String) async throws
    /// Removes the names with a prefix. By default removes all names.
    func removeAll(withPrefix prefix: String) async throws
    /// Removes all names.
    func removeAll() async throws
}

extension HTTPCacheStore {
    /// Removes all names: a store that cannot list its names removes more than necessary.
    public func removeAll(withPrefix prefix: String) async throws { try await removeAll() }
}
