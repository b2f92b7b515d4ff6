package import FreshetWire

/// An event for a ``SyncMachine``. The edge hands events in one at a time.
package enum SyncEvent: Hashable, Sendable {
    /// A merge closure of this name can be called until the process ends. Comes before ``started(_:)`` or at any time
    /// after it. Writes that are to be merged wait for their closure.
    case registered(MergeName)
    /// The content of the disk, once, before all events but ``registered(_:)``. The views of keys with pending writes
    /// are published at once.
    case started(PersistedState)
    /// The user writes. Answered with ``Answer/accepted(_:)`` once the row is on disk, otherwise with ``Answer/failed(_:)``.
    case set(SetRequest)
    /// The user discards a rejected write. Answered with ``Answer/discarded`` once it is off the disk, otherwise with
    /// ``Answer/failed(_:)``.
    case discard(Receipt, Token)
    /// The user requests the server's present value of some keys. Answered with ``Answer/views(_:)`` or
    /// ``Answer/failed(_:)``.
    case fetch(FetchRequest)
    /// The caller of this token no longer waits and gets no answer. Its reads continue for other callers.
    case abandon(Token)
    /// The transaction is on disk. `skipped` lists the indices within ``DiskTransaction/entries`` of operations that had no effect.
    case committed(TransactionID, skipped: [Int])
    /// Nothing of the transaction is on disk.
    case commitFailed(TransactionID, DiskFailure)
    /// The answer to ``SyncAction/loadHeld(_:)``: the keys in order; empty when there are no more.
    case heldKeys(HeldQuery, [HeldKey])
    /// The disk could not be read for ``SyncAction/loadHeld(_:)``; the machine asks again after a back-off.
    case heldKeysFailed(HeldQuery, DiskFailure)
    /// The disk evicted these entries for want of room; ``SyncMachine/needs(_:)`` was false and
    /// ``Entry/mayBeEvicted(_:)`` true of each.
    case evicted([RecordKey])
    /// The reply to a request, with its `Freshet-Last-Write` and `Freshet-Store`; `nil` where it had none.
    case replied(RequestID, Reply, lastWrite: Int64? = nil, store: StoreIdentifier? = nil)
    /// The answer to ``SyncAction/merge(_:)``, with the generation of the request.
    case merged(Receipt, Resolution, generation: Int64 = 0)
    /// The deadline of ``SyncAction/schedule(at:)`` has passed. An early or a late event does no harm.
    case timer
    /// The device woke from sleep or the network path changed: reconnect and catch up at once.
    case wake
    /// A log-out, switch of account or change of schema: remove everything. Answered with ``Answer/cleared`` once the
    /// disk has done it.
    case clear(newClient: ClientIdentifier, Token)
    /// Stops the machine: it cancels its requests and fails waiting callers with ``SyncFailure/stopped``. It accepts
    /// no further events.
    case stop
}

/// A write of the user.
package struct SetRequest: Hashable, Sendable {
    package var token: Token
    package var key: RecordKey
    package var operation: WriteOperation
    package var policy: ConflictPolicy
    /// Whether an increment is to be rejected if the record has gone by the time that it arrives, provided that the
    /// device shows a record now.
    package var rejectsIfGone: Bool
    /// The disk's row of the key now, if there is one.
    package var base: Entry?
    /// Whether the device knows, without a row, that there is no record: its copy of the followed keys is complete.
    var isKnownAbsent = false
    /// The rejected write that this one replaces; it leaves the disk in the same transaction.
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

/// A read from the server, for the user or after a miss of the cache.
package struct FetchRequest: Hashable, Sendable {
    package struct Item: Hashable, Sendable {
        package var key: RecordKey
        /// The disk's row of the key now, if there is one: the server need not send its value again, and the response
        /// may not be older.
        package var known: Entry?

        package init(key: RecordKey, known: Entry? = nil) {
            self.key = key
            self.known = known
        }
    }

    package var token: Token
    /// Each key once. A request without keys asks only whether the server can be reached, as far as the device knows.
    package var items: [Item]
    /// Whether the response must be to a request sent after this call; otherwise one that is already in flight suffices.
    package var mustBeNew: Bool

    package init(token: Token, items: [Item], mustBeNew: Bool = false) {
        self.token = token
        self.items = items
        self.mustBeNew = mustBeNew
    }
}

/// A query for held keys after a given key, in the order of the keys.
package struct HeldQuery: Hashable, Sendable {
    package enum Selection: Hashable, Sendable {
        /// Rows with a lower pass than this.
        case before(pass: Int64)
        /// Rows with ``Entry/needsRefresh``.
        case needingRefresh
    }

    package var selection: Selection
    /// Selects only keys after this one, in the order of ``RecordKey``.
    package var after: RecordKey?
    package var limit: Int
    /// As in a ``RequestID``.
    package var generation: Int64

    package init(_ selection: Selection, after: RecordKey?, limit: Int, generation: Int64 = 0) {
        self.selection = selection
        self.after = after
        self.limit = limit
        self.generation = generation
    }
}

extension Entry {
    /// Whether the query selects the entry.
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

/// The result of the user's closure for a conflict.
package enum Resolution: Hashable, Sendable {
    /// Stores this value.
    case put(Content)
    /// Deletes the record.
    case delete
    /// Keeps the other writer's value; the write counts as rejected.
    case takeTheirs
}
