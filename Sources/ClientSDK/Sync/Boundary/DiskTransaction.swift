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
    package var entries: [EntryOperation]
    package var outbox: [OutboxOperation]
    package var rejections: [RejectionOperation]
    package var state: [StateChange]

    package init(
        id: TransactionID, clear: ClientIdentifier? = nil, entries: [EntryOperation] = [], outbox: [OutboxOperation] = [],
        rejections: [RejectionOperation] = [], state: [StateChange] = []
    ) {
        self.id = id
        self.clear = clear
        self.entries = entries
        self.outbox = outbox
        self.rejections = rejections
        self.state = state
    }
}

/// One operation on the entries. Each case documents when it has no effect; the edge reports those in
/// ``SyncEvent/committed(_:skipped:)``.
package enum EntryOperation: Hashable, Sendable {
    /// Stores the entry, unless it does not supersede the row (``Entry/supersedes(_:)``), or, with `onlyIfHeld`, there
    /// is no row.
    case put(Entry, onlyIfHeld: Bool)
    /// Reports that the record is still at this revision: if the row is at that revision of that epoch, raises its
    /// `asOf`, `pass` and `verifiedAt` (``Entry/confirm(_:)``). Otherwise no effect.
    case confirm(Confirmation)
    /// Reports that the record is now at this revision, without its value (``Entry/withoutValue(_:over:keepsValue:)``).
    case withoutValue(Confirmation, keepsValue: Bool)
    /// Removes the rows in `scope` that are of another epoch than `before` or whose `asOf` is before its revision
    /// (``Entry/isKnownOnly(before:)``).
    case evict(InvalidationScope, before: Cursor)
    /// Marks the rows in `scope` that are of the epoch of `at`, and whose `asOf` is before its revision, as
    /// invalidated there (``Entry/invalidate(at:)``).
    case invalidate(InvalidationScope, at: Cursor)
    /// Ends a pass. Of the rows whose `pass` is lower than this, removes those that are of another epoch than `at` or
    /// whose `asOf` is before its revision (``Entry/isKnownOnly(before:)``), and raises the `pass` of the others: the
    /// feed continues from `at`, so it reports every later change.
    case endPass(Int64, at: Cursor)
}

/// A confirmation that a record has not changed.
package struct Confirmation: Hashable, Sendable {
    package var key: RecordKey
    package var epoch: Epoch
    package var revision: Revision
    package var asOf: Revision
    package var pass: Int64
    package var verifiedAt: Timestamp

    package init(key: RecordKey, epoch: Epoch, revision: Revision, asOf: Revision, pass: Int64, verifiedAt: Timestamp) {
        self.key = key
        self.epoch = epoch
        self.revision = revision
        self.asOf = asOf
        self.pass = pass
        self.verifiedAt = verifiedAt
    }
}

/// One operation on the outbox or its watermarks.
package enum OutboxOperation: Hashable, Sendable {
    /// Stores the row under its receipt, new or in place of the old one.
    case put(OutboxRow)
    /// Removes the row.
    case remove(Receipt)
    /// Stores the watermark of a key with rows, in place of the old one; `nil` removes it.
    case watermark(RecordKey, WriteWatermark?)
}

/// The reason why the disk did not commit. Nothing of the transaction is stored.
package enum DiskFailure: Error, Hashable, Sendable {
    /// No room. Free some, or lower the budget of the cache.
    case full
    /// Any other failure, described by the text.
    case failed(String)
}
