/// The lowest rate at which a request's body has to arrive, or an answer has to be accepted; needs no clock.
///
/// A transfer is first checked after a time of grace. At each check the bytes that have passed since the last one earn
/// the transfer the time that they would take at the lowest rate, at most as much as the grace; then it is checked
/// again. So a pause is bounded however much was transferred earlier, a transfer at the lowest rate may last as long as
/// it has to, and one below that rate ends, however regularly its bytes arrive.
struct MinimumRate: Sendable {
    /// 1 or more.
    let bytesPerSecond: Int
    /// In ticks.
    let grace: UInt32
    let ticksPerSecond: Int

    /// The ticks until the next check; `nil` if the transfer is too slow.
    ///
    /// - Parameter bytes: the bytes that have passed since the last check.
    func nextLook(after bytes: Int) -> UInt32? {
        let ticks = Double(bytes) * Double(ticksPerSecond) / Double(max(1, bytesPerSecond))
        return ticks >= 1 ? UInt32(min(ticks, Double(grace))) : nil
    }
}
