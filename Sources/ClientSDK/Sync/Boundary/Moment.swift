package import FreshetWire

/// What the edge knows when it hands an event to ``SyncMachine``: both clocks and some chance.
package struct Moment: Hashable, Sendable {
    /// Milliseconds of a clock that never goes back and counts sleep (`CLOCK_BOOTTIME`). All deadlines are in it.
    package var uptime: Int64
    /// The wall clock, for people to read; nothing is ordered by it.
    package var wall: Timestamp
    /// 64 random bits, fresh with every event; they spread back-offs.
    package var random: UInt64

    package init(uptime: Int64, wall: Timestamp, random: UInt64) {
        self.uptime = uptime
        self.wall = wall
        self.random = random
    }
}
