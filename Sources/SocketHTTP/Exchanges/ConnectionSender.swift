/// The sender of a connection's requests, as the limit of connections for each address counts it.
package enum ConnectionSender: Hashable, Sendable {
    case address(ClientAddress)
    /// A connection that is counted by no address: that of a trusted proxy, whose clients would share one, or of a Unix socket.
    /// The number is that of no other open connection.
    case connection(UInt64)
}

extension Exchange {
    /// The sender of the request.
    package var sender: ConnectionSender {
        let connection = handle.connection
        guard let address = connection.context.countedAddress(of: connection.peer) else { return .connection(connection.token) }
        return .address(ClientAddress(address: address))
    }
}
