internal import FreshetWire
internal import Glibc

/// The device's clocks, read only at the edge and passed inwards.
enum DeviceClock {
    /// Milliseconds since boot, sleep included; never goes back.
    static var uptime: Int64 { milliseconds(CLOCK_BOOTTIME) }

    /// Milliseconds since boot that the device spent asleep. If the value has grown, the device slept in between.
    static var slept: Int64 { milliseconds(CLOCK_BOOTTIME) - milliseconds(CLOCK_MONOTONIC) }

    /// The wall clock, for people.
    static var wall: Timestamp { Timestamp(milliseconds: milliseconds(CLOCK_REALTIME)) }

    static var moment: Moment { Moment(uptime: uptime, wall: wall, random: .random(in: .min ... .max)) }

    private static func milliseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
