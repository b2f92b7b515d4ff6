/// Exponential back-off with full jitter: after the n-th failure in a row, a random time up to `first · 2ⁿ`, at most `longest`.
struct Backoff: Hashable, Sendable {
    /// Failures in a row.
    private(set) var failures = 0

    /// Returns the wait after one more failure, in milliseconds. A server's `Retry-After` is the minimum, up to ten minutes.
    mutating func next(_ settings: SyncSettings, _ chance: inout Chance, retryAfter: Int64? = nil) -> Int64 {
        let ceiling = min(settings.longestDelay, settings.firstDelay << Int64(min(failures, 20)))
        failures += 1
        // A minimum of a fifth of the first delay keeps a loop that fails at once from running hot.
        let delay = settings.firstDelay / 5 + chance.below(max(1, ceiling))
        return max(delay, min(retryAfter ?? 0, 600_000))
    }

    mutating func reset() { failures = 0 }
}

/// Gives as many random numbers as an event needs, from the 64 bits that came with the event (SplitMix64).
struct Chance: Hashable, Sendable {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    /// Returns a number in 0 ..< bound.
    mutating func below(_ bound: Int64) -> Int64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int64((word ^ (word >> 31)) % UInt64(bound))
    }
}
