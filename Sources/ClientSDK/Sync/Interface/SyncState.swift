package import FreshetWire

/// The small row that a device stores with its entries and its outbox. Only ``StateChange`` within transactions changes it.
package struct SyncState: Hashable, Sendable {
    /// Whether all entries have been confirmed since the last reset.
    package enum RevalidationPhase: Int64, Hashable, Sendable {
        /// All are confirmed: an entry's pass is the state's, and the feed keeps it up to date.
        case complete = 0
        /// The feed is being read from the start; entries that it does not bring are evicted at its end.
        case fromStart = 1
        /// The cached keys are being read page by page.
        case ofCachedKeys = 2
    }

    /// The device's name in the namespace.
    package var client: ClientIdentifier
    /// The number of the next write. It never decreases: a number names its write in every history.
    package var nextNumber: Int64
    /// The id of the next write.
    package var nextWriteID: Int64
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
    package var revalidation: RevalidationPhase
    /// The settings that were followed up to ``cursor``. If they differ at the next start, all entries are verified.
    package var scope: String
    /// The part of the namespace of which this device has held all records at some time, and has reported none missing since; `nil`
    /// before the first complete copy. Its records may be old: ``completeAt`` and ``revalidation`` say so.
    package var whole: ChangeFilter?
    /// The latest position at which this device has seen a record outside of what it follows, unless ``cursor`` is past it; `nil`
    /// for none. The device keeps no such record, so this keeps a later read of it from going back.
    package var floor: Cursor?
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
    /// The principal to whom the entries and the writes belong, as the app names it; `nil` for none.
    package var principal: String?

    /// The state of a new device.
    package init(client: ClientIdentifier) {
        self.client = client
        nextNumber = 1
        nextWriteID = 1
        pass = 1
        revalidation = .complete
        scope = ""
        mustReconcile = false
        droppedRejections = 0
    }

    /// Whether a device in this state can continue in a history that shares its beginning: it knows all up to its position. In the middle
    /// of several pages it does not: a page leaves out a change whose replacement comes later, and that one may be lost.
    var canContinue: Bool {
        revalidation == .complete && completeAt != nil && cursor.map { $0.epoch == epoch && $0.goal == nil } ?? false
    }

    /// Whether the device has held all records of the collection that the filter matches; false if it matches none.
    package func isWhole(_ collection: String, in filter: ChangeFilter) -> Bool {
        guard let whole, let collection = try? ChangeFilter(collections: [collection]), let part = filter.intersection(collection) else {
            return false
        }
        return whole.includes(part)
    }

    /// Returns the changes after which the feed is read again from its start, in another pass.
    func withoutPosition(_ settings: SyncSettings) -> [StateChange] {
        [.pass(pass + 1), .cursor(nil), .revalidation(settings.following == .everything ? .fromStart : .ofCachedKeys)]
    }

    /// Returns the changes after which the device holds no record.
    func withoutRecords(_ settings: SyncSettings) -> [StateChange] { withoutPosition(settings) + [.whole(nil)] }

    package mutating func apply(_ change: StateChange) {
        switch change {
        case .nextNumber(let number): nextNumber = number
        case .nextWriteID(let number): nextWriteID = number
        case .epoch(let epoch): self.epoch = epoch
        case .cursor(let cursor):
            lostCursor = cursor == nil ? self.cursor ?? lostCursor : nil
            self.cursor = cursor
            if cursor == nil { completeAt = nil }
        case .completeAt(let time): completeAt = time
        case .pass(let pass): self.pass = pass
        case .revalidation(let revalidation): self.revalidation = revalidation
        case .scope(let scope): self.scope = scope
        case .whole(let filter): whole = filter
        case .floor(let position): floor = position
        case .mustReconcile(let must): mustReconcile = must
        case .droppedRejections(let count): droppedRejections = count
        case .store(let store): self.store = store
        case .renamesAfter(let number): renamesAfter = number
        case .client(let client):
            self.client = client
            renamesAfter = nil
        case .principal(let principal): self.principal = principal
        }
    }
}
