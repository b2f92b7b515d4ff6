import Synchronization

/// What is asked of a loop from outside.
enum LoopMessage: Sendable {
    case answer(Connection, Ticket, Answer)
    case unanswered(Connection, Ticket)
    /// Answers to exchanges whose right is taken and whose waits are to be ended.
    case fanOut([Exchange], EncodedResponse)
    case streamBytes(Connection, UInt32, [UInt8])
    case broadcast([ResponseStream.Recipient], chunk: [UInt8], plain: [UInt8], reserved: Int)
    case streamEnd(Connection, Ticket, StreamEnding)
    case adopt(Int32, PeerAddress, ServerContext, isRefused: Bool)
    case perform(@Sendable (EventLoop) -> Void)
}

/// Messages to one loop from any thread, taken in batches: the first of a batch wakes the loop, the others ride along.
struct Mailbox: ~Copyable, Sendable {
    // Not private: Swift 6.3.1 fails to compile a `Mutex` over a type that is private to this one.
    struct Content {
        var messages: [LoopMessage] = []
        var isWakeUpDue = false
    }

    private let content = Mutex(Content())

    /// Adds a message; returns true where the loop has to be woken.
    func add(_ message: consuming LoopMessage) -> Bool {
        let message = message
        return content.withLock { content in
            content.messages.append(message)
            defer { content.isWakeUpDue = true }
            return !content.isWakeUpDue
        }
    }

    /// Swaps the messages for `batch`, which is empty and lends its memory to the next ones.
    func take(into batch: inout [LoopMessage]) {
        content.withLock { swap(&$0.messages, &batch) }
    }

    /// The wake-up has come: the next message needs another.
    func acknowledgeWakeUp() {
        content.withLock { $0.isWakeUpDue = false }
    }
}
