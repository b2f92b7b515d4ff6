/// Receives the disconnects of many exchanges' peers in one object; see `Exchange.onDisconnect(notify:_:)`.
public protocol DisconnectListener: AnyObject, Sendable {
    /// Called when the peer of the exchange with this number has disconnected or ended its input. It runs on the event
    /// loop and must not block.
    func peerDisconnected(_ number: UInt64)
}
