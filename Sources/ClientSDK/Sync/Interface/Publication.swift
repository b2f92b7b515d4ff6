package import FreshetWire

/// A difference that observers and the memory tier should see.
///
/// Operations without effect are not published, so the memory tier must hold no key that the disk does not hold: a key
/// that the disk evicts for want of room must leave the memory at once. Keys with rows in the outbox must never be
/// evicted, nor keys of a ``SyncEvent/set(_:)`` that has not been answered yet.
package enum Publication: Hashable, Sendable {
    /// The key has this view now. An unknown value means that the key is in no tier.
    case view(KeyView)
    /// The entry of the key is confirmed with its value unchanged: only `asOf`, `pass` and `verifiedAt` are to be raised.
    case confirmed(Revalidation)
    /// Entries in `scope` that are of another epoch or known only through an earlier position are in no tier any more.
    /// Keys with pending writes follow as separate views and must not be removed by this.
    case evicted(InvalidationScope, before: Cursor)
    /// The key's row on disk has changed, and only the disk knows how: read it and show it.
    case changed(RecordKey)
    /// Entries in `scope` of this epoch that are known only through an earlier position were invalidated at it
    /// (``Entry/invalidate(at:)``), except for keys with pending writes, which follow as separate views.
    case invalidated(InvalidationScope, at: Cursor)
    /// Entries of a lower pass than this that are of another epoch or known only through an earlier position are in no
    /// tier any more, and the others have this pass (``Entry/ended(_:at:)``); except for keys with pending writes,
    /// which follow as separate views.
    case passFinished(Int64, at: Cursor)
    /// Entries of a past history are of the one that continues it (``Entry/inherited(_:)``).
    case inherited(Inheritance)
    /// All tiers are empty. Published immediately for `clear`, before the disk has done it: until that transaction is
    /// committed, the disk must not be read for users.
    case cleared
}
