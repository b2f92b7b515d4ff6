/// The part of an entry that readers need. Guarded by its shard's lock.
@usableFromInline
struct CacheSlot<Key, Value> {
    @usableFromInline let key: Key
    @usableFromInline var value: Value
    @usableFromInline var end: EntryEnd

    @inlinable
    init(key: Key, value: Value, term: Term) {
        self.key = key
        self.value = value
        end = EntryEnd(term.timing, term.deadline)
    }
}

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

    /// Hits since the entry was inserted or spared, 0 … 3.
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
    func isOver(at moment: Moment) -> Bool {
        switch timing {
        case .unlimited: false
        case .fixed, .sliding: deadline <= moment.uptime
        case .wall: deadline <= moment.wall
        }
    }
}

/// The part of an entry that only writers need. Guarded by the cache's write lock.
@usableFromInline
struct SlotRecord {
    @usableFromInline let hash: Int
    @usableFromInline var cost: Int
    /// When the value was stored, in nanoseconds of the uptime clock.
    @usableFromInline var recorded: Int64
    /// When the value was last known to be right, on the same clock.
    @usableFromInline var verified: Int64
    /// By how long a read extends a sliding lifetime, in nanoseconds. Written under both locks.
    @usableFromInline var span: Int64
    /// The next newer entry, towards the head of the queue.
    @usableFromInline var newer = EntryReference.none
    /// The next older entry, towards the tail; in a free slot the next free one.
    @usableFromInline var older = EntryReference.none
    /// Changes with every write, so that a decision made without the lock is not applied to a newer value.
    @usableFromInline var stamp: UInt32
    @usableFromInline var place = Place.pinned
    @usableFromInline var isTagged = false

    /// The queue of a slot. Pinned slots are in none, so that eviction never visits them.
    @usableFromInline
    enum Place: UInt8 {
        case free, small, main, pinned
    }

    @inlinable
    init(hash: Int, cost: Int, term: Term, stamp: UInt32) {
        self.hash = hash
        self.cost = cost
        recorded = term.start
        verified = term.start
        span = term.span
        self.stamp = stamp
    }
}

/// The position of an entry: its slot's number above the bits of its shard's.
@usableFromInline
struct EntryReference: Hashable, Sendable {
    @usableFromInline let bits: UInt32

    @inlinable
    init(bits: UInt32) { self.bits = bits }

    @inlinable static var none: EntryReference { EntryReference(bits: .max) }

    @inlinable var isNone: Bool { bits == .max }
}
