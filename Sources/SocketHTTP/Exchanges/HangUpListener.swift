/// Receives the disconnects of many exchanges' peers in one object; see `Exchange.onHangUp(tell:_:)`.
public protocol HangUpListener: AnyObject, Sendable {
    /// Called when the peer of the exchange with this number has disconnected or ended its input. It runs on the event
    /// loop and must not block.
    func peerHungUp(_ number: UInt64)
}
