import FreshetSocketHTTP

/// A reader that waits in a feed of this server.
enum FeedReader: Sendable {
    case poll(Exchange)
    case stream(EventStream)

    var exchange: Exchange? {
        if case .poll(let exchange) = self { exchange } else { nil }
    }

    var stream: EventStream? {
        if case .stream(let stream) = self { stream } else { nil }
    }
}

extension FeedRegistry.Entry: DisconnectListener where Reader == FeedReader {
    func peerDisconnected(_ number: UInt64) { cancel(WaiterTicket(number: number)) }
}
