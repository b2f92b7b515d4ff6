/// How many handshakes of encryption each address has begun lately, and whether it may begin another; needs no sockets.
///
/// A bucket of tokens for each address, in fractions of a handshake, so that no refill is rounded. Bounded: the addresses
/// that were not seen for longest are forgotten, and begin again. O(1).
struct HandshakeRates {
    private struct Bucket {
        /// Handshakes that are not refilled yet, in fractions of `period`.
        var used: Int
        /// The tick of the last refill.
        var tick: UInt32
    }

    /// The most addresses in each of the two generations.
    private static let most = 32_768

    /// Handshakes in a period; also those that may begin at once.
    private let count: Int
    /// Ticks.
    private let period: Int
    private var younger: [IPAddress: Bucket] = [:]
    private var older: [IPAddress: Bucket] = [:]

    init(_ limits: Limits) { self.init(count: limits.handshakesPerAddress, period: Int(Clock.ticks(limits.handshakePeriod)) - 1) }

    init(count: Int, period: Int) { (self.count, self.period) = (min(max(1, count), 1 << 30), min(max(1, period), 1 << 30)) }

    /// The number of addresses that are remembered.
    var addresses: Int { younger.count + older.count }

    /// Counts a handshake, unless it is one too many.
    mutating func admit(_ address: IPAddress, at tick: UInt32) -> Bool {
        var bucket = younger[address] ?? older[address] ?? Bucket(used: 0, tick: tick)
        // Loops read the clock by themselves, so one may be a tick behind another.
        if tick.isAfter(bucket.tick) {
            let refilled = Int(tick &- bucket.tick).multipliedReportingOverflow(by: count)
            bucket = Bucket(used: refilled.overflow ? 0 : max(0, bucket.used - refilled.partialValue), tick: tick)
        }
        guard bucket.used + period <= count * period else { return false }
        bucket.used += period
        younger[address] = bucket
        if younger.count > Self.most { (older, younger) = (younger, [:]) }
        return true
    }
}
