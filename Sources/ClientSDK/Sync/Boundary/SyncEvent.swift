package import FreshetWire

/// What can happen to a ``SyncMachine``. The edge hands events in one at a time.
package enum SyncEvent: Hashable, Sendable {
    /// A merge closure of this name can be called from now on, until the process ends; before ``started(_:)`` or at any time after it. Writes that
    /// are to be merged wait for theirs.
    case registered(MergeName)
    /// Once, before all but ``registered(_:)``: what the disk holds. The views of keys with pending writes are published at once.
    case started(PersistedState)
    /// The user writes. Answered with ``Answer/accepted(_:)`` once the row is on disk, otherwise with ``Answer/failed(_:)``.
    case set(SetRequest)
    /// The user gives a rejected write up. Answered with ``Answer/discarded`` once it is off the disk, otherwise with ``Answer/failed(_:)``.
    case discard(Receipt, Token)
    /// The user wants the server's value of some keys, now. Answered with ``Answer/views(_:)`` or ``Answer/failed(_:)``.
    case fetch(FetchRequest)
    /// The caller behind the token waits no longer. What it asked for goes on for the others; it gets no answer.
    case abandon(Token)
    /// The transaction is on disk. `skipped` lists the indices within ``DiskTransaction/entries`` of operations that had no effect.
    case committed(TransactionID, skipped: [Int])
    /// Nothing of the transaction is on disk.
    case commitFailed(TransactionID, DiskFailure)
    /// The answer to ``SyncAction/loadHeld(_:)``: the keys in order; empty when there are no more.
    case heldKeys(HeldQuery, [HeldKey])
    /// The disk could not be read for ``SyncAction/loadHeld(_:)``; asked again after a back-off.
    case heldKeysFailed(HeldQuery, DiskFailure)
    /// The disk let these entries go for want of room; ``SyncMachine/needs(_:)`` was false and ``Entry/mayBeEvicted(_:)`` true of each.
    case evicted([RecordKey])
    /// What came back for a request, and what its `Freshet-Last-Write` and `Freshet-Store` said; `nil` where it had none.
    case replied(RequestID, Reply, lastWrite: Int64? = nil, store: StoreIdentifier? = nil)
    /// The answer to ``SyncAction/merge(_:)``, with the generation of the request.
    case merged(Receipt, Resolution, generation: Int64 = 0)
    /// The deadline that ``SyncAction/schedule(at:)`` named has passed. An early or a late one does no harm.
    case timer
    /// The device woke from sleep or the network path changed: reconnect and catch up at once.
    case wake
    /// Log-out, account switch, change of schema: forget everything. Answered with ``Answer/cleared`` once the disk has.
    case clear(newClient: ClientIdentifier, Token)
    /// Cancel what is under way and fall silent; those who wait get ``SyncFailure/stopped``. Nothing but a new machine follows.
    case stop
}

/// A write of the user.
package struct SetRequest: Hashable, Sendable {
    package var token: Token
    package var key: RecordKey
    package var operation: WriteOperation
    package var policy: ConflictPolicy
    /// Whether an increment is to be rejected where the record is gone when it arrives, if the device shows one now.
    package var rejectsIfGone: Bool
    /// The disk's row of the key now, if there is one.
    package var base: Entry?
    /// Whether the device knows, without a row, that there is no record: it has all that it follows.
    var isKnownAbsent = false
    /// The rejected write that it takes the place of; that one leaves the disk in the same transaction.
    package var retries: Receipt?

    package init(
        token: Token, key: RecordKey, operation: WriteOperation, policy: ConflictPolicy = .lastWriterWins, rejectsIfGone: Bool = false,
        base: Entry?, retries: Receipt? = nil
    ) {
        self.retries = retries
        self.token = token
        self.key = key
        self.operation = operation
        self.policy = policy
        self.rejectsIfGone = rejectsIfGone
        self.base = base
    }
}

/// A read from the server that the user, or a miss of the cache, asks for.
package struct FetchRequest: Hashable, Sendable {
    package struct Item: Hashable, Sendable {
        package var key: RecordKey
        /// The disk's row of the key now, if there is one: it need not be sent again, and the answer may not be older.
        package var known: Entry?

        package init(key: RecordKey, known: Entry? = nil) {
            self.key = key
            self.known = known
        }
    }

    package var token: Token
    /// Each key once. A request without any asks only whether the server can be reached, as far as the device knows.
    package var items: [Item]
    /// Whether the answer must be to a request sent after this call; otherwise one that is under way already will do.
    package var mustBeNew: Bool

    package init(token: Token, items: [Item], mustBeNew: Bool = false) {
        self.token = token
        self.items = items
        self.mustBeNew = mustBeNew
    }
}

/// Which held keys the machine wants to know of, after a key, in order of the keys.
package struct HeldQuery: Hashable, Sendable {
    package enum Selection: Hashable, Sendable {
        /// Rows with a lower pass than this.
        case before(pass: Int64)
        /// Rows with ``Entry/needsRefresh``.
        case needingRefresh
    }

    package var selection: Selection
    /// Only keys after this one, in the order of ``RecordKey``.
    package var after: RecordKey?
    package var limit: Int
    /// As of a ``RequestID``.
    package var generation: Int64

    package init(_ selection: Selection, after: RecordKey?, limit: Int, generation: Int64 = 0) {
        self.selection = selection
        self.after = after
        self.limit = limit
        self.generation = generation
    }
}

extension Entry {
    /// Whether a query asks for the entry.
    package func isSelected(by selection: HeldQuery.Selection) -> Bool {
        switch selection {
        case .before(let pass): self.pass < pass
        case .needingRefresh: needsRefresh
        }
    }
}

/// A row of the disk without its value.
package struct HeldKey: Hashable, Sendable {
    package var key: RecordKey
    package var epoch: Epoch
    package var revision: Revision
    /// Whether the row has a value.
    package var hasValue: Bool

    package init(key: RecordKey, epoch: Epoch, revision: Revision, hasValue: Bool) {
        self.key = key
        self.epoch = epoch
        self.revision = revision
        self.hasValue = hasValue
    }

    package init(_ entry: Entry) {
        self.init(key: entry.key, epoch: entry.epoch, revision: entry.revision, hasValue: entry.content != nil)
    }
}

/// What the user's closure made of a conflict.
package enum Resolution: Hashable, Sendable {
    /// This value is to be stored.
    case put(Content)
    /// The record is to go.
    case delete
    /// The other's value stays; the write counts as rejected.
    case takeTheirs
}
