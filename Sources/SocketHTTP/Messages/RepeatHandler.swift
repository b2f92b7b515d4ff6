import Synchronization

/// Handles requests whose heads are identical, byte for byte, to one that has already been parsed and routed.
public protocol RepeatHandler: AnyObject, Sendable {
    /// Answers requests that arrived together, at once or later. It is called on an event loop, where it must not
    /// block.
    func handle(_ crowd: Crowd)
}

extension Request {
    /// Passes later requests whose heads are the same bytes to `handler`, without parser and router.
    ///
    /// For requests that many clients send alike, such as polls for the same change, where answering takes less time
    /// than parsing. This is no promise: a loop remembers a few recent heads, none of a request with a body. All other
    /// requests are routed as usual, as are further requests of a connection that waits in a crowd. To be called by the
    /// request's handler, before that returns. The peer's address is no part of a head.
    public func onRepeat(_ handler: any RepeatHandler) { head.repeatHandler.withLock { $0 = handler } }
}
