/// The limits of one server. A client that exceeds one receives the status named there, where an answer is still
/// possible.
public struct Limits: Sendable {
    /// Bytes of the field lines of one request, and again of its trailers: `431`.
    public var headerBytes: Int
    /// Bytes of a request target: `414`.
    public var targetBytes: Int
    /// Bytes of a request body after chunked decoding: `413`.
    public var bodyBytes: Int
    /// Bytes of requests that may be in memory at once, of all connections: those that are being received, and bodies
    /// above 64 KiB that are being handled. Beyond this the unfinished ones that have gone longest without progress are
    /// answered `503`, those above 64 KiB first.
    public var requestMemory: Int
    /// Bytes of answers that may wait to be sent at once, of all connections; bytes that several connections wait for
    /// count once. Beyond this the connections whose peers have gone longest without accepting any are dropped.
    public var answerMemory: Int
    /// Connections open at once. Further ones are answered `503` with `Retry-After` and closed; where even such refusals
    /// pile up, accepting pauses and the kernel's backlog keeps the rest.
    public var connections: Int
    /// Connections that one client may have open at once: an IPv4 address, or an IPv6 network of 64 bits. Further ones are answered `503`
    /// with `Retry-After` and closed; where even such refusals pile up, they are closed without an answer.
    public var connectionsPerAddress: Int
    /// Addresses that are exempt from ``connectionsPerAddress``: reverse proxies, which carry the connections of many
    /// clients. Processes of the same machine are trusted by default.
    public var trustedProxies: [AddressRange]
    /// Handshakes of encryption that one client may begin in a ``handshakePeriod``, and at once: an IPv4 address, or an IPv6 network of 64
    /// bits. Further connections are closed at their first bytes. ``trustedProxies`` are exempt.
    public var handshakesPerAddress = 20
    /// Kept to within about 0.1 s.
    public var handshakePeriod = Duration.seconds(1)
    /// The most requests of one connection in a turn of its event loop. Where several connections have further requests, they share
    /// 512 requests in a turn.
    public var requestsPerTurn: Int
    /// From a request's first byte to the end of its head: `408`. Also from accepting a connection to its first byte,
    /// which ends in a silent close.
    public var headerTimeout: Duration
    /// How long a request's body may stay behind ``bodyRate``, and so the longest pause in the body: `408`.
    public var bodyTimeout: Duration
    /// Bytes of a body that have to arrive in a second, on average: `408`. A body that keeps this rate may take any
    /// time.
    public var bodyRate: Int
    /// How long a connection may stay open between requests; then it is closed silently.
    public var idleTimeout: Duration
    /// How long a peer may stay behind ``writeRate``, and so how long it may accept nothing; then it is dropped as too slow.
    public var writeTimeout: Duration
    /// Bytes of the queued answers that a peer has to accept in a second, on average.
    public var writeRate: Int
    /// How long a connection that was answered with an error stays half-open, so that the peer can read the answer.
    public var lingerTimeout: Duration
    /// Bytes of a stream that may be unsent when its next piece is written; if more are, the peer is dropped as too slow.
    /// A piece itself may be larger: ``writeRate`` and ``answerMemory`` bound it.
    public var queuedBytes: Int

    /// Limits for a server on a trusted network or behind a proxy; the time-outs are kept to within about 0.1 s.
    public init(
        headerBytes: Int = 16 << 10,
        targetBytes: Int = 8 << 10,
        bodyBytes: Int = 1 << 20,
        requestMemory: Int = 256 << 20,
        answerMemory: Int = 512 << 20,
        connections: Int = 16_384,
        connectionsPerAddress: Int = 1_000,
        trustedProxies: [AddressRange] = AddressRange.loopback,
        requestsPerTurn: Int = 64,
        headerTimeout: Duration = .seconds(10),
        bodyTimeout: Duration = .seconds(30),
        bodyRate: Int = 1 << 10,
        idleTimeout: Duration = .seconds(75),
        writeTimeout: Duration = .seconds(30),
        writeRate: Int = 1 << 10,
        lingerTimeout: Duration = .seconds(2),
        queuedBytes: Int = 256 << 10
    ) {
        self.headerBytes = headerBytes
        self.targetBytes = targetBytes
        self.bodyBytes = bodyBytes
        self.requestMemory = requestMemory
        self.answerMemory = answerMemory
        self.connections = connections
        self.connectionsPerAddress = connectionsPerAddress
        self.trustedProxies = trustedProxies
        self.requestsPerTurn = requestsPerTurn
        self.headerTimeout = headerTimeout
        self.bodyTimeout = bodyTimeout
        self.bodyRate = bodyRate
        self.idleTimeout = idleTimeout
        self.writeTimeout = writeTimeout
        self.writeRate = writeRate
        self.lingerTimeout = lingerTimeout
        self.queuedBytes = queuedBytes
    }
}
