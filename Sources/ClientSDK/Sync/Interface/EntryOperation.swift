package import FreshetWire

/// One operation on the entries. Each case documents when it has no effect; the edge reports those in
/// ``SyncEvent/committed(_:skipped:)``.
package enum EntryOperation: Hashable, Sendable {
    /// Stores the entry, unless it does not supersede the row (``Entry/supersedes(_:)``), or, with `onlyIfCached`, there
    /// is no row.
    case put(Entry, onlyIfCached: Bool)
    /// Reports that the record is still at this revision: if the row is at that revision of that epoch, raises its
    /// `asOf`, `pass` and `verifiedAt` (``Entry/confirm(_:)``). Otherwise no effect.
    case confirm(Revalidation)
    /// Reports that the record is now at this revision, without its value (``Entry/withoutValue(_:over:keepsValue:)``).
    case withoutValue(Revalidation, keepsValue: Bool)
    /// Removes the rows in `scope` that are of another epoch than `before` or whose `asOf` is before its revision
    /// (``Entry/isKnownOnly(before:)``). Before the greatest revision all leave, since the device may not read them any more:
    /// see ``UnreadableRecords``.
    case evict(InvalidationScope, before: Cursor)
    /// Marks the rows in `scope` that are of the epoch of `at`, and whose `asOf` is before its revision, as
    /// invalidated there (``Entry/invalidate(at:)``).
    case invalidate(InvalidationScope, at: Cursor)
    /// Ends a pass. Of the rows whose `pass` is lower than this, removes those that are of another epoch than `at` or
    /// whose `asOf` is before its revision (``Entry/isKnownOnly(before:)``), and raises the `pass` of the others: the
    /// feed continues from `at`, so it reports every later change. For a reader of a part, `at` has the greatest revision: see
    /// ``UnreadableRecords``.
    case finishPass(Int64, at: Cursor)
    /// Removes the row of a key that the device does not follow, whatever it is known through.
    case remove(RecordKey)
    /// Removes the rows that the filter does not match, except for those of `writtenKeys`, which are the keys in the outbox: the
    /// device follows less than before.
    case narrow(ChangeFilter, writtenKeys: Set<RecordKey>)
    /// Takes the rows that the histories share into the one that continues the other (``Entry/inherited(_:)``).
    case inherit(Inheritance)
}
