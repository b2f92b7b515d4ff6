import FreshetWire

/// Decides which responses must state the device's last decided write.
struct WatermarkRule: Sendable {
    private let outbox: Outbox
    private let state: SyncState
    private let lastSentNumber: Int64
    private let isNameRefused: Bool

    init(_ local: LocalState, _ sender: Sender) {
        outbox = local.outbox
        state = local.sync
        lastSentNumber = sender.lastSentNumber
        isNameRefused = sender.isNameRefused
    }

    /// Returns the device's name, for a request whose response must state it; `nil` where no write of `keys` is in flight, and while
    /// the server refuses the name.
    func client(for keys: some Sequence<RecordKey>) -> ClientIdentifier? {
        guard !isNameRefused else { return nil }
        return keys.contains { outbox.keys[$0]?.needsWatermark(in: state.epoch, lastSentNumber: lastSentNumber) ?? false }
            ? state.client : nil
    }

    /// As ``client(for:)``, for a response on any key.
    var client: ClientIdentifier? { client(for: outbox.keys.keys) }
}
