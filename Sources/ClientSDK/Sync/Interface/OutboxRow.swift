package import FreshetWire

/// One local write to the server. The disk keeps it from `set` until the confirmed base contains its effect.
///
/// The disk stores it as the bytes that ``WireMessage/json`` gives, under its ``writeID``; only ``key`` needs a
/// separate column.
package struct OutboxRow: Hashable, Sendable {
    /// The progress of the write.
    package enum State: Hashable, Sendable {
        /// No verdict yet.
        case pending
        /// Made over a write that waits to be merged, so this one waits too. It gets its ``number`` when that write is
        /// merged, and is sent after it.
        case held
        /// Applied at this position. It stays in the overlay until the base has reached the position.
        case applied(Cursor)
        /// Decided at an unknown revision, at most this one. It stays until the base is known through this position.
        case settled(Cursor)
        /// Rejected in this history because the record had changed; the user's closure is to merge it. `nil` in a file
        /// of an earlier version, which does not store the history.
        case merging(Epoch?)
    }

    /// The state in which the server must find the record for the write to apply.
    package enum Precondition: Hashable, Sendable {
        case none
        /// The record is at this revision; ``Revision/zero`` means that there is no record.
        case revision(Revision)
        /// The revision that this earlier write of the same device to the same key gets. The write is held back until
        /// the earlier one has its verdict.
        case after(LocalWriteID)
    }

    /// The stable name.
    package var writeID: LocalWriteID
    /// The number on the wire, permanent and the same in every history, under the device's present name;
    /// ``unnumbered`` for a write that is held. A write that was decided under an earlier name has 0, or -1 where the
    /// record contained it already when the device changed its name.
    package var number: Int64
    /// Distinguishes the write from another of the same number, as of a copied device; `nil` in a file of an earlier
    /// version.
    package var nonce: Int64?
    /// Whether the server has decided another write under the number. The write is then sent under another name of the
    /// device.
    package var isDisplaced = false
    /// The first name and number that the server has refused the write under as `number-taken`; the present ones if the
    /// number was used before the write was sent: see ``wasNumberUsed(under:)``.
    package var origin: Write.Origin?
    package var key: RecordKey
    package var operation: WriteOperation
    package var policy: ConflictPolicy
    package var precondition: Precondition
    /// The revision of the base over which the user wrote it; ``Revision/zero`` where there was no record,
    /// ``Revision/maximum`` for a base of another history, `nil` where the base was not known.
    package var baseRevision: Revision?
    package var state: State
    /// For ``ConflictPolicy/merge(_:)``: the value that the key showed before the user's write; `nil` for no record.
    package var ancestor: Content?
    /// The user's operation over ``ancestor``, where ``operation`` is the closure's result; `nil` where ``operation``
    /// is the user's.
    package var original: WriteOperation?
    /// The number of times that it was merged and sent again.
    package var attempts: Int64
    /// When the user wrote it, by the device's wall clock.
    package var created: Timestamp

    package init(
        writeID: LocalWriteID, number: Int64, key: RecordKey, operation: WriteOperation, policy: ConflictPolicy = .lastWriterWins,
        precondition: Precondition = .none, baseRevision: Revision? = nil, state: State = .pending,
        ancestor: Content? = nil, original: WriteOperation? = nil, attempts: Int64 = 0, created: Timestamp, nonce: Int64? = nil
    ) {
        self.nonce = nonce
        self.writeID = writeID
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

    /// The number of a write that has none yet: above all numbers, since the write comes after all numbered ones.
    package static let unnumbered = Revision.maximum.number

    /// Whether the write has no outcome yet. A write that is to be merged has none either.
    package var isPending: Bool {
        switch state {
        case .pending, .held, .merging: true
        case .applied, .settled: false
        }
    }

    /// Whether the write is to be sent, or is waiting for the answer, under its present number.
    package var isQueued: Bool { state == .pending && !isDisplaced }

    /// Whether the server had decided a write under the number, and under this name of the device, before this device
    /// sent the write. If the outcome is not kept, it is another write's.
    func wasNumberUsed(under client: ClientIdentifier) -> Bool { origin == Write.Origin(client: client, number: number) }

    /// Whether the user's closure is to merge it.
    package var isMerging: Bool { if case .merging = state { true } else { false } }

    /// Whether the write waits until an earlier write of the key is merged.
    package var isHeld: Bool { state == .held }

    /// The position at which the server applied the write, or an upper bound of it; `nil` without an outcome that it
    /// took effect.
    package var position: Cursor? {
        switch state {
        case .applied(let position), .settled(let position): position
        case .pending, .held, .merging: nil
        }
    }
}
