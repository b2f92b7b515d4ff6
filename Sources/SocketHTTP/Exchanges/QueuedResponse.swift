/// A response that an exchange has submitted. It is written after those of the earlier requests of its connection.
enum QueuedResponse: Sendable {
    case response(Response)
    case encoded(EncodedResponse)
    /// A stream's head, all but its last line; bytes and an ending follow.
    case stream(head: [UInt8])
}

/// How a stream ends.
enum StreamEnding: Sendable {
    /// The writer called `finish()`.
    case finished
    /// The writer was released without a call of `finish()`: the client must see that the body is incomplete.
    case abandoned
}
