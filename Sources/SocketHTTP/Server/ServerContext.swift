import FreshetPlatform
import Logging
import Synchronization

/// The state that the loops of one server share. It does not change while the server runs, except for its counts.
final class ServerContext: Sendable {
    /// The time-outs and lowest rates of `Limits`, in ticks.
    struct TickLimits: Sendable {
        let header: UInt32
        let body: MinimumRate
        let idle: UInt32
        let write: MinimumRate
        let linger: UInt32
    }

    /// The most addresses whose handshakes are counted.
    private static let handshakeAddresses = 65_536

    let router: Router
    let limits: Limits
    let parserLimits: ParserLimits
    let ticks: TickLimits
    let logger: Logger
    /// Encrypt the connections of each listener; `nil` if they are plain.
    let layers: [(any ByteLayerSource)?]
    /// The origins whose pages may read the answers; `nil` for none.
    let crossOrigin: CrossOriginList?
    let loops: [EventLoop]
    let counters: [LoopCounters]
    private let open = Atomic<Int>(0)
    private let addresses: Mutex<AddressCounts>
    /// The handshakes of encryption that each address has begun.
    private let handshakes: Mutex<RateLimiter<IPAddress>>
    private let loopsAtWork: Atomic<Int>
    /// The large bodies that handlers have.
    let handledBytes = HandledBytes()
    private let onDrained: @Sendable () -> Void

    /// - Parameter onDrained: called once, when the last connection of the last loop is closed.
    init(
        _ router: Router, _ limits: Limits, _ logger: Logger, _ loops: [EventLoop], layers: [(any ByteLayerSource)?] = [nil],
        crossOrigin: CrossOriginList? = nil, onDrained: @escaping @Sendable () -> Void
    ) {
        self.router = router
        self.layers = layers
        self.crossOrigin = crossOrigin
        self.limits = limits
        parserLimits = ParserLimits(limits)
        self.logger = logger
        self.loops = loops
        self.onDrained = onDrained
        counters = loops.map { _ in LoopCounters() }
        loopsAtWork = Atomic(loops.count)
        addresses = Mutex(AddressCounts(limit: limits.connectionsPerAddress))
        let handshakes = Rate(Int64(limits.handshakesPerAddress), per: limits.handshakePeriod.clampedMilliseconds)
        self.handshakes = Mutex(RateLimiter(handshakes, limit: Self.handshakeAddresses))
        ticks = TickLimits(
            header: Clock.ticks(limits.headerTimeout),
            body: MinimumRate(
                bytesPerSecond: limits.bodyRate, grace: Clock.ticks(limits.bodyTimeout), ticksPerSecond: Clock.ticksPerSecond),
            idle: Clock.ticks(limits.idleTimeout),
            write: MinimumRate(
                bytesPerSecond: limits.writeRate, grace: Clock.ticks(limits.writeTimeout), ticksPerSecond: Clock.ticksPerSecond),
            linger: Clock.ticks(limits.lingerTimeout)
        )
    }

    /// Connections of all loops.
    var openConnections: Int { open.load(ordering: .relaxed) }

    /// Decides whether a client may have another connection, and counts it unless it is to be dropped.
    func connectionOpened(from peer: PeerAddress) -> AddressCounts.Decision {
        let decision = countedAddress(of: peer).map { address in addresses.withLock { $0.admit(address) } } ?? .serve
        if decision != .drop { open.add(1, ordering: .relaxed) }
        return decision
    }

    func connectionClosed(from peer: PeerAddress) {
        open.subtract(1, ordering: .relaxed)
        if let address = countedAddress(of: peer) { addresses.withLock { $0.remove(address) } }
    }

    /// Whether a client may begin a handshake now, which then counts. Trusted proxies always may.
    func mayBeginHandshake(_ peer: PeerAddress) -> Bool {
        guard let address = countedAddress(of: peer) else { return true }
        let now = SystemClock.coarseMonotonicNanoseconds / 1_000_000
        return handshakes.withLock { $0.take(1, for: address, at: now) }
    }

    /// The address that a connection is counted by; `nil` for a trusted proxy, and for a peer that has no IP address.
    func countedAddress(of peer: PeerAddress) -> IPAddress? {
        guard let address = peer.number, !limits.trustedProxies.contains(where: { $0.contains(address) }) else { return nil }
        return address.subscriber
    }

    /// Bytes of requests that are being received, and of large bodies that are being handled.
    var requestBytes: Int { counters.reduce(handledBytes.count) { $0 + $1.requestBytes.count } }

    /// Bytes of answers that wait to be sent.
    var answerBytes: Int { counters.reduce(0) { $0 + $1.answerBytes.count } }

    /// Counts a loop that has closed its last connection and left the server.
    func loopDrained() {
        guard loopsAtWork.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
        EventLoopPool.giveBack(loops)
        onDrained()
    }

    var statistics: HTTPServerStatistics {
        var sum = HTTPServerStatistics()
        sum.connectionsOpen = openConnections
        sum.requestBytes = requestBytes
        sum.answerBytes = answerBytes
        for counters in counters { counters.add(to: &sum) }
        return sum
    }
}
