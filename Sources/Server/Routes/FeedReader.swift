import FreshetSocketHTTP

/// A reader that waits in a feed of this server.
enum FeedReader: Sendable {
    /// `session` is `nil` on a server that is open to all; `turn` is that of the request, and `nil` if no shared cache may keep
    /// the response (``EdgeCaching``).
    case poll(Exchange, session: AccessSession?, turn: UInt32?)
    case stream(EventStream)

    var exchange: Exchange? {
        if case .poll(let exchange, _, _) = self { exchange } else { nil }
    }

    var turn: UInt32? {
        if case .poll(_, _, let turn) = self { turn } else { nil }
    }

    var session: AccessSession? {
        switch self {
        case .poll(_, let session, _): session
        case .stream(let stream): stream.session
        }
    }

    var stream: EventStream? {
        if case .stream(let stream) = self { stream } else { nil }
    }
}

extension FeedRegistry.Entry: DisconnectListener where Reader == FeedReader {
    func peerDisconnected(_ number: UInt64) { cancel(WaiterID(number: number)) }
}
