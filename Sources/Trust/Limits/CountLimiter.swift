/// How many things of each key exist at once, such as connections of an address. Its size is the number of keys that
/// have any.
package struct CountLimiter<Key: Hashable & Sendable>: Sendable {
    private let limit: Int?
    private var counts: [Key: Int] = [:]

    /// - Parameter limit: `nil` disables the limit.
    package init(_ limit: Int?) { self.limit = limit }

    /// The number of keys.
    package var count: Int { counts.count }

    /// Adds one, and returns whether the limit allows it. Call ``release(_:)`` when it ends.
    package mutating func acquire(_ key: Key) -> Bool {
        guard let limit else { return true }
        guard counts[key, default: 0] < limit else { return false }
        counts[key, default: 0] += 1
        return true
    }

    package mutating func release(_ key: Key) {
        guard let count = counts[key] else { return }
        counts[key] = count > 1 ? count - 1 : nil
    }
}
