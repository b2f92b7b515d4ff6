/// An amount in a period, for example 20 requests in a second.
package struct Rate: Hashable, Sendable {
    /// The most units of a rate: 512 Gi, so that sums of amounts and periods do not overflow.
    package static let maximumCount: Int64 = 1 << 39
    /// The longest period: an hour.
    package static let maximumPeriod: Int64 = 3_600_000

    /// Units in a period; also the units that may be used at once.
    package let count: Int64
    /// Milliseconds.
    package let period: Int64

    /// Clamps to 1 … ``maximumCount`` units and 1 ms … ``maximumPeriod``.
    package init(_ count: Int64, per period: Int64) {
        self.count = min(max(1, count), Self.maximumCount)
        self.period = min(max(1, period), Self.maximumPeriod)
    }
}

/// A token bucket: the units that were used, less those that were refilled since.
///
/// It counts in units times milliseconds, so that no refill is rounded.
package struct TokenBucket: Hashable, Sendable {
    private var used: Int64 = 0
    private var updated: Int64

    /// A full bucket.
    package init(at now: Int64) { updated = now }

    /// Whether `amount` is available, and what a response states about it. A larger amount than the rate's is available
    /// when the bucket is full, and is owed then.
    package func decision(_ amount: Int64, _ rate: Rate, at now: Int64) -> RateDecision {
        let used = used(rate, at: now)
        let capacity = rate.count * rate.period
        // The most that may be in use before this amount.
        let allowed = capacity - min(max(0, amount), rate.count) * rate.period
        let missing = used - allowed
        return RateDecision(
            isAllowed: missing <= 0, remaining: max(0, (capacity - used) / rate.period),
            wait: missing <= 0 ? 0 : (missing + rate.count - 1) / rate.count, rate: rate)
    }

    package mutating func use(_ amount: Int64, _ rate: Rate, at now: Int64) {
        used = min(used(rate, at: now) + min(max(0, amount), Rate.maximumCount) * rate.period, Int64.max / 2)
        updated = max(updated, now)
    }

    private func used(_ rate: Rate, at now: Int64) -> Int64 {
        // A clock that goes back refills nothing.
        guard now > updated else { return used }
        let (elapsed, overflows) = now.subtractingReportingOverflow(updated)
        let (refilled, product) = elapsed.multipliedReportingOverflow(by: rate.count)
        // A product beyond the numbers is more than was ever used.
        return overflows || product ? 0 : max(0, used - refilled)
    }
}

/// The decision about one amount.
package struct RateDecision: Hashable, Sendable {
    package let isAllowed: Bool
    /// The units that are available now.
    package let remaining: Int64
    /// Milliseconds until the amount is available; 0 if it is.
    package let wait: Int64
    package let rate: Rate
}
