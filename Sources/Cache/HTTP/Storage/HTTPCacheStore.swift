/// Where an HTTP cache keeps its responses: bytes by name. Called from many tasks at once.
///
/// It may forget anything at any time. What it gives back is checked, so a damaged value is a miss; one that is older than the last
/// that was set is a stale response, so it must not come back to earlier values.
public protocol HTTPCacheStore: Sendable {
    /// The bytes of a name, or `nil` where there are none. An error counts as none, and is reported.
    func bytes(named name: String) async throws -> [UInt8]?
    /// Keeps bytes under a name, in place of those of before.
    func store(_ bytes: [UInt8], named name: String) async throws
    /// Forgets a name; nothing happens where there is none. After an error the name must not be served.
    func remove(named name: String) async throws
    /// Forgets the names that begin so. Unless a store has its own, it forgets all names.
    func removeAll(withPrefix prefix: String) async throws
    /// Forgets all names.
    func removeAll() async throws
}

extension HTTPCacheStore {
    /// Forgets all names: a store that cannot tell them apart forgets too many rather than too few.
    public func removeAll(withPrefix prefix: String) async throws { try await removeAll() }
}
