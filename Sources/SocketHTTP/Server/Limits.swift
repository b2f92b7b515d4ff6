/// What one server grants its clients. Whoever goes beyond is told so by the status named, where it can still be told.
public struct Limits: Sendable {
    /// Bytes of the field lines of one request, and again of its trailers: `431`.
    public var headerBytes: Int
    /// Bytes of a request target: `414`.
    public var targetBytes: Int
    /// Bytes of a request body after chunked decoding: `413`.
    public var bodyBytes: Int
    /// Connections open at once. Further ones are answered `503` with `Retry-After` and closed; where even such refusals
    /// pile up, accepting pauses and the kernel's backlog keeps the rest.
    public var connections: Int
    /// Requests of one connection that may wait for their answers at once (pipelining); at this many reading pauses.
    public var pipelinedRequests: Int
    /// Requests of one connection that are handled before the loop's other connections have their turn.
    public var requestsPerTurn: Int
    /// From a request's first byte to the end of its head: `408`. Also from accepting a connection to its first byte,
    /// which ends in a silent close.
    public var headerTimeout: Duration
    /// From the end of a request's head to the end of its body: `408`.
    public var bodyTimeout: Duration
    /// How long a connection may stay open between requests; then it is closed silently.
    public var idleTimeout: Duration
    /// How long a peer may accept nothing of an answer; then it is dropped as too slow.
    public var writeTimeout: Duration
    /// How long a connection that was answered with an error stays half-open, so that the peer can read the answer.
    public var lingerTimeout: Duration
    /// Bytes of a stream that a peer may leave unread; beyond them it is dropped as too slow.
    public var queuedBytes: Int

    /// Limits for a server on a trusted network or behind a proxy; the time-outs are kept to within about 0.1 s.
    public init(
        headerBytes: Int = 16 << 10,
        targetBytes: Int = 8 << 10,
        bodyBytes: Int = 1 << 20,
        connections: Int = 16_384,
        pipelinedRequests: Int = 16,
        requestsPerTurn: Int = 64,
        headerTimeout: Duration = .seconds(10),
        bodyTimeout: Duration = .seconds(30),
        idleTimeout: Duration = .seconds(75),
        writeTimeout: Duration = .seconds(30),
        lingerTimeout: Duration = .seconds(2),
        queuedBytes: Int = 256 << 10
    ) {
        self.headerBytes = headerBytes
        self.targetBytes = targetBytes
        self.bodyBytes = bodyBytes
        self.connections = connections
        self.pipelinedRequests = pipelinedRequests
        self.requestsPerTurn = requestsPerTurn
        self.headerTimeout = headerTimeout
        self.bodyTimeout = bodyTimeout
        self.idleTimeout = idleTimeout
        self.writeTimeout = writeTimeout
        self.lingerTimeout = lingerTimeout
        self.queuedBytes = queuedBytes
    }
}
