import SocketHTTP
import Synchronization

/// A reader that waits in a feed of this server.
enum FeedReader: Sendable {
    case poll(Exchange)
    case crowd(PollCrowd)
    case stream(EventStream)

    /// The number of readers that it stands for.
    var count: Int {
        if case .crowd(let polls) = self { polls.count } else { 1 }
    }

    /// How much longer than requested the wait lasts, in milliseconds.
    var leeway: Int64 {
        if case .crowd = self { Crowd.joiningTime } else { 0 }
    }

    var exchange: Exchange? {
        if case .poll(let exchange) = self { exchange } else { nil }
    }

    var stream: EventStream? {
        if case .stream(let stream) = self { stream } else { nil }
    }

    /// Answers polls. Has no effect on a stream.
    func respond(_ encoded: EncodedResponse) {
        switch self {
        case .poll(let exchange): exchange.respond(encoded)
        case .crowd(let polls): polls.crowd.respond(encoded)
        case .stream: break
        }
    }

    /// Notifies the feed when a poll, or one of many, hangs up.
    func onHangUp(tell feed: FeedHub<FeedReader>.Entry, _ ticket: UInt64) {
        switch self {
        case .poll(let exchange): exchange.onHangUp(tell: feed, ticket)
        case .crowd(let polls): polls.crowd.watch(feed, ticket)
        case .stream: break
        }
    }
}

/// Polls that asked the same at about the same time.
final class PollCrowd: Sendable {
    let crowd: Crowd
    private let size: Atomic<Int>

    init(_ crowd: Crowd) {
        self.crowd = crowd
        size = Atomic(crowd.count)
    }

    /// The current number of polls. While they wait in a feed, it changes only under the feed's lock.
    var count: Int { size.load(ordering: .relaxed) }

    fileprivate func change(by difference: Int) { size.add(difference, ordering: .relaxed) }
}

extension FeedHub.Entry: HangUpListener, CrowdListener where Reader == FeedReader {
    func peerHungUp(_ number: UInt64) { cancel(WaiterTicket(number: number)) }

    /// Adds an identical poll to those that wait; false if they no longer do. As long as they wait, no change has come
    /// that they want, and they get every later one: the same holds for the new poll.
    func admits(to key: UInt64) -> Bool {
        let isAdmitted = state.withLock { state in
            guard case .crowd(let polls)? = state.feed?.join(WaiterTicket(number: key)) else { return false }
            polls.change(by: 1)
            return true
        }
        if isAdmitted { metrics.parked.add() }
        return isAdmitted
    }

    func hungUp(_ member: Crowd.Member, of key: UInt64) {
        let left = state.withLock { state -> (PollCrowd, FeedReply)? in
            guard let (reader, reply) = state.feed?.leave(WaiterTicket(number: key)), case .crowd(let polls) = reader else { return nil }
            polls.change(by: -1)
            return (polls, reply)
        }
        if let (polls, reply) = left { deliver(.answer([.poll(polls.crowd.split(member))], reply)) }
    }
}
