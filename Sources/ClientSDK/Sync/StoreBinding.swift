import FreshetWire

/// To which store the device belongs, and whether an answer is from that one.
///
/// Judged before anything else looks at the answer: nothing of another store's is stored, and no write leaves for it.
struct StoreBinding: Hashable, Sendable {
    enum Judgment: Hashable, Sendable {
        /// It may be from the device's store.
        case taken
        /// It is, and the device belongs to this store from now on.
        case binds(StoreIdentifier)
        case refused(TransportFailure)
    }

    /// As it is on disk, or on its way there.
    private var store: StoreIdentifier?

    init(_ store: StoreIdentifier? = nil) { self.store = store }

    /// - Parameter found: what the answer says; a server of an earlier version says nothing, nor does what stands between.
    mutating func judge(_ reply: Reply, from found: StoreIdentifier?, knownEpoch: Epoch?, _ settings: SyncSettings) -> Judgment {
        guard let found else {
            // An epoch is never given twice, so the history that the device follows is its own store's.
            guard let store, let epoch = reply.epoch, epoch != knownEpoch, !settings.adoptsStores else { return .taken }
            return .refused(.otherStore(nil, expected: store))
        }
        guard found != store else { return .taken }
        if let store, !settings.adoptsStores { return .refused(.otherStore(found, expected: store)) }
        store = found
        return .binds(found)
    }

    /// The disk did not take it: the next answer binds.
    mutating func notStored(_ stored: StoreIdentifier?) { store = stored }
}
