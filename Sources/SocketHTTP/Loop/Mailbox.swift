import Synchronization

/// What is asked of a loop from outside.
enum LoopMessage: Sendable {
    case answer(Connection, Ticket, Answer)
    case unanswered(Connection, Ticket)
    /// Answers to exchanges whose right is taken and whose waits are to be ended.
    case fanOut([Exchange], EncodedResponse)
    /// The answer to all of a crowd.
    case crowd(CrowdTable.Number, EncodedResponse)
    /// An answer of its own to each of a crowd.
    case eachOfCrowd(CrowdTable.Number, @Sendable () -> Response)
    case unansweredCrowd(CrowdTable.Number)
    case watchCrowd(CrowdTable.Number, any CrowdListener, UInt64)
    case streamBytes(Connection, UInt32, [UInt8])
    case broadcast([ResponseStream.Recipient], chunk: [UInt8], plain: [UInt8], reserved: Int)
    /// Call the closure once the connection has at most so many bytes unsent.
    case awaitDrain(Connection, limit: Int, @Sendable () -> Void)
    case streamEnd(Connection, Ticket, StreamEnding)
    case adopt(Int32, PeerAddress, ServerContext, refusal: Connection.Refusal?)
    case perform(@Sendable (EventLoop) -> Void)
}

/// Messages to one loop from any thread, taken in batches. Only the first that comes while the loop sleeps has to wake it: the
/// others ride along, and so does all that comes while it is awake.
struct Mailbox: ~Copyable, Sendable {
    // Not private: Swift 6.3.1 fails to compile a `Mutex` over a type that is private to this one.
    struct Content {
        var messages: [LoopMessage] = []
        var isLoopAsleep = false
    }

    private let content = Mutex(Content())

    /// Adds a message; returns true where the loop has to be woken.
    func add(_ message: consuming LoopMessage) -> Bool {
        let message = message
        return content.withLock { content in
            content.messages.append(message)
            defer { content.isLoopAsleep = false }
            return content.isLoopAsleep
        }
    }

    /// Swaps the messages for `batch`, which is empty and lends its memory to the next ones.
    func take(into batch: inout [LoopMessage]) {
        content.withLock { swap(&$0.messages, &batch) }
    }

    /// Has the next message wake the loop, which is about to sleep; false where one is there already.
    func fallAsleep() -> Bool {
        content.withLock { content in
            content.isLoopAsleep = content.messages.isEmpty
            return content.isLoopAsleep
        }
    }

    /// The loop is awake, for whatever reason.
    func wakeUp() {
        content.withLock { $0.isLoopAsleep = false }
    }
}
