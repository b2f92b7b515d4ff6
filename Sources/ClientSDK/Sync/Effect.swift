import FreshetWire

/// A request of one part of the machine to the others.
enum Effect: Sendable {
    case store(Intent)
    case reset(Epoch?, forgets: Bool, because: String)
    /// The server can be reached again: requests that failed without contact are retried at once.
    case regainedContact
    /// The server accepted writes: a feed that waits after a failure is retried at once.
    case reachedServer
}

/// Decides which responses must state the device's last decided write.
struct WatermarkRule: Sendable {
    private let outbox: Outbox
    private let state: SyncState
    private let sentThrough: Int64

    init(_ local: LocalState, _ sender: Sender) {
        outbox = local.outbox
        state = local.sync
        sentThrough = sender.sentThrough
    }

    /// Returns the device's name, for a request whose response must state it; `nil` where no write of `keys` is in flight.
    func client(for keys: some Sequence<RecordKey>) -> ClientIdentifier? {
        keys.contains { outbox.keys[$0]?.needsWatermark(in: state.epoch, sentThrough: sentThrough) ?? false } ? state.client : nil
    }

    /// As ``client(for:)``, for a response on any key.
    var client: ClientIdentifier? { client(for: outbox.keys.keys) }
}
