package import FreshetWire

/// A transaction for the disk, all or nothing, carried out in the order given: entries, outbox, rejections, state.
///
/// The edge carries transactions out in the order of their ``id`` and answers each with
/// ``SyncEvent/committed(_:skipped:)`` or ``SyncEvent/commitFailed(_:_:)``. A transaction may be carried out although
/// an earlier one failed: each stands for itself.
package struct DiskTransaction: Hashable, Sendable {
    package var id: TransactionID
    /// Removes all entries, watermarks, outbox rows and rejections first, and replaces the state by the initial state
    /// of this client (rule 12).
    package var clear: ClientIdentifier?
    /// Removes all entries and watermarks first, the outbox rows with a verdict, and the records that rejections show.
    package var removesRecords: Bool
    package var entries: [EntryOperation]
    package var outbox: [OutboxOperation]
    package var rejections: [RejectionOperation]
    package var state: [StateChange]

    package init(
        id: TransactionID, clear: ClientIdentifier? = nil, removesRecords: Bool = false, entries: [EntryOperation] = [],
        outbox: [OutboxOperation] = [],
        rejections: [RejectionOperation] = [], state: [StateChange] = []
    ) {
        self.id = id
        self.clear = clear
        self.removesRecords = removesRecords
        self.entries = entries
        self.outbox = outbox
        self.rejections = rejections
        self.state = state
    }

    /// Whether no entry from before the transaction remains.
    package var removesEntries: Bool { clear != nil || removesRecords }
}
