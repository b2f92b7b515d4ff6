package import FreshetWire

/// One page of the feed, encoded.
package struct FeedPage: Hashable, Sendable {
    /// `{"changes":[…],"cursor":…,"upToDate":…}`
    package var body: [UInt8]
    /// The position to ask on from.
    package var cursor: Cursor
    /// Whether nothing was left.
    package var upToDate: Bool

    /// Whether streams that it is pushed to wait in the feed for the next: they are up to date, and have room for more. A page that holds a
    /// large atomic batch would have the next one drop them.
    package var keepsStreams: Bool { upToDate && body.count <= Self.largestPush }

    /// Streams that got a larger page than this read it before they wait again. Less than a connection may leave unread.
    private static let largestPush = 192 << 10
}

/// What a reader of the feed is told.
package enum FeedReply: Hashable, Sendable {
    /// There is something after its position.
    case page(FeedPage)
    /// There is nothing; here is a newer position.
    case idle(Cursor)
    /// Its position is of no use any more: 410, and the position that the feed is at.
    case gone(Problem, Cursor)
}

/// What became of a question to the feed. What is large stands elsewhere, since most readers wait and carry none of it.
package enum FeedVerdict: Hashable, Sendable {
    /// The answer is here.
    indirect case reply(FeedReply)
    /// The feed does not reach back so far, or knows less than the asker: the store has the answer.
    /// If it finds nothing, ask again after the position that it has reached.
    indirect case scan(Since)
    /// The reader waits; the ticket cancels it.
    case parked(WaiterTicket)
}

/// What is to be sent, and to whom. The waiters of an ``answer(_:_:)`` or a ``close(_:)`` have left the feed.
package enum FeedDelivery<Waiter: Sendable>: Sendable {
    /// All of them get the same bytes.
    case answer([Waiter], FeedReply)
    /// The next page of streams. Unless it ``FeedPage/keepsStreams``, they have left the feed and ask on from its cursor, each at its
    /// own pace.
    case push([Waiter], FeedPage)
    /// Nothing happened for a while on these streams, which are all at this position.
    case keepAlive([Waiter], Cursor)
    /// These streams end; they learn why when they come back.
    case close([Waiter])
}

extension FeedDelivery: Equatable where Waiter: Equatable {}
