/// When a failed action may be tried again, and whether with a fresh token. Used for requests, transactions, merges
/// and resets.
struct Retry: Hashable, Sendable {
    private var backoff = Backoff()
    /// Uptime in milliseconds.
    private(set) var notBefore: Int64 = 0
    /// Whether the token of the last attempt was refused.
    private(set) var needsFreshToken = false

    /// Failures in a row.
    var failures: Int { backoff.failures }

    func isDue(_ turn: Turn) -> Bool { turn.now.uptime >= notBefore }

    /// Waits after one more failure, at least for the server's `Retry-After`, in milliseconds.
    mutating func fail(_ turn: inout Turn, retryAfter: Int64? = nil) {
        notBefore = turn.now.uptime + turn.delay(&backoff, retryAfter: retryAfter)
    }

    /// Waits until ``hurry()`` or ``wake()``.
    mutating func park() { notBefore = .max }

    var isParked: Bool { notBefore == .max }

    /// Counts a failure that needs no wait.
    mutating func count(_ turn: inout Turn) { _ = turn.delay(&backoff) }

    /// Waits as after this number of consecutive failures, without counting one.
    mutating func pause(_ turn: inout Turn, asAfter failures: Int) {
        var backoff = Backoff()
        for _ in 1..<max(1, failures) { _ = turn.delay(&backoff) }
        notBefore = turn.now.uptime + turn.delay(&backoff)
    }

    mutating func refuseToken() { needsFreshToken = true }

    /// Resets the count: the next failure is the first.
    mutating func succeed() {
        backoff.reset()
        needsFreshToken = false
    }

    /// Notes that the token was accepted, whatever the outcome of the request.
    mutating func acceptToken() { needsFreshToken = false }

    /// Ends the wait at this time, unless it ends earlier.
    mutating func hurry(toUptime end: Int64) { notBefore = min(notBefore, end) }

    /// Ends the wait and keeps the count of failures.
    mutating func hurry() { notBefore = 0 }

    /// Resets wait and count when the device wakes: earlier failures say nothing about the present.
    mutating func wake() {
        notBefore = 0
        backoff.reset()
    }

    /// See ``SyncMachine/relativeState(at:)``.
    mutating func makeRelative(to uptime: Int64) { notBefore = isParked ? .max : max(0, notBefore - uptime) }
}
