package import FreshetWire

/// What the disk is to do, all or nothing, in the order given: entries, outbox, rejections, state.
///
/// The edge carries transactions out in the order of their ``id`` and answers each with ``SyncEvent/committed(_:skipped:)`` or
/// ``SyncEvent/commitFailed(_:_:)``. A later one may be carried out although an earlier one failed: each stands for itself.
package struct DiskTransaction: Hashable, Sendable {
    package var id: TransactionID
    /// Remove all entries, watermarks, outbox rows and rejections before anything else, and let the state begin anew for this client (rule 12).
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

/// One operation on the entries. Each says when it has no effect; the edge reports those in ``SyncEvent/committed(_:skipped:)``.
package enum EntryOperation: Hashable, Sendable {
    /// Store the entry, unless the row there is not superseded by it (``Entry/supersedes(_:)``), or, with `onlyIfHeld`, there is no row.
    case put(Entry, onlyIfHeld: Bool)
    /// The record is still at this revision: if the row is at that revision of that epoch, raise its `asOf`, `pass` and `verifiedAt`
    /// (``Entry/confirm(_:)``). Otherwise no effect.
    case confirm(Confirmation)
    /// The record is at this revision now, and its value did not come along (``Entry/withoutValue(_:over:keepsValue:)``).
    case withoutValue(Confirmation, keepsValue: Bool)
    /// Remove the rows in `scope` that are of another epoch than `before` or whose `asOf` is before its revision
    /// (``Entry/isKnownOnly(before:)``).
    case evict(InvalidationScope, before: Cursor)
    /// Note in the rows in `scope` that are of the epoch of `at`, and whose `asOf` is before its revision, that they were invalidated there
    /// (``Entry/invalidate(at:)``).
    case invalidate(InvalidationScope, at: Cursor)
    /// Of the rows whose `pass` is lower than this, remove those that are of another epoch than `at` or whose `asOf` is before its revision
    /// (``Entry/isKnownOnly(before:)``), and raise the `pass` of the others: the feed goes on from there, so it tells of all that follows.
    case endPass(Int64, at: Cursor)
}

/// The news that a record has not changed.
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

/// One operation on the outbox and what belongs to it.
package enum OutboxOperation: Hashable, Sendable {
    /// Store the row under its receipt, new or in place of the old one.
    case put(OutboxRow)
    /// Remove the row.
    case remove(Receipt)
    /// Keep the watermark of a key with rows, in place of the old one; `nil` removes it.
    case watermark(RecordKey, WriteWatermark?)
}

/// Why the disk did not commit. Nothing of the transaction is stored.
package enum DiskFailure: Error, Hashable, Sendable {
    /// No room. Free some, or lower the budget of the cache.
    case full
    /// Anything else; the text says what.
    case failed(String)
}
