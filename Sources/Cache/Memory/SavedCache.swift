/// What a cache looks like in a file: the entries whose lifetime was not over, the next to be evicted first.
struct SavedCache<Key: Codable & Sendable, Value: Codable & Sendable>: Codable, Sendable {
    /// Another one when the file's form changes; a file of another version is refused.
    static var currentVersion: Int { 1 }

    /// One key with its value.
    struct Entry: Codable, Sendable {
        let key: Key
        let value: Value
        let cost: Int
        /// In milliseconds since 1970, as all moments here: a machine's uptime means nothing to the next one.
        let recorded: Int64
        let verified: Int64
        /// None for an unlimited lifetime.
        let expires: Int64?
        /// Nanoseconds by which reads put off the end; none where they do not.
        let sliding: Int64?
        /// Whether it ends at a moment of the wall clock, however that is set.
        let endsByWall: Bool
        let isInMain: Bool
        let tags: [String]
    }

    let version: Int
    let costLimit: Int
    let countLimit: Int
    let entries: [Entry]
}
