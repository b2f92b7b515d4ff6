import FreshetWire

@testable import FreshetClient

/// Turns for the tests of single parts of the machine.
enum PartSupport {
    static func turn(at uptime: Int64 = 1_000, random: UInt64 = 1, configure: (inout SyncSettings) -> Void = { _ in }) -> Turn {
        var settings = SyncSettings()
        configure(&settings)
        return Turn(settings, Moment(uptime: uptime, wall: Timestamp(milliseconds: uptime), random: random))
    }
}
