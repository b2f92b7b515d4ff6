internal import FreshetPlatform
package import FreshetWire

/// An event for a ``SyncMachine``. The edge hands events in one at a time.
package enum SyncEvent: Hashable, Sendable {
    /// A merge closure of this name can be called until the process ends. Comes before ``started(_:)`` or at any time
    /// after it. Writes that are to be merged wait for their closure.
    case registered(MergeName)
    /// The content of the disk, once, before all events but ``registered(_:)``. The views of keys with pending writes
    /// are published at once.
    case started(PersistedState)
    /// The user writes. Answered with ``CallResult/accepted(_:)`` once the row is on disk, otherwise with ``CallResult/failed(_:)``.
    case set(SetRequest)
    /// The user discards a rejected write. Answered with ``CallResult/discarded`` once it is off the disk, otherwise with
    /// ``CallResult/failed(_:)``.
    case discard(LocalWriteID, CallerID)
    /// The user requests the server's present value of some keys. Answered with ``CallResult/views(_:)`` or
    /// ``CallResult/failed(_:)``.
    case fetch(FetchRequest)
    /// The user waits until everything on the device is verified as of this event. Answered with ``CallResult/verified``, or with
    /// ``CallResult/failed(_:)`` by a stop or a clear.
    case verify(CallerID)
    /// The user lists a collection. Answered with ``CallResult/listed(held:read:)`` or ``CallResult/failed(_:)``.
    case list(ListRequest)
    /// The caller no longer waits and gets no result. Its reads continue for other callers.
    case abandon(CallerID)
    /// The transaction is on disk. `skipped` lists the indices within ``DiskTransaction/entries`` of operations that had no effect.
    case committed(TransactionID, skipped: [Int])
    /// Nothing of the transaction is on disk.
    case commitFailed(TransactionID, DiskFailure)
    /// The answer to ``SyncAction/loadCachedKeys(_:)``: the keys in order; empty when there are no more.
    case cachedKeys(CachedKeyQuery, [CachedKey])
    /// The disk could not be read for ``SyncAction/loadCachedKeys(_:)``; the machine asks again after a back-off.
    case cachedKeysFailed(CachedKeyQuery, DiskFailure)
    /// The disk evicted these entries for want of room; ``SyncMachine/mustKeep(_:)`` was false and
    /// ``Entry/isEvictable(_:)`` true of each.
    case evicted([RecordKey])
    /// The reply to a request, with its `Freshet-Last-Write` and `Freshet-Store`; `nil` where it had none. `age` is for how many
    /// milliseconds at most a shared cache had kept the reply when it answered.
    case replied(RequestID, Reply, lastWrite: Int64? = nil, store: StoreIdentifier? = nil, age: Int64 = 0)
    /// The answer to ``SyncAction/merge(_:)``, with the generation of the request.
    case merged(LocalWriteID, Resolution, generation: Int64 = 0)
    /// The deadline of ``SyncAction/schedule(at:)`` has passed. An early or a late event does no harm.
    case timer
    /// The device woke from sleep or the network path changed: reconnect and catch up at once.
    case wake
    /// A log-out, switch of account or change of schema: remove everything, or, with `keepsOutbox`, all records and no
    /// write. Answered with ``CallResult/cleared`` once the disk has done it. The disk then belongs to `principal`, unless
    /// writes were kept.
    case clear(newClient: ClientIdentifier, keepsOutbox: Bool = false, principal: String? = nil, CallerID)
    /// Stops the machine: it cancels its requests and fails waiting callers with ``SyncFailure/stopped``. It accepts
    /// no further events.
    case stop
}

extension Entry {
    /// Whether the query selects the entry.
    package func isSelected(by selection: CachedKeyQuery.Selection) -> Bool {
        switch selection {
        case .before(let pass): self.pass < pass
        case .needingRefresh: needsRefresh
        case .collection(let name): ByteIdentity.areEqual(key.collection, name)
        }
    }
}
