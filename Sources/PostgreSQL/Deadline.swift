#if PostgreSQL
internal import FreshetPlatform

/// The moment until which a call may wait for the server.
package struct Deadline: Hashable, Sendable {
    /// By the clock that never goes back.
    private let nanoseconds: Int64

    /// The moment after this long from now.
    package init(after duration: Duration) {
        let (sum, overflow) = SystemClock.monotonicNanoseconds.addingReportingOverflow(max(duration.clampedNanoseconds, 0))
        nanoseconds = overflow ? .max : sum
    }

    /// How much time remains, in milliseconds rounded up; 0 once it has passed.
    var milliseconds: Int32 {
        let rest = nanoseconds - SystemClock.monotonicNanoseconds
        return rest <= 0 ? 0 : Int32(clamping: (rest - 1) / 1_000_000 + 1)
    }

    /// Whether the moment has passed.
    package var hasPassed: Bool { milliseconds == 0 }
}
#endif
