/// The position of the search for expired entries. Each write advances it a little; it rests while no entry can have
/// expired.
@usableFromInline
struct ExpirySweep: Sendable {
    /// No entry ends earlier, by the uptime clock.
    @usableFromInline var earliest = Int64.max
    /// The same by the wall clock.
    @usableFromInline var earliestWall = Int64.max
    /// The same for the entries that this pass has visited, and those written since it began.
    @usableFromInline var next = (uptime: Int64.max, wall: Int64.max)
    @usableFromInline var shard = 0
    @usableFromInline var slot = 0

    @usableFromInline
    init() {}

    /// Whether an entry may have expired.
    @inlinable
    func isDue(at reading: ClockReading) -> Bool { reading.uptime >= earliest || reading.wall >= earliestWall }

    /// Records an entry's end.
    @inlinable
    mutating func note(_ timing: Timing, _ deadline: Int64) {
        switch timing {
        case .unlimited: break
        case .fixed, .sliding:
            earliest = min(earliest, deadline)
            next.uptime = min(next.uptime, deadline)
        case .wall:
            earliestWall = min(earliestWall, deadline)
            next.wall = min(next.wall, deadline)
        }
    }

    /// Begins a new pass. The last pass determined how long no entry expires.
    mutating func wrap() {
        (earliest, earliestWall) = next
        next = (.max, .max)
        (shard, slot) = (0, 0)
    }
}
