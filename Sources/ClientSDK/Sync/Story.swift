package import FreshetWire

/// Why a value is what it is: the latest notes about what produced values and what was dropped. Bounded; oldest go first.
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

    /// The notes that concern `key`, oldest first. O(number of notes).
    func notes(of key: RecordKey) -> [StoryNote] {
        (notes[next...] + notes[..<next]).filter { $0.scope.contains(key) }
    }
}

/// One thing that happened to a key, or to many.
package struct StoryNote: Hashable, Sendable {
    /// By the device's wall clock.
    package var at: Timestamp
    /// What it reached.
    package var scope: InvalidationScope
    package var what: What

    package enum What: Hashable, Sendable {
        /// The feed brought this revision.
        case changed(Revision)
        /// The feed brought the delete.
        case deleted(Revision)
        /// The feed told to load afresh.
        case invalidated(Revision)
        /// The feed brought this revision without its value, which is over the limit.
        case valueLeftOut(Revision)
        /// What the feed brought at this revision was dropped: the device knew better, or does not hold the key.
        case changeSkipped(Revision)
        /// A read gave this revision (`nil`: no record), right as of the position.
        case fetched(Revision?, asOf: Revision)
        /// A read was dropped, since it was as old as `asOf` and the key had been changed at `floor`.
        case fetchRefused(asOf: Revision, floor: Revision)
        /// A read was dropped: it was of another history.
        case fetchOfOtherEpoch(Epoch)
        /// The disk let the entry go for want of room.
        case evicted
        /// The user wrote.
        case written(Receipt)
        /// A write took effect.
        case applied(Receipt, Revision?)
        /// A write was rejected, for a reason with this code.
        case rejected(Receipt, ProblemCode)
        /// A write went into another by the user's closure.
        case merged(Receipt, into: Receipt)
        /// The confirmed record holds the write's effect: it left the overlay.
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
