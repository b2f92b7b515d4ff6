/// An entry's end and hits, in 8 bytes, so that a slot with a `String` and a word takes half a cache line.
@usableFromInline
struct EntryEnd: Sendable {
    /// The deadline without its last four bits, then two bits of ``timing`` and two of ``frequency``.
    @usableFromInline var bits: Int64

    @inlinable
    init(_ timing: Timing, _ deadline: Int64) { bits = deadline & ~15 | Int64(timing.rawValue) << 2 }

    @inlinable var timing: Timing { Timing(rawValue: UInt8(truncatingIfNeeded: bits >> 2) & 3) ?? .unlimited }

    /// The end in nanoseconds of the uptime clock, or for ``Timing/wall`` in milliseconds of the wall clock; up to 15
    /// too early.
    @inlinable var deadline: Int64 { bits & ~15 }

    /// Hits since the entry was inserted or requeued, 0 … 3.
    @inlinable var frequency: Int {
        get { Int(bits & 3) }
        set { bits = bits & ~3 | Int64(newValue) }
    }

    @inlinable
    mutating func countHit() { if bits & 3 != 3 { bits += 1 } }

    /// Sets another end; the hits stay.
    @inlinable
    mutating func set(_ timing: Timing, _ deadline: Int64) { bits = EntryEnd(timing, deadline).bits | bits & 3 }

    /// Whether the lifetime is over at a moment.
    @inlinable
    func isExpired(at reading: ClockReading) -> Bool {
        switch timing {
        case .unlimited: false
        case .fixed, .sliding: deadline <= reading.uptime
        case .wall: deadline <= reading.wall
        }
    }
}
