import Synchronization

/// A message to a loop, from any thread.
enum LoopMessage: Sendable {
    case answer(Connection, RequestSlot, QueuedResponse)
    case unanswered(Connection, RequestSlot)
    /// Answers to exchanges whose right is taken and whose waits are to be ended.
    case fanOut([Exchange], EncodedResponse)
    case streamBytes(Connection, UInt32, [UInt8])
    case broadcast([ResponseStream.Recipient], chunk: [UInt8], plain: [UInt8], reserved: Int)
    /// Calls the closure once the connection has at most `limit` bytes unsent.
    case awaitDrain(Connection, limit: Int, @Sendable () -> Void)
    case streamEnd(Connection, RequestSlot, StreamEnding)
    case adopt(Int32, PeerAddress, UInt8, ServerContext, refusal: Connection.Refusal?)
    case perform(@Sendable (EventLoop) -> Void)
}

/// Messages to one loop from any thread, taken in batches. Only the first message that arrives while the loop sleeps
/// has to wake it. Later ones, and those that arrive while the loop is awake, need no wake-up.
struct Mailbox: ~Copyable, Sendable {
    // Not private: Swift 6.3.1 fails to compile a `Mutex` over a type that is private to this one.
    struct Content {
        var messages: [LoopMessage] = []
        var isLoopAsleep = false
    }

    private let content = Mutex(Content())

    /// Adds a message; returns true if the loop has to be woken.
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

    /// Marks the loop as about to sleep, so that the next message wakes it; false if a message is already queued.
    func fallAsleep() -> Bool {
        content.withLock { content in
            content.isLoopAsleep = content.messages.isEmpty
            return content.isLoopAsleep
        }
    }

    /// Marks the loop as awake, whatever woke it.
    func wakeUp() {
        content.withLock { $0.isLoopAsleep = false }
    }
}
