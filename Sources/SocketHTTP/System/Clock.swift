import Glibc

/// The two clocks of the edge. Everything inside takes their readings as arguments.
enum Clock {
    /// Nanoseconds since an arbitrary start; never goes back. Coarse (about 4 ms), read without a system call.
    static func monotonic() -> UInt64 {
        read(CLOCK_MONOTONIC_COARSE)
    }

    /// Whole seconds since 1970-01-01T00:00:00Z.
    static func wallSeconds() -> Int {
        Int(read(CLOCK_REALTIME_COARSE) / 1_000_000_000)
    }

    private static func read(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

extension Duration {
    /// Whole nanoseconds, rounded down and held within `0 ... UInt64.max`.
    var nanoseconds: UInt64 {
        guard self >= .zero else { return 0 }
        // From 292 billion years on there are no components.
        let (seconds, attoseconds) = min(self, .seconds(Int64.max)).components
        let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carry) = whole.addingReportingOverflow(UInt64(attoseconds) / 1_000_000_000)
        return overflow || carry ? .max : sum
    }
}
