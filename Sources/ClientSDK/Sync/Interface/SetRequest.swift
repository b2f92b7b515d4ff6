package import FreshetWire

/// A write of the user.
package struct SetRequest: Hashable, Sendable {
    package var callerID: CallerID
    package var key: RecordKey
    package var operation: WriteOperation
    package var policy: ConflictPolicy
    /// Whether an increment is to be rejected if the record has gone by the time that it arrives, provided that the
    /// device shows a record now.
    package var rejectsIfGone: Bool
    /// The disk's row of the key now, if there is one.
    package var base: Entry?
    /// Whether the device knows, without a row, that there is no record: its copy of the followed keys is complete.
    var isKnownAbsent = false
    /// The rejected write that this one replaces; it leaves the disk in the same transaction.
    package var retries: LocalWriteID?

    package init(
        callerID: CallerID, key: RecordKey, operation: WriteOperation, policy: ConflictPolicy = .lastWriterWins,
        rejectsIfGone: Bool = false,
        base: Entry?, retries: LocalWriteID? = nil
    ) {
        self.retries = retries
        self.callerID = callerID
        self.key = key
        self.operation = operation
        self.policy = policy
        self.rejectsIfGone = rejectsIfGone
        self.base = base
    }
}
