internal import Glibc

/// The system's clocks: <https://man7.org/linux/man-pages/man2/clock_gettime.2.html>. Read only at the edge; everything
/// inside takes readings as arguments. Safe from any thread.
package enum SystemClock {
    /// Nanoseconds since an arbitrary start; never goes back, and stops while the machine sleeps.
    package static var monotonicNanoseconds: Int64 { nanoseconds(CLOCK_MONOTONIC) }

    /// As ``monotonicNanoseconds``, in steps of about 4 ms, read without a system call.
    package static var coarseMonotonicNanoseconds: Int64 { nanoseconds(CLOCK_MONOTONIC_COARSE) }

    /// Nanoseconds since the machine started; never goes back, and continues while the machine sleeps.
    package static var bootNanoseconds: Int64 { nanoseconds(CLOCK_BOOTTIME) }

    /// Nanoseconds since 1970-01-01T00:00:00Z by the wall clock.
    package static var wallNanoseconds: Int64 { nanoseconds(CLOCK_REALTIME) }

    /// Milliseconds since 1970-01-01T00:00:00Z by the wall clock.
    package static var wallMilliseconds: Int64 { wallNanoseconds / 1_000_000 }

    /// Whole seconds since 1970-01-01T00:00:00Z by the wall clock, read without a system call.
    package static var coarseWallSeconds: Int64 { nanoseconds(CLOCK_REALTIME_COARSE) / 1_000_000_000 }

    private static func nanoseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
