/// One rate for each of many keys: addresses, principals or namespaces.
///
/// Bounded: the buckets that were not used for longest are dropped first, and are full when they return. Each operation
/// is O(1) on average.
package struct RateLimiter<Key: Hashable & Sendable>: Sendable {
    private let rate: Rate?
    private var buckets: GenerationTable<Key, TokenBucket>

    /// - Parameters:
    ///   - rate: `nil` disables the limit.
    ///   - limit: the most buckets.
    package init(_ rate: Rate?, limit: Int) {
        self.rate = rate
        buckets = GenerationTable(limit: limit / 2)
    }

    package var count: Int { buckets.count }

    /// Whether the amount is available. Uses nothing. `nil` if there is no limit.
    package mutating func decision(_ amount: Int64, for key: Key, at now: Int64) -> RateDecision? {
        guard let rate else { return nil }
        return (buckets.value(for: key) ?? TokenBucket(at: now)).decision(amount, rate, at: now)
    }

    package mutating func use(_ amount: Int64, for key: Key, at now: Int64) {
        guard let rate, amount > 0 else { return }
        var bucket = buckets.value(for: key) ?? TokenBucket(at: now)
        bucket.use(amount, rate, at: now)
        buckets.set(bucket, for: key)
    }

    /// Uses the amount if it is available, and returns whether it is; always if there is no limit.
    package mutating func take(_ amount: Int64, for key: Key, at now: Int64) -> Bool {
        guard decision(amount, for: key, at: now)?.isAllowed != false else { return false }
        use(amount, for: key, at: now)
        return true
    }
}
