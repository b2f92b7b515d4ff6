package import FreshetWire

/// One page of the feed, encoded.
package struct FeedPage: Hashable, Sendable {
    /// `{"changes":[…],"cursor":…,"upToDate":…}`
    package var body: [UInt8]
    /// The position from which the reader continues.
    package var cursor: Cursor
    /// Whether nothing remained to be sent.
    package var upToDate: Bool

    /// Whether streams that get this page wait in the feed for the next one. They do if they are up to date and have
    /// room for more. A page of any size is sent, but the server drops a stream that gets the next page while more than
    /// `Limits.queuedBytes` are unsent, as they are after a page with a large atomic batch.
    package var keepsStreams: Bool { upToDate && body.count <= Self.largestPush }

    /// The largest page after which streams wait at once. They read a larger one before they wait again. Less than
    /// `Limits.queuedBytes`.
    private static let largestPush = 192 << 10
}

/// The feed's answer to a reader.
package enum PollResult: Hashable, Sendable {
    /// There are changes after the reader's position.
    case page(FeedPage)
    /// There is no change up to this position; the reader continues from it. A commit that has done enough for others leaves
    /// the reader where it was.
    case idle(Cursor)
    /// The reader's position is no longer valid: `410`, with the feed's position.
    case gone(Problem, Cursor)
    /// The reader's session has ended: `401`.
    case ended
}

/// The decision of the feed on a poll. Large payloads are indirect, since most readers wait and carry none.
package enum PollDecision: Hashable, Sendable {
    /// The feed has the response.
    indirect case reply(PollResult)
    /// The feed does not reach back far enough, or is behind the reader: the store has the answer.
    /// If the store finds nothing, ask again after the position that it has reached.
    indirect case scan(Since)
    /// The reader waits, under this identifier.
    case waiting(WaiterID)
}

/// A message, and the waiters that get it. The waiters of an ``response(_:_:)`` or a ``close(_:)`` have left the feed.
package enum FeedDelivery<Waiter: Sendable>: Sendable {
    /// All of them get the same bytes.
    case response([Waiter], PollResult)
    /// The next page of streams. Unless the page ``FeedPage/keepsStreams``, they have left the feed and continue from
    /// its cursor, each at its pace.
    case push([Waiter], FeedPage)
    /// Nothing happened for a while on these streams, which are all at this position.
    case keepAlive([Waiter], Cursor)
    /// The time of these streams has come, or was further away than a feed counts, or a commit has done enough for others: each
    /// has left the feed, and continues from this position unless its session has ended.
    case resume([Waiter], Cursor)
    /// These streams end; their clients learn the reason when they reconnect.
    case close([Waiter])
}

extension FeedDelivery: Equatable where Waiter: Equatable {}
