package import FreshetWire

/// What can happen to a ``SyncMachine``. The edge hands events in one at a time.
package enum SyncEvent: Hashable, Sendable {
    /// The first event, once: what the disk holds. The views of keys with pending writes are published at once.
    case started(PersistedState)
    /// The user writes. Answered with ``Answer/accepted(_:)`` once the row is on disk, otherwise with ``Answer/failed(_:)``.
    case set(SetRequest)
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
    /// What came back for a request, and what its `Freshet-Last-Write` said; `nil` where it had none.
    case replied(RequestID, Reply, lastWrite: Int64? = nil)
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
    /// The disk's row of the key now, if there is one.
    package var base: Entry?

    package init(token: Token, key: RecordKey, operation: WriteOperation, policy: ConflictPolicy = .lastWriterWins, base: Entry?) {
        self.token = token
        self.key = key
        self.operation = operation
        self.policy = policy
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
    /// At least one, each key once.
    package var items: [Item]
    /// Whether the answer must be to a request sent after this call; otherwise one that is under way already will do.
    package var mustBeNew: Bool

    package init(token: Token, items: [Item], mustBeNew: Bool = false) {
        self.token = token
        self.items = items
        self.mustBeNew = mustBeNew
    }
}

/// Which held keys the machine wants to know of: those whose rows have a lower pass, after a key, in order of the keys.
package struct HeldQuery: Hashable, Sendable {
    /// Rows with a lower pass than this.
    package var pass: Int64
    /// Only keys after this one, in the order of ``RecordKey``.
    package var after: RecordKey?
    package var limit: Int
    /// As of a ``RequestID``.
    package var generation: Int64

    package init(pass: Int64, after: RecordKey?, limit: Int, generation: Int64 = 0) {
        self.pass = pass
        self.after = after
        self.limit = limit
        self.generation = generation
    }
}

/// A row of the disk without its value.
package struct HeldKey: Hashable, Sendable {
    package var key: RecordKey
    package var epoch: Epoch
    package var revision: Revision
    /// Whether the row says that there is no record.
    package var isAbsent: Bool

    package init(key: RecordKey, epoch: Epoch, revision: Revision, isAbsent: Bool) {
        self.key = key
        self.epoch = epoch
        self.revision = revision
        self.isAbsent = isAbsent
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
    /// No closure of this name is registered (any more): the write is rejected.
    case unavailable
}
