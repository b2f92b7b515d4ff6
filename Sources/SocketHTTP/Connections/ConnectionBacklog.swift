/// The data that a connection has to keep between events, created when there is some: most connections, most of the
/// time, have none, and a waiting one must stay small.
final class ConnectionBacklog {
    /// An answer that was given before its turn.
    struct HeldResponse {
        let slot: RequestSlot
        let answer: QueuedResponse
        /// The pieces that a stream has written since.
        var written: [[UInt8]] = []
        var ending: StreamEnding?

        /// Calls the closure with each array that the answer keeps.
        func forEachPiece(_ body: ([UInt8]) -> Void) {
            switch answer {
            case .response(let response): body(response.body)
            case .encoded(let encoded): body(encoded.bytes)
            case .stream(let head): body(head)
            }
            for piece in written { body(piece) }
        }
    }

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
    /// Bytes behind the blocked request, read and not parsed.
    var input: [UInt8] = []
    var held: [HeldResponse] = []
    var output = OutputQueue()
    var drainListeners: [DrainListener] = []
    /// Bytes of the body received since the last check of its rate; while an answer is sent, the count that the peer
    /// had accepted at that check.
    var transferred = 0
    /// Whether a client waits for `100 Continue` behind pending answers.
    var owesContinue = false

    /// Whether more input could only be queued here.
    var isStalled: Bool { blocked != nil || !input.isEmpty || !output.isEmpty }
    /// Bytes of requests that no handler has yet.
    var inputBytes: Int { (parser?.heldBytes ?? 0) + (blocked?.body.count ?? 0) + input.count }
    /// Bytes of answers that are not sent.
    var outputBytes: Int {
        var count = output.count
        for answer in held { answer.forEachPiece { count += $0.count } }
        return count
    }
    var isEmpty: Bool { parser == nil && held.isEmpty && drainListeners.isEmpty && !owesContinue && !isStalled }
}
