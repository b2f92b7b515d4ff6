import Synchronization

/// Requests with identical bytes that reached one event loop at about the same time. They wait, and are answered, as
/// one.
///
/// Clients that receive the same response send their next request at the same time. Keeping these requests together
/// makes the cost of each waiting one next to nothing. All members share one right to answer. If the crowd is released
/// without an answer, each member is answered `500`.
public final class Crowd: Sendable {
    /// A member of a crowd, as passed to the crowd's listener.
    public struct Member: Sendable {
        let connection: Connection
    }

    /// How long others may join a crowd that has a listener, in milliseconds: a wait with an end should last that much
    /// longer.
    public static var joiningTime: Int64 { Int64(Clock.tickMilliseconds) }

    /// The number of members when the crowd was handed over.
    public let count: Int
    private let loop: EventLoop
    private let number: CrowdTable.Number
    private let isAnswered = Atomic<Bool>(false)

    init(_ loop: EventLoop, _ number: CrowdTable.Number, count: Int) {
        self.loop = loop
        self.number = number
        self.count = count
    }

    deinit {
        // The releasing code may hold a lock, so the answer must not be given within this call.
        if !isAnswered.load(ordering: .relaxed) { loop.post(.unansweredCrowd(number)) }
    }

    /// Answers all members with the same bytes, from any thread.
    ///
    /// Complexity: O(*n*) on the event loop, one system call for each member; O(1) for a caller elsewhere.
    /// - Returns: false if the crowd has already been answered.
    @discardableResult
    public func respond(_ encoded: EncodedResponse) -> Bool {
        guard !isAnswered.exchange(true, ordering: .relaxed) else { return false }
        loop.submit(.crowd(number, encoded))
        return true
    }

    /// Answers each member with a separate response, such as a refusal with a retry time. `response` is called on the
    /// event loop.
    ///
    /// - Returns: false if the crowd has already been answered.
    @discardableResult
    public func respond(each response: @escaping @Sendable () -> Response) -> Bool {
        guard !isAnswered.exchange(true, ordering: .relaxed) else { return false }
        loop.submit(.eachOfCrowd(number, response))
        return true
    }

    /// Asks `listener` whether further requests may join, and notifies it of each member whose peer disconnects, or
    /// ends its input, before the answer. For members that already have, the listener is notified soon. To be called
    /// once, from any thread.
    ///
    /// - Parameter key: the number by which the listener identifies the crowd.
    public func watch(_ listener: any CrowdListener, _ key: UInt64) {
        loop.submit(.watchCrowd(number, listener, key))
    }

    /// Moves the right to answer one member to a new exchange. To be called by the crowd's listener, within
    /// `hungUp(_:of:)` for that member.
    public func split(_ member: Member) -> Exchange { loop.split(member.connection, from: number) }
}

/// Decides which requests may join a crowd, and is notified of members that disconnect; see ``Crowd/watch(_:_:)``. It
/// is called on the crowd's event loop and must not block.
public protocol CrowdListener: AnyObject, Sendable {
    /// Returns whether another request with the same bytes may join the crowd of this key: whether every answer that
    /// the crowd may still get also answers this request. The crowd must not be answered within this call.
    func admits(to key: UInt64) -> Bool

    /// Called when the peer of one member has disconnected or ended its input. Such a peer may still read, so its
    /// member should be answered separately, unless the crowd is being answered.
    func hungUp(_ member: Crowd.Member, of key: UInt64)
}
