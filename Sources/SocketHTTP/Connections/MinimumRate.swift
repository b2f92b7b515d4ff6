/// The lowest rate at which a request's body has to come, or an answer has to be taken; decided without a clock.
///
/// A transfer is looked at after a time of grace. The bytes that have passed since the last look earn it the time that they would take at the
/// lowest rate, at most as much as the grace; then it is looked at again. So a pause is bounded however much came before it, a transfer at
/// the lowest rate may last as long as it has to, and one below it ends, however regularly its bytes come.
struct MinimumRate: Sendable {
    /// 1 or more.
    let bytesPerSecond: Int
    /// In ticks.
    let grace: UInt32
    let ticksPerSecond: Int

    /// In how many ticks to look again; `nil` where the transfer is too slow.
    ///
    /// - Parameter bytes: those that have passed since the last look.
    func nextLook(after bytes: Int) -> UInt32? {
        let ticks = Double(bytes) * Double(ticksPerSecond) / Double(max(1, bytesPerSecond))
        return ticks >= 1 ? UInt32(min(ticks, Double(grace))) : nil
    }
}
