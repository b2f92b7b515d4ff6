internal import FoundationEssentials

/// The time at which an operation began.
@usableFromInline
struct ClockReading: Sendable {
    /// Nanoseconds of the uptime clock.
    @usableFromInline let uptime: Int64
    /// Milliseconds since 1970; the least number if no entry ends by the wall clock.
    @usableFromInline let wall: Int64

    @inlinable
    init(uptime: Int64, wall: Int64) {
        self.uptime = uptime
        self.wall = wall
    }
}
