package import FreshetWire

/// One local write on its way to the server. The disk keeps it from `set` until the confirmed base holds its effect.
///
/// The disk stores it as the bytes that ``WireMessage/json`` gives, under its ``receipt``; only ``key`` needs a column beside them.
package struct OutboxRow: Hashable, Sendable {
    /// How far the write has come.
    package enum State: Hashable, Sendable {
        /// No verdict yet.
        case pending
        /// Made over a write that waits to be merged, so it waits too: it gets its ``number`` when that goes on, and is sent behind it.
        case held
        /// Applied at this position; it stays in the overlay until the base has reached it.
        case applied(Cursor)
        /// Decided, at a revision that is not known but is no later than this; it stays until the base is known through there.
        case settled(Cursor)
        /// Rejected in this history because the record had changed; the user's closure is to merge it. `nil` where a file of an earlier
        /// version does not say in which.
        case merging(Epoch?)
    }

    /// What the server must find for the write to apply.
    package enum Precondition: Hashable, Sendable {
        case none
        /// The record is at this revision; ``Revision/zero``: there is none.
        case revision(Revision)
        /// The revision that this earlier write of ours to the same key takes. Held back until that has its verdict.
        case after(Receipt)
    }

    /// The stable name.
    package var receipt: Receipt
    /// The number on the wire, for ever and in every history, under the device's present name; ``unnumbered`` for a write that is held. Under an earlier
    /// name a write that has its verdict was decided: 0, or -1 where the record contained it already when the device changed its name.
    package var number: Int64
    /// Tells the write from another of the same number, as of a copied device; `nil` in a file of an earlier version.
    package var nonce: Int64?
    /// The server has decided another write under the number: it is to be sent under another name of the device.
    package var isDisplaced = false
    package var key: RecordKey
    package var operation: WriteOperation
    package var policy: ConflictPolicy
    package var precondition: Precondition
    /// The revision of the base over which the user wrote it; ``Revision/zero`` for none, ``Revision/maximum`` for one of another history,
    /// `nil` where it was not known.
    package var baseRevision: Revision?
    package var state: State
    /// For ``ConflictPolicy/merge(_:)``: what the key showed before the user's write; `nil` for no record.
    package var ancestor: Content?
    /// What the user wrote over ``ancestor``, where ``operation`` is what the closure made of it; `nil` where ``operation`` is the user's.
    package var original: WriteOperation?
    /// How often it was merged and sent again.
    package var attempts: Int64
    /// When the user wrote it, by the device's wall clock.
    package var created: Timestamp

    package init(
        receipt: Receipt, number: Int64, key: RecordKey, operation: WriteOperation, policy: ConflictPolicy = .lastWriterWins,
        precondition: Precondition = .none, baseRevision: Revision? = nil, state: State = .pending,
        ancestor: Content? = nil, original: WriteOperation? = nil, attempts: Int64 = 0, created: Timestamp, nonce: Int64? = nil
    ) {
        self.nonce = nonce
        self.receipt = receipt
        self.number = number
        self.key = key
        self.operation = operation
        self.policy = policy
        self.precondition = precondition
        self.baseRevision = baseRevision
        self.state = state
        self.ancestor = ancestor
        self.original = original
        self.attempts = attempts
        self.created = created
    }

    /// Stands for a number that is not given yet: it is above all that are, as the write is behind all that have one.
    package static let unnumbered = Revision.maximum.number

    /// Whether the writer has not been told a verdict yet (a write that is to be merged has none either).
    package var isPending: Bool {
        switch state {
        case .pending, .held, .merging: true
        case .applied, .settled: false
        }
    }

    /// Whether it is to be sent, or waits for the answer, under the number that it has.
    package var isQueued: Bool { state == .pending && !isDisplaced }

    /// Whether the user's closure is to merge it.
    package var isMerging: Bool { if case .merging = state { true } else { false } }

    /// Whether it waits for an earlier write of the key to be merged.
    package var isHeld: Bool { state == .held }

    /// Where the server applied it, or no later; `nil` while it has no verdict that it took effect.
    package var position: Cursor? {
        switch state {
        case .applied(let position), .settled(let position): position
        case .pending, .held, .merging: nil
        }
    }
}

/// What is to happen when someone else changed the record between the user's look at it and the arrival of the write.
package enum ConflictPolicy: Hashable, Sendable {
    /// The write applies, whatever is there.
    case lastWriterWins
    /// The write is rejected; its writer is told, and the newest confirmed value is shown.
    case rejectIfChanged
    /// The closure registered under this name makes one value of both, which is sent as a new write.
    case merge(MergeName)
}
