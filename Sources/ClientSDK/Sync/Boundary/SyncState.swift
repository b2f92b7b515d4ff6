package import FreshetWire

/// The small row that a device stores with its entries and its outbox. Only ``StateChange`` within transactions changes it.
package struct SyncState: Hashable, Sendable {
    /// Whether all entries have been confirmed since the last reset.
    package enum Verification: Int64, Hashable, Sendable {
        /// All are confirmed: an entry's pass is the state's, and the feed keeps it up to date.
        case complete = 0
        /// The feed is being read from the start; entries that it does not bring are evicted at its end.
        case fromStart = 1
        /// The held keys are being read page by page.
        case ofHeldKeys = 2
    }

    /// The device's name in the namespace.
    package var client: ClientIdentifier
    /// The number of the next write. It never decreases: a number names its write in every history.
    package var nextNumber: Int64
    /// The receipt of the next write.
    package var nextReceipt: Int64
    /// The history that is followed; `nil` before the first contact.
    package var epoch: Epoch?
    /// The position of the feed through which all changes are on disk; `nil` before the first page and after a reset.
    package var cursor: Cursor?
    /// When ``cursor`` was stored at the end of the feed, by the device's wall clock; `nil` while there is more to read.
    package var completeAt: Timestamp?
    /// The position before the reset that removed ``cursor``; `nil` as soon as there is another cursor. Shown values
    /// may be as new as this.
    package var lostCursor: Cursor?
    /// The number of the pass; each reset begins another one. Entries of an earlier pass are unverified.
    package var pass: Int64
    package var verification: Verification
    /// The settings that were followed up to ``cursor``. If they differ at the next start, all entries are verified.
    package var scope: String
    /// Whether the server must be asked for its last number of this device before anything is sent (after a new epoch).
    package var mustReconcile: Bool
    /// The number of rejected writes that were dropped, because there were too many, before the user had retried or
    /// discarded them.
    package var droppedRejections: Int64
    /// The store that the entries and the writes belong to; `nil` until a server has stated it.
    package var store: StoreIdentifier?
    /// Set when another device has the same name. Writes up to this number get their answers under this name; then the
    /// device takes another name and sends the other writes under that.
    package var renamesAfter: Int64?

    /// The state of a new device.
    package init(client: ClientIdentifier) {
        self.client = client
        nextNumber = 1
        nextReceipt = 1
        pass = 1
        verification = .complete
        scope = ""
        mustReconcile = false
        droppedRejections = 0
    }

    package mutating func apply(_ change: StateChange) {
        switch change {
        case .nextNumber(let number): nextNumber = number
        case .nextReceipt(let number): nextReceipt = number
        case .epoch(let epoch): self.epoch = epoch
        case .cursor(let cursor):
            lostCursor = cursor == nil ? self.cursor ?? lostCursor : nil
            self.cursor = cursor
            if cursor == nil { completeAt = nil }
        case .completeAt(let time): completeAt = time
        case .pass(let pass): self.pass = pass
        case .verification(let verification): self.verification = verification
        case .scope(let scope): self.scope = scope
        case .mustReconcile(let must): mustReconcile = must
        case .droppedRejections(let count): droppedRejections = count
        case .store(let store): self.store = store
        case .renamesAfter(let number): renamesAfter = number
        case .client(let client):
            self.client = client
            renamesAfter = nil
        }
    }
}

/// A change of one field of ``SyncState``, so that a transaction writes only the fields that it decided.
package enum StateChange: Hashable, Sendable {
    case nextNumber(Int64)
    case nextReceipt(Int64)
    case epoch(Epoch?)
    case cursor(Cursor?)
    case completeAt(Timestamp?)
    case pass(Int64)
    case verification(SyncState.Verification)
    case scope(String)
    case mustReconcile(Bool)
    case droppedRejections(Int64)
    case store(StoreIdentifier)
    case renamesAfter(Int64)
    case client(ClientIdentifier)
}

/// The data that the machine needs from the disk at its start, without a scan of the entries.
package struct PersistedState: Hashable, Sendable {
    package var state: SyncState
    /// The outbox in the order of the receipts.
    package var outbox: [OutboxRow]
    /// The entries of the outbox's keys, as far as there are any.
    package var bases: [Entry]
    /// The watermarks of the outbox's keys, as far as there are any.
    package var watermarks: [RecordKey: WriteWatermark]
    /// Whether there are entries with ``Entry/needsRefresh``.
    package var needsRefresh: Bool
    /// The rejected writes that the user has not retried or discarded, oldest first.
    package var rejections: [RejectionPlace]
    /// Whether the disk was empty before this start. No other device can have the same name in that case.
    package var isNew: Bool

    /// - Parameter isNew: whether the disk was empty; `nil` derives it from the state.
    package init(
        state: SyncState, outbox: [OutboxRow] = [], bases: [Entry] = [], watermarks: [RecordKey: WriteWatermark] = [:],
        needsRefresh: Bool = false, rejections: [RejectionPlace] = [], isNew: Bool? = nil
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
