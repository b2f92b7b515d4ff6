import Synchronization

/// Handles requests whose heads are the same bytes as that of one before: what their bytes mean has been found out already.
public protocol RepeatHandler: AnyObject, Sendable {
    /// Answers those that came together, at once or later. It is called on an event loop, where it must not block.
    func handle(_ crowd: Crowd)
}

extension Request {
    /// Has `handler` handle those that come later with a head of the same bytes, past parser and router.
    ///
    /// For requests that many clients send alike, such as polls that wait for the same thing, where answering takes less than
    /// parsing. It is no promise: a loop remembers the few latest heads, none with a body, and all others come by their route, as do
    /// further requests of a connection that waits in a crowd. To be called by the request's handler, before that returns. The
    /// peer's address is no part of a head.
    public func onRepeat(_ handler: any RepeatHandler) { head.repeatHandler.withLock { $0 = handler } }
}
