internal import FreshetPlatform

/// The source of time of a cache. Safe from any thread.
///
/// Lifetimes are measured by ``uptime``, which neither stops while the machine sleeps nor jumps when the wall clock is set.
public struct CacheClock: Sendable {
    /// Nanoseconds since some moment in the past; it never goes back, and goes on while the machine sleeps.
    public let uptime: @Sendable () -> Int64
    /// Milliseconds since 1970 by the wall clock.
    public let wall: @Sendable () -> Int64
    /// Whether ``uptime`` is ``systemUptime()``, which is quicker to call directly.
    let isSystem: Bool

    /// Creates a custom clock. Both closures may be called from any thread, often, and must not block.
    public init(uptime: @escaping @Sendable () -> Int64, wall: @escaping @Sendable () -> Int64) {
        self.init(uptime: uptime, wall: wall, isSystem: false)
    }

    private init(uptime: @escaping @Sendable () -> Int64, wall: @escaping @Sendable () -> Int64, isSystem: Bool) {
        self.uptime = uptime
        self.wall = wall
        self.isSystem = isSystem
    }

    /// The system's clocks: `CLOCK_BOOTTIME` and `CLOCK_REALTIME`, see
    /// <https://man7.org/linux/man-pages/man2/clock_gettime.2.html>.
    public static let system = CacheClock(
        uptime: { Self.systemUptime() },
        wall: { SystemClock.wallMilliseconds },
        isSystem: true)

    /// Nanoseconds since the machine was started.
    @usableFromInline
    static func systemUptime() -> Int64 { SystemClock.bootNanoseconds }
}
