package import FreshetWire

/// One local write on its way to the server. The disk keeps it from `set` until the confirmed base holds its effect.
///
/// The disk stores it as the bytes that ``WireMessage/json`` gives, under its ``receipt``; only ``key`` needs a column beside them.
package struct OutboxRow: Hashable, Sendable {
    /// How far the write has come.
    package enum State: Hashable, Sendable {
        /// No verdict yet.
        case pending
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
    /// The number on the wire, for ever and in every history.
    package var number: Int64
    package var key: RecordKey
    package var operation: WriteOperation
    package var policy: ConflictPolicy
    package var precondition: Precondition
    /// The revision of the base over which the user wrote it; ``Revision/zero`` for none, ``Revision/maximum`` for one of another history,
    /// `nil` where it was not known.
    package var baseRevision: Revision?
    package var state: State
    /// For ``ConflictPolicy/merge(_:)``: what the key showed before the write; `nil` for no record.
    package var ancestor: Content?
    /// How often it was merged and sent again.
    package var attempts: Int64
    /// When the user wrote it, by the device's wall clock.
    package var created: Timestamp

    package init(
        receipt: Receipt, number: Int64, key: RecordKey, operation: WriteOperation, policy: ConflictPolicy = .lastWriterWins,
        precondition: Precondition = .none, baseRevision: Revision? = nil, state: State = .pending,
        ancestor: Content? = nil, attempts: Int64 = 0, created: Timestamp
    ) {
        self.receipt = receipt
        self.number = number
        self.key = key
        self.operation = operation
        self.policy = policy
        self.precondition = precondition
        self.baseRevision = baseRevision
        self.state = state
        self.ancestor = ancestor
        self.attempts = attempts
        self.created = created
    }

    /// Whether the writer has not been told a verdict yet (a write that is to be merged has none either).
    package var isPending: Bool {
        switch state {
        case .pending, .merging: true
        case .applied, .settled: false
        }
    }

    /// Whether the user's closure is to merge it.
    package var isMerging: Bool { if case .merging = state { true } else { false } }

    /// Where the server applied it, or no later; `nil` while it has no verdict that it took effect.
    package var position: Cursor? {
        switch state {
        case .applied(let position), .settled(let position): position
        case .pending, .merging: nil
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
