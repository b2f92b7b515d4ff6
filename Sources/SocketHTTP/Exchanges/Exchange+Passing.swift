internal import FreshetPlatform

extension Exchange {
    /// How much of an answer reaches the peer.
    public enum Extent: Sendable {
        /// All of it.
        case whole
        /// Its head and half of its body, of a stream the head alone, and half of a head without a body; then the connection ends.
        case part
        /// Nothing: the connection ends instead.
        case nothing
    }

    /// Moves the right to answer to a new exchange whose answer reaches the peer in part, or late. This exchange can no
    /// longer answer.
    ///
    /// For an application that has to simulate a bad network. Bytes that the peer has not read when the connection ends
    /// may be lost.
    ///
    /// - Parameters:
    ///   - extent: how much of the answer is sent.
    ///   - delay: how long the answer waits, up to a day. A stream does not wait.
    public func passed(_ extent: Extent = .whole, after delay: Duration = .zero) -> Exchange {
        let traits: Ticket.Traits =
            switch extent {
            case .whole: []
            case .part: .isCut
            case .nothing: .isWithheld
            }
        let milliseconds = min(max(0, delay.clampedMilliseconds), 86_400_000)
        return Exchange(handle: handle.passed(adding: traits, delay: Int32(milliseconds)))
    }

    /// An exchange of the same request whose answers go nowhere. This one keeps the right to answer.
    public var muted: Exchange { Exchange(handle: ExchangeHandle(handle.connection, handle.ticket, isAnswered: true)) }
}
