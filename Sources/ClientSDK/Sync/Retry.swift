/// When what has failed may be tried again, and whether with a fresh token: the same for requests, transactions, merges and resets.
struct Retry: Hashable, Sendable {
    private var backoff = Backoff()
    /// Uptime in milliseconds.
    private(set) var notBefore: Int64 = 0
    /// Whether the token of the last attempt was refused.
    private(set) var needsFreshToken = false

    /// Failures in a row.
    var failures: Int { backoff.failures }

    func isDue(_ turn: Turn) -> Bool { turn.now.uptime >= notBefore }

    /// Waits after one more failure; at least for the server's `Retry-After`, in milliseconds.
    mutating func fail(_ turn: inout Turn, retryAfter: Int64? = nil) {
        notBefore = turn.now.uptime + turn.delay(&backoff, retryAfter: retryAfter)
    }

    /// Counts a failure that needs no wait.
    mutating func count(_ turn: inout Turn) { _ = turn.delay(&backoff) }

    /// Waits as after so many failures in a row, without counting one.
    mutating func pause(_ turn: inout Turn, asAfter failures: Int) {
        var backoff = Backoff()
        for _ in 1..<max(1, failures) { _ = turn.delay(&backoff) }
        notBefore = turn.now.uptime + turn.delay(&backoff)
    }

    mutating func refuseToken() { needsFreshToken = true }

    /// The attempt succeeded: the next failure is the first.
    mutating func succeed() {
        backoff.reset()
        needsFreshToken = false
    }

    /// The token was good, whatever comes of the rest.
    mutating func acceptToken() { needsFreshToken = false }

    /// Ends the wait then, unless it ends before.
    mutating func hurry(toUptime end: Int64) { notBefore = min(notBefore, end) }

    /// Ends the wait, and nothing else.
    mutating func hurry() { notBefore = 0 }

    /// The device has woken: earlier failures say nothing about the present.
    mutating func wake() {
        notBefore = 0
        backoff.reset()
    }

    /// See ``SyncMachine/relativeState(at:)``.
    mutating func makeRelative(to uptime: Int64) { notBefore = max(0, notBefore - uptime) }
}
