package import FreshetWire

/// One event of a key, or of many.
package struct HistoryEvent: Hashable, Sendable {
    /// By the device's wall clock.
    package var at: Timestamp
    /// The keys that the event reached.
    package var scope: InvalidationScope
    package var kind: Kind

    package enum Kind: Hashable, Sendable {
        /// The feed brought this revision.
        case changed(Revision)
        /// The feed brought the delete.
        case deleted(Revision)
        /// The feed reported an invalidation.
        case invalidated(Revision)
        /// The feed brought this revision without its value, which is over the limit.
        case valueLeftOut(Revision)
        /// The feed's change at this revision was dropped: the device had newer data, or does not hold the key.
        case changeSkipped(Revision)
        /// A read returned this revision (`nil`: no record), right as of the position.
        case fetched(Revision?, asOf: Revision)
        /// A read was dropped, since it was as old as `asOf` and the key had changed at `lowerBound`.
        case fetchRefused(asOf: Revision, lowerBound: Revision)
        /// A read was dropped: it was of another history.
        case fetchOfOtherEpoch(Epoch)
        /// The disk evicted the entry for want of room.
        case evicted
        /// The user wrote.
        case written(LocalWriteID)
        /// A write took effect.
        case applied(LocalWriteID, Revision?)
        /// A write was rejected, for a reason with this code.
        case rejected(LocalWriteID, ProblemCode)
        /// The user's closure merged a write into another.
        case merged(LocalWriteID, into: LocalWriteID)
        /// The confirmed record contains the write's effect: the write left the overlay.
        case confirmed(LocalWriteID)
        /// The history or the position was lost; all entries are being verified.
        case reset
        /// The device may not read the record any more: the entry was removed.
        case forbidden
        /// After a reset, the entry was confirmed or replaced.
        case revalidated(asOf: Revision)
    }

    package init(at: Timestamp, scope: InvalidationScope, kind: Kind) {
        self.at = at
        self.scope = scope
        self.kind = kind
    }
}
