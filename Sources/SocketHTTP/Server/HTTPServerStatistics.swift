/// Counts since a server's start, and the connections open now. They are read without a lock, so one count may be ahead
/// of another by the requests of a moment.
public struct HTTPServerStatistics: Sendable, Equatable {
    /// Connections open now.
    public var connectionsOpen = 0
    /// Connections accepted, the refused ones included.
    public var connectionsAccepted = 0
    /// Connections answered `503` because `Limits.connections` were open.
    public var connectionsRefused = 0
    /// Connections refused because `Limits.connectionsPerAddress` of their address were open.
    public var connectionsRefusedByAddress = 0
    /// Requests that passed the parser.
    public var requests = 0
    /// Answers begun, to refused requests too.
    public var responses = 0
    /// Answers to bytes that did not pass the parser, or not within the limits, and to requests whose bodies were not received.
    public var requestsRefused = 0
    /// Connections dropped because the peer did not read.
    public var slowReadersDropped = 0
    /// Unfinished requests answered `503` because `Limits.requestMemory` was used up, among ``requestsRefused``.
    public var requestsShed = 0
    /// Connections dropped because `Limits.answerMemory` was used up, among ``slowReadersDropped``.
    public var answersShed = 0
    /// Bytes kept now of requests that are being received, and of large bodies that are being handled.
    public var requestBytes = 0
    /// Bytes kept now of answers that wait to be sent.
    public var answerBytes = 0
    /// Bytes received.
    public var bytesIn = 0
    /// Bytes that the kernel took to send.
    public var bytesOut = 0
    /// Requests among ``requests`` whose head was already known, so that they were not parsed; see
    /// `Request.onRepeat(_:)`.
    public var requestsRecognised = 0
    /// System calls to receive bytes.
    public var receiveCalls = 0
    /// System calls to send bytes.
    public var sendCalls = 0
    /// System calls that change the events watched for a connection; the call that begins to watch it is not counted.
    public var watchCalls = 0
    /// Completed handshakes of encrypted connections.
    public var handshakes = 0
    /// Encrypted connections closed because a handshake or a later record broke the rules, or the peers had no protocol in common.
    public var failedHandshakes = 0
    /// Connections closed at their first bytes since their address began more handshakes than `Limits.handshakesPerAddress`.
    public var handshakesRefused = 0
}
