import FreshetWire

/// What one part of the machine wants done by the others.
enum Effect: Sendable {
    case store(Intent)
    case reset(Epoch?, forgets: Bool, because: String)
    /// The server is there again after it was not: what failed for want of it need not wait on.
    case regainedContact
    /// The server took writes: a feed that waits after a failure need not wait on.
    case reachedServer
}

/// Which responses must state the device's last decided write.
struct WatermarkRule: Sendable {
    private let outbox: Outbox
    private let state: SyncState
    private let sentThrough: Int64

    init(_ local: LocalState, _ sender: Sender) {
        outbox = local.outbox
        state = local.sync
        sentThrough = sender.sentThrough
    }

    /// The device's name, for a request whose response must state it; `nil` where no write of `keys` is under way.
    func client(for keys: some Sequence<RecordKey>) -> ClientIdentifier? {
        keys.contains { outbox.keys[$0]?.needsWatermark(in: state.epoch, sentThrough: sentThrough) ?? false } ? state.client : nil
    }

    /// As ``client(for:)``, for a response on any key.
    var client: ClientIdentifier? { client(for: outbox.keys.keys) }
}
