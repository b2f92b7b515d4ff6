import Synchronization

/// Requests in the same bytes that came to one event loop at about the same time: they wait, and are answered, as one.
///
/// A thousand clients that are told the same come back together; that they are kept together is what makes each cost next to nothing
/// while it waits. There is one right to answer all of them. Letting go of the crowd without an answer answers each with `500`.
public final class Crowd: Sendable {
    /// One of a crowd, named to the crowd's listener.
    public struct Member: Sendable {
        let connection: Connection
    }

    /// How long others may join a crowd that has a listener, in milliseconds: a wait with an end should last as much longer.
    public static var joiningTime: Int64 { Int64(Clock.tickMilliseconds) }

    /// How many were in it when it was handed over.
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
        // Whoever lets go may hold a lock: not within this call.
        if !isAnswered.load(ordering: .relaxed) { loop.post(.unansweredCrowd(number)) }
    }

    /// Answers all with the same bytes, from any thread.
    ///
    /// Complexity: O(*n*) on the event loop, one system call for each member; O(1) for a caller elsewhere.
    /// - Returns: false where the crowd was answered before.
    @discardableResult
    public func respond(_ encoded: EncodedResponse) -> Bool {
        guard !isAnswered.exchange(true, ordering: .relaxed) else { return false }
        loop.submit(.crowd(number, encoded))
        return true
    }

    /// Answers each with a response of its own, such as a refusal that says when to come back. `response` is called on the event loop.
    ///
    /// - Returns: false where the crowd was answered before.
    @discardableResult
    public func respond(each response: @escaping @Sendable () -> Response) -> Bool {
        guard !isAnswered.exchange(true, ordering: .relaxed) else { return false }
        loop.submit(.eachOfCrowd(number, response))
        return true
    }

    /// Has `listener` asked about others who would join, and told of each member that goes away, or ends its input, before the answer; soon
    /// of those that have. To be called once, from any thread.
    ///
    /// - Parameter key: what the listener knows the crowd by.
    public func watch(_ listener: any CrowdListener, _ key: UInt64) {
        loop.submit(.watchCrowd(number, listener, key))
    }

    /// Passes the right to answer one member on to an exchange of its own. For the crowd's listener, while it is told of that member.
    public func split(_ member: Member) -> Exchange { loop.split(member.connection, from: number) }
}

/// Is told who comes to a crowd and who leaves; see ``Crowd/watch(_:_:)``. It is called on the crowd's event loop and must not block.
public protocol CrowdListener: AnyObject, Sendable {
    /// Another has come in the same bytes. Whether it may wait with the crowd of this key: whether every answer that the crowd may still
    /// get is one to this request too. It is not to be answered within this call.
    func admits(to key: UInt64) -> Bool

    /// One of the crowd of this key has gone, or ended its input. Such a peer may still read, so it should be answered by itself, unless
    /// the crowd is being answered.
    func hungUp(_ member: Crowd.Member, of key: UInt64)
}
