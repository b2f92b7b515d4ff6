/// What a connection has to keep between events, made when there is something to keep: most connections, most of the time,
/// have nothing, and a waiting one must stay small.
final class ConnectionBacklog {
    /// An answer that came before its turn.
    struct HeldAnswer {
        let ticket: Ticket
        let answer: Answer
        /// What a stream has written since.
        var written: [[UInt8]] = []
        var ending: StreamEnding?

        /// Calls the closure with each array that it keeps.
        func forEachPiece(_ body: ([UInt8]) -> Void) {
            switch answer {
            case .response(let response): body(response.body)
            case .encoded(let encoded): body(encoded.bytes)
            case .stream(let head): body(head)
            }
            for piece in written { body(piece) }
        }
    }

    /// A writer that goes on when the peer has taken enough.
    struct DrainListener {
        /// The most bytes that may be unsent then.
        let limit: Int
        let action: @Sendable () -> Void
    }

    /// Stands in the middle of a request.
    var parser: RequestParser?
    /// A request that has to wait for those before it.
    var blocked: ParsedRequest?
    /// Bytes behind it, read and not parsed.
    var input: [UInt8] = []
    var held: [HeldAnswer] = []
    var output = OutputQueue()
    var drainListeners: [DrainListener] = []
    /// Bytes of the body that have come since its rate was last looked at; while an answer is sent, how many the peer had taken then.
    var transferred = 0
    /// A client waits for `100 Continue` behind answers that come first.
    var owesContinue = false

    /// Whether reading would only add to what waits here.
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
