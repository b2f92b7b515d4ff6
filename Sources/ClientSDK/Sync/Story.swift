package import FreshetWire

/// Why a value is what it is: the latest notes about the sources of values and about dropped responses. Bounded; the
/// oldest are dropped first.
struct Story: Sendable {
    private var notes: [StoryNote] = []
    private var next = 0
    private let capacity: Int

    init(capacity: Int) { self.capacity = capacity }

    /// O(1).
    mutating func add(_ note: StoryNote) {
        guard capacity > 0 else { return }
        if notes.count < capacity {
            notes.append(note)
        } else {
            notes[next] = note
            next = (next + 1) % capacity
        }
    }

    mutating func clear() {
        notes = []
        next = 0
    }

    /// Returns the notes that concern `key`, oldest first. O(number of notes).
    func notes(of key: RecordKey) -> [StoryNote] {
        (notes[next...] + notes[..<next]).filter { $0.scope.contains(key) }
    }
}

/// One event of a key, or of many.
package struct StoryNote: Hashable, Sendable {
    /// By the device's wall clock.
    package var at: Timestamp
    /// The keys that the event reached.
    package var scope: InvalidationScope
    package var what: What

    package enum What: Hashable, Sendable {
        /// The feed brought this revision.
        case changed(Revision)
        /// The feed brought the delete.
        case deleted(Revision)
        /// The feed reported an invalidation.
        case invalidated(Revision)
        /// The feed brought this revision without its value, which is over the limit.
        case valueLeftOut(Revision)
        /// The feed's change at this revision was dropped: the device had newer data, or does not hold the key.
        case changeSkipped(Revision)
        /// A read returned this revision (`nil`: no record), right as of the position.
        case fetched(Revision?, asOf: Revision)
        /// A read was dropped, since it was as old as `asOf` and the key had changed at `floor`.
        case fetchRefused(asOf: Revision, floor: Revision)
        /// A read was dropped: it was of another history.
        case fetchOfOtherEpoch(Epoch)
        /// The disk evicted the entry for want of room.
        case evicted
        /// The user wrote.
        case written(Receipt)
        /// A write took effect.
        case applied(Receipt, Revision?)
        /// A write was rejected, for a reason with this code.
        case rejected(Receipt, ProblemCode)
        /// The user's closure merged a write into another.
        case merged(Receipt, into: Receipt)
        /// The confirmed record contains the write's effect: the write left the overlay.
        case confirmed(Receipt)
        /// The history or the position was lost; all entries are being verified.
        case reset
        /// After a reset, the entry was confirmed or replaced.
        case verified(asOf: Revision)
    }

    package init(at: Timestamp, scope: InvalidationScope, what: What) {
        self.at = at
        self.scope = scope
        self.what = what
    }
}
