/// What an exchange is answered with.
enum Answer: Sendable {
    case response(Response)
    case encoded(EncodedResponse)
    /// A stream's head, all but its last line; bytes and an ending follow.
    case stream(head: [UInt8])
}

/// How a stream ends.
enum StreamEnding: Sendable {
    /// Its writer said so.
    case finished
    /// Its writer let go of it: the client must see that something is missing.
    case abandoned
}
