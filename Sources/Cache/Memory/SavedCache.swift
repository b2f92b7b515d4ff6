/// The file format of a cache: the entries whose lifetime was not over, the next to be evicted first.
struct SavedCache<Key: Codable & Sendable, Value: Codable & Sendable>: Codable, Sendable {
    /// Incremented when the format changes; a file of another version is refused.
    static var currentVersion: Int { 1 }

    /// One key with its value.
    struct Entry: Codable, Sendable {
        let key: Key
        let value: Value
        let cost: Int
        /// In milliseconds since 1970, as all times here: an uptime is meaningless on another machine.
        let recorded: Int64
        let verified: Int64
        /// Nil for an unlimited lifetime.
        let expires: Int64?
        /// By how many nanoseconds reads extend the lifetime; nil if they do not.
        let sliding: Int64?
        /// Whether the lifetime ends at a fixed wall-clock time, even if that clock is set.
        let endsByWall: Bool
        let isInMain: Bool
        let tags: [CacheTag]
    }

    let version: Int
    let costLimit: Int
    let countLimit: Int
    let entries: [Entry]
}
