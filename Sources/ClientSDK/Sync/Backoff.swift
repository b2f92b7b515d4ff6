/// Exponential back-off with full jitter: after the n-th failure in a row, a random time up to `first · 2ⁿ`, at most `longest`.
struct Backoff: Hashable, Sendable {
    /// Failures in a row.
    private(set) var failures = 0

    /// Returns the wait after one more failure, in milliseconds. A server's `Retry-After` is the minimum, up to ten minutes.
    mutating func next(_ settings: SyncSettings, _ random: inout SeededRandom, retryAfter: Int64? = nil) -> Int64 {
        let ceiling = min(settings.longestDelay, settings.firstDelay << Int64(min(failures, 20)))
        failures += 1
        // A minimum of a fifth of the first delay keeps a loop that fails at once from running hot.
        let delay = settings.firstDelay / 5 + random.below(max(1, ceiling))
        return max(delay, min(retryAfter ?? 0, 600_000))
    }

    mutating func reset() { failures = 0 }
}
