/// What a fault does to a request or to its answer.
package enum FaultEffect: Hashable, Sendable {
    /// The request is lost: it is not handled, and the connection ends.
    case dropRequest
    /// The acknowledgement is lost: the request is handled, and then the connection ends without an answer.
    case dropReply
    /// The request is handled, and the connection ends in the middle of the answer.
    case cutReply
    /// The request is handled twice, and answered once.
    case duplicate
    /// The request is handled so many milliseconds later, or when the faults are cleared.
    case delayRequest(milliseconds: Int)
    /// The request is handled, and its answer is sent so many milliseconds later, or when the faults are cleared. A
    /// stream is not delayed.
    case delayReply(milliseconds: Int)
    /// The request is not handled, and answered with this status, as by a proxy in front. `retryAfter` is whole seconds.
    case answer(status: Int, retryAfter: Int)
    /// The request is taken and never answered; the connection stays open until the faults are cleared, and then ends.
    case freeze
    /// `401` to the device's tokens up to this generation, or up to the newest that the device has shown when the fault is armed.
    case expireToken(generation: Int64?)

    /// What a fault is called on the wire.
    package enum Name: String, CaseIterable, Sendable {
        case dropRequest = "drop-request"
        case dropReply = "drop-reply"
        case cutReply = "cut-reply"
        case duplicate
        case delayRequest = "delay-request"
        case delayReply = "delay-reply"
        case answer
        case freeze
        case expireToken = "expire-token"
    }

    /// The statuses that a fault may answer with.
    package static let statuses = 400...599
    /// The seconds of a `Retry-After`.
    package static let pauses = 0...86_400
    /// The milliseconds of a delay.
    package static let delays = 0...60_000

    package var name: Name {
        switch self {
        case .dropRequest: .dropRequest
        case .dropReply: .dropReply
        case .cutReply: .cutReply
        case .duplicate: .duplicate
        case .delayRequest: .delayRequest
        case .delayReply: .delayReply
        case .answer: .answer
        case .freeze: .freeze
        case .expireToken: .expireToken
        }
    }
}
