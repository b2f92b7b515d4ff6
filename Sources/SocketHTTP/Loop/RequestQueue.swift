/// The connections of a loop whose next request waits for a later turn, in the order in which they continue, and the
/// requests that the loop has handled in this turn.
///
/// A turn is one `epoll_wait`: a request that arrives during a turn is read after the end of that turn. The queue bounds
/// the requests of a turn, whatever the number of connections that pipeline. Connections that wait continue before the
/// events of the turn are handled, so events cannot starve them.
struct RequestQueue {
    /// The most events of a turn. ``mostRequests`` includes a request of each, so that clients that send one at a time do
    /// not wait in the queue.
    static let turnEvents = 512
    /// The requests that all connections share in a turn.
    private static let turnRequests = 512
    /// The most requests of a turn: beyond ``turnRequests``, each connection may have only its first request of the turn
    /// handled.
    private static let mostRequests = turnRequests + turnEvents
    /// The smallest share: each time that a connection continues, its answers take a system call, and its unparsed input
    /// is copied.
    private static let leastShare = 8

    private var waiting = TokenQueue()
    /// The connections that waited when the turn began, and have not continued.
    private var due = 0
    private var handled = 0
    /// The most requests of one connection in this turn.
    private var share = RequestQueue.turnRequests

    var isEmpty: Bool { waiting.isEmpty }

    /// Begins a turn.
    mutating func beginTurn() {
        handled = 0
        due = waiting.count
        share = max(Self.leastShare, Self.turnRequests / max(1, due))
    }

    /// Adds a connection that waits for a later turn.
    mutating func append(_ token: UInt64) { waiting.append(token) }

    /// Removes and returns the connection that continues next; `nil` if the turn has handled enough, or no other
    /// connection has waited since an earlier turn.
    mutating func next() -> UInt64? {
        guard due > 0, handled < Self.turnRequests else { return nil }
        due -= 1
        return waiting.removeFirst()
    }

    /// Counts a request that is about to be handled; false if the request has to wait for a later turn.
    ///
    /// - Parameters:
    ///   - count: the requests of the same connection that this turn has handled.
    ///   - limit: the most requests of one connection in a turn.
    mutating func admit(after count: Int, limit: Int) -> Bool {
        guard count < min(limit, share), handled < (count == 0 ? Self.mostRequests : Self.turnRequests) else { return false }
        handled += 1
        return true
    }
}
