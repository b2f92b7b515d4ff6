/// What a reader needs of an entry: guarded by its shard's lock.
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

/// When an entry is over and how often it was hit, in 8 bytes, so that a slot with a `String` and a word takes half a cache line.
@usableFromInline
struct EntryEnd: Sendable {
    /// The deadline but for its last four bits, then two of ``timing`` and two of ``frequency``.
    @usableFromInline var bits: Int64

    @inlinable
    init(_ timing: Timing, _ deadline: Int64) { bits = deadline & ~15 | Int64(timing.rawValue) << 2 }

    @inlinable var timing: Timing { Timing(rawValue: UInt8(truncatingIfNeeded: bits >> 2) & 3) ?? .unlimited }

    /// When it is over, in nanoseconds of the uptime clock, or for ``Timing/wall`` in milliseconds of the wall clock; up to 15 too early.
    @inlinable var deadline: Int64 { bits & ~15 }

    /// Hits since it came in or was spared, 0 … 3.
    @inlinable var frequency: Int {
        get { Int(bits & 3) }
        set { bits = bits & ~3 | Int64(newValue) }
    }

    @inlinable
    mutating func countHit() { if bits & 3 != 3 { bits += 1 } }

    /// Another end; the hits stay.
    @inlinable
    mutating func set(_ timing: Timing, _ deadline: Int64) { bits = EntryEnd(timing, deadline).bits | bits & 3 }

    /// Whether it was over at a moment.
    @inlinable
    func isOver(at moment: Moment) -> Bool {
        switch timing {
        case .unlimited: false
        case .fixed, .sliding: deadline <= moment.uptime
        case .wall: deadline <= moment.wall
        }
    }
}

/// What only writers need of an entry: guarded by the cache's write lock.
@usableFromInline
struct SlotRecord {
    @usableFromInline let hash: Int
    @usableFromInline var cost: Int
    /// When the value was stored, in nanoseconds of the uptime clock.
    @usableFromInline var recorded: Int64
    /// When it was last known to be right, on the same clock.
    @usableFromInline var verified: Int64
    /// How long a sliding lifetime goes on after a read, in nanoseconds. Written under both locks.
    @usableFromInline var span: Int64
    /// Towards the head of its queue, newer.
    @usableFromInline var newer = EntryReference.none
    /// Towards the tail, older; in a free slot the next free one.
    @usableFromInline var older = EntryReference.none
    /// Another one after every write, so that a judgement made without the lock is not carried out on a newer value.
    @usableFromInline var stamp: UInt32
    @usableFromInline var place = Place.pinned
    @usableFromInline var isTagged = false

    /// Which queue a slot is in; pinned ones are in none, so that eviction never meets them.
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

/// Where an entry is: its slot's number above the bits of its shard's.
@usableFromInline
struct EntryReference: Hashable, Sendable {
    @usableFromInline let bits: UInt32

    @inlinable
    init(bits: UInt32) { self.bits = bits }

    @inlinable static var none: EntryReference { EntryReference(bits: .max) }

    @inlinable var isNone: Bool { bits == .max }
}
