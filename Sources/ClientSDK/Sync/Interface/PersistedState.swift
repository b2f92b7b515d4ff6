package import FreshetWire

/// The data that the machine needs from the disk at its start, without a scan of the entries.
package struct PersistedState: Hashable, Sendable {
    package var state: SyncState
    /// The outbox in the order of their ids.
    package var outbox: [OutboxRow]
    /// The entries of the outbox's keys, as far as there are any.
    package var bases: [Entry]
    /// The watermarks of the outbox's keys, as far as there are any.
    package var watermarks: [RecordKey: WriteWatermark]
    /// Whether there are entries with ``Entry/needsRefresh``.
    package var needsRefresh: Bool
    /// The rejected writes that the user has not retried or discarded, oldest first.
    package var rejections: [RejectionEntry]
    /// Whether the disk was empty before this start. No other device can have the same name in that case.
    package var isNew: Bool

    /// - Parameter isNew: whether the disk was empty; `nil` derives it from the state.
    package init(
        state: SyncState, outbox: [OutboxRow] = [], bases: [Entry] = [], watermarks: [RecordKey: WriteWatermark] = [:],
        needsRefresh: Bool = false, rejections: [RejectionEntry] = [], isNew: Bool? = nil
    ) {
        self.isNew = isNew ?? (state.epoch == nil && state.nextNumber == 1)
        self.state = state
        self.outbox = outbox
        self.bases = bases
        self.watermarks = watermarks
        self.needsRefresh = needsRefresh
        self.rejections = rejections
    }
}
