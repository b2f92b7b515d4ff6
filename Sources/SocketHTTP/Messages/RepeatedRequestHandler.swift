import Synchronization

/// Handles the later requests of a connection that differ from an earlier one in the value of one query parameter.
public protocol RepeatedRequestHandler: AnyObject, Sendable {
    /// Answers a request, at once or later. Called on an event loop, where it must not block.
    ///
    /// - Parameters:
    ///   - value: the parameter's value: ASCII letters, digits, `-`, `.`, `_` and `~`, at least one byte. Valid only during
    ///     the call.
    ///   - exchange: the right to answer the request.
    func handle(_ value: Span<UInt8>, _ exchange: Exchange)

    /// Whether the handler's decisions about the other parts of the request still hold. Otherwise the request is routed as
    /// any other, and the handler is released. Called on an event loop before each ``handle(_:_:)``, where it must not block.
    var isCurrent: Bool { get }
}

extension RepeatedRequestHandler {
    /// `true`: decisions that never change.
    public var isCurrent: Bool { true }
}

extension Request {
    /// Passes later requests of this connection to `handler`, without parser and router, if they consist of the same
    /// bytes except for the value of a query parameter.
    ///
    /// For a client that sends one request again and again, such as a long poll with a new cursor. The handler keeps the
    /// decisions that depend on the other parts of the head, as long as it is ``RepeatedRequestHandler/isCurrent``. This is
    /// no promise: a connection remembers one request, and none with a body. All other requests are routed as usual. To be
    /// called by the request's handler, before that returns.
    ///
    /// - Parameter parameter: the name of the parameter. Without effect if the query has no value for it.
    public func onRepeat(varying parameter: String, _ handler: any RepeatedRequestHandler) {
        guard let value = query.range(of: parameter), !value.isEmpty else { return }
        head.repetition.withLock { $0 = Repetition(value: value, handler: handler) }
    }
}

/// How later requests of a connection may differ from a request, and their handler.
struct Repetition: Sendable {
    /// The bytes of the head that may differ.
    let value: Range<Int>
    let handler: any RepeatedRequestHandler
}
