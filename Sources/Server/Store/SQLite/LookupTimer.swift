internal import FreshetPlatform
internal import Synchronization

/// The pace of all lookups for writes, whichever thread makes them.
final class LookupTimer: Sendable {
    private let pace = Mutex(LookupLatency())
    private let now: @Sendable () -> Int64

    /// - Parameter now: nanoseconds that never go back.
    init(now: @escaping @Sendable () -> Int64 = { SystemClock.monotonicNanoseconds }) { self.now = now }

    var isSlow: Bool { pace.withLock { $0.isSlow } }

    /// Makes a lookup, and records its duration.
    func time<Found>(_ lookup: () throws -> Found) rethrows -> Found {
        let start = now()
        let found = try lookup()
        let time = now() - start
        pace.withLock { $0.took(time) }
        return found
    }
}
