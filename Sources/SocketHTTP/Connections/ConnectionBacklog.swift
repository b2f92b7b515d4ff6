/// The data that a connection has to keep between events, created when there is some: most connections, most of the
/// time, have none, and a waiting one must stay small.
final class ConnectionBacklog {
    /// A writer that resumes when the peer has accepted enough.
    struct DrainListener {
        /// The most bytes that may be unsent when the writer resumes.
        let limit: Int
        let action: @Sendable () -> Void
    }

    /// The parser of an incomplete request.
    var parser: RequestParser?
    /// A request that has to wait for earlier ones.
    var blocked: ParsedRequest?
    /// Bytes behind the blocked or the unadmitted request, read and not parsed.
    var input: [UInt8] = []
    /// The head of a request whose body is received only if its route admits it, which is yet to decide.
    var unadmitted: RequestHead?
    /// The connection's last answer, a refusal, which waits for the one before it.
    var refusal: (slot: RequestSlot, answer: QueuedResponse)?
    var output = OutputQueue()
    var drainListeners: [DrainListener] = []
    /// Bytes of the body received since the last check of its rate; while an answer is sent, the count that the peer
    /// had accepted at that check.
    var transferred = 0
    /// Whether a client waits for `100 Continue` behind pending answers.
    var owesContinue = false

    /// Whether an encrypted input has ended behind the bytes that are kept here.
    var endsAfterInput = false

    /// Whether more input could only be queued here.
    var isStalled: Bool { blocked != nil || unadmitted != nil || !input.isEmpty || !output.isEmpty }
    /// Bytes of requests that no handler has yet. The parser counts the unadmitted head, as that of the body that it receives.
    var inputBytes: Int {
        let waiting = blocked.map { $0.head.bytes.count + $0.body.count } ?? 0
        return (parser?.heldBytes ?? 0) + waiting + input.count
    }
    var isEmpty: Bool { parser == nil && refusal == nil && drainListeners.isEmpty && !owesContinue && !endsAfterInput && !isStalled }
}
