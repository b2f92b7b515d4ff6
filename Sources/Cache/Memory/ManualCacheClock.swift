internal import Synchronization

/// A clock that only ``advance(by:)`` moves, for tests of expiry. Safe from any thread.
///
/// ```swift
/// let time = ManualCacheClock()
/// // … a cache with `clock: time.clock` …
/// time.advance(by: .seconds(3_600))
/// ```
public final class ManualCacheClock: Sendable {
    private let passed = Mutex(Duration.zero)
    private let start: Int64

    /// - Parameter wall: the wall clock at the start, in milliseconds since 1970.
    public init(wall: Int64 = 1_000_000_000_000) { start = wall }

    /// The clock to pass to a cache.
    public var clock: CacheClock {
        CacheClock(
            uptime: { [self] in Int64(clamping: passed.withLock { $0 } / .nanoseconds(1)) },
            wall: { [self] in start.saturatingAdd(Int64(clamping: passed.withLock { $0 } / .milliseconds(1))) })
    }

    /// Advances both clocks by a duration. Each clock stops at its last representable moment.
    public func advance(by duration: Duration) {
        func clamped(_ duration: Duration) -> Duration { min(max(duration, .seconds(Int64.min)), .seconds(Int64.max)) }
        passed.withLock { $0 = clamped($0 + clamped(duration)) }
    }
}

extension Int64 {
    /// The nearest whole number towards zero.
    fileprivate init(clamping value: Double) {
        self = value >= Double(Int64.max) ? .max : value <= Double(Int64.min) ? .min : Int64(value)
    }
}
