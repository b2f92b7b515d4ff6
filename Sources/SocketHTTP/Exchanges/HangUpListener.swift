/// Is told that peers hung up, of many exchanges by one object; see `Exchange.onHangUp(tell:_:)`.
public protocol HangUpListener: AnyObject, Sendable {
    /// The peer of the exchange that was given this number has gone, or ended its input. It runs on the event loop and must not block.
    func peerHungUp(_ number: UInt64)
}
