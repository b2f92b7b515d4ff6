import FreshetWire

/// The store to which the device belongs, and the check that a response is from that store.
///
/// The check precedes all other handling of the response: nothing of another store is stored, and no write is sent to it.
struct StoreBinding: Hashable, Sendable {
    enum Decision: Hashable, Sendable {
        /// The response may be from the device's store.
        case accepted
        /// The response is valid, and the device belongs to this store from now on.
        case binds(StoreIdentifier)
        case refused(TransportFailure)
    }

    /// As it is on disk, or being stored.
    private var store: StoreIdentifier?

    init(_ store: StoreIdentifier? = nil) { self.store = store }

    /// - Parameter found: the store that the response states. A server of an earlier version states none, nor does a proxy.
    mutating func check(_ reply: Reply, from found: StoreIdentifier?, knownEpoch: Epoch?, _ settings: SyncSettings) -> Decision {
        guard let found else {
            // A withdrawn right removes all records from the device: only the store itself may withdraw it.
            if let store, case .problem(let problem, _, _) = reply, problem.code == .forbidden {
                return .refused(.otherStore(nil, expected: store))
            }
            // An epoch is never used twice, so a response of the history that the device follows is from its own store.
            guard let store, let epoch = reply.epoch, epoch != knownEpoch, !settings.adoptsStores else { return .accepted }
            return .refused(.otherStore(nil, expected: store))
        }
        guard found != store else { return .accepted }
        if let store, !settings.adoptsStores { return .refused(.otherStore(found, expected: store)) }
        store = found
        return .binds(found)
    }

    /// Restores the stored value after a failed transaction: the next response binds.
    mutating func notStored(_ stored: StoreIdentifier?) { store = stored }
}
