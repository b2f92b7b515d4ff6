/// One rate for each of many keys: addresses, principals or namespaces.
///
/// Bounded: the buckets that were not used for longest are dropped first, and are full when they return. Each operation
/// is O(1) on average.
struct RateLimiter<Key: Hashable & Sendable>: Sendable {
    private let rate: Rate?
    private var buckets: GenerationTable<Key, TokenBucket>

    /// - Parameters:
    ///   - rate: `nil` disables the limit.
    ///   - limit: the most buckets.
    init(_ rate: Rate?, limit: Int) {
        self.rate = rate
        buckets = GenerationTable(limit: limit / 2)
    }

    var count: Int { buckets.count }

    /// Whether the amount is available. Uses nothing. `nil` if there is no limit.
    mutating func decision(_ amount: Int64, for key: Key, at now: Int64) -> RateDecision? {
        guard let rate else { return nil }
        return (buckets.value(for: key) ?? TokenBucket(at: now)).decision(amount, rate, at: now)
    }

    mutating func use(_ amount: Int64, for key: Key, at now: Int64) {
        guard let rate, amount > 0 else { return }
        var bucket = buckets.value(for: key) ?? TokenBucket(at: now)
        bucket.use(amount, rate, at: now)
        buckets.set(bucket, for: key)
    }
}

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
