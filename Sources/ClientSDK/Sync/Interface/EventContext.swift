package import FreshetWire

/// The context of an event that the edge gives to ``SyncMachine``: both clocks and some random bits.
package struct EventContext: Hashable, Sendable {
    /// Milliseconds of a clock that never goes back and counts sleep (`CLOCK_BOOTTIME`). All deadlines use it.
    package var uptime: Int64
    /// The wall clock, for people to read. Nothing is ordered by it.
    package var wall: Timestamp
    /// 64 random bits, fresh for every event; they spread back-offs.
    package var random: UInt64

    package init(uptime: Int64, wall: Timestamp, random: UInt64) {
        self.uptime = uptime
        self.wall = wall
        self.random = random
    }
}
