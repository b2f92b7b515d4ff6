package import FreshetWire

/// The reason why there was no response.
package enum TransportFailure: Error, Hashable, Sendable {
    /// No address, no route, or connection refused: the request was not sent. Check the URL and the network.
    case unreachable(String)
    /// The server's certificate is not trusted, or its key not pinned: nothing was sent.
    case untrusted(String)
    /// The connection broke or the time was over. The request may have arrived.
    case interrupted(String)
    /// The watchdog of the machine fired: no response within hold and grace.
    case watchdog
    /// Something other than a Freshet server answered: a proxy, the login page of a network, a firewall. The request
    /// may have arrived.
    case intercepted(InterceptedResponse)
    /// A server of another store than the device's answered; `nil` for a server that does not state its store.
    case otherStore(StoreIdentifier?, expected: StoreIdentifier)

    /// The minimum wait before the next attempt, in milliseconds, where the answer stated one.
    var retryAfter: Int64? { if case .intercepted(let response) = self { response.retryAfter } else { nil } }
}
