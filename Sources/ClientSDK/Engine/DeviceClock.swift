internal import FreshetPlatform
internal import FreshetWire

/// The device's clocks, read only at the edge and passed inwards.
enum DeviceClock {
    /// Milliseconds since boot, sleep included; never goes back.
    static var uptime: Int64 { SystemClock.bootNanoseconds / 1_000_000 }

    /// Milliseconds since boot that the device spent asleep. If the value has grown, the device slept in between.
    static var slept: Int64 { (SystemClock.bootNanoseconds - SystemClock.monotonicNanoseconds) / 1_000_000 }

    /// The wall clock, for people.
    static var wall: Timestamp { Timestamp(milliseconds: SystemClock.wallMilliseconds) }

    static var eventContext: EventContext { EventContext(uptime: uptime, wall: wall, random: .random(in: .min ... .max)) }
}
