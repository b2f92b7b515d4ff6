import FreshetWire
import SocketHTTP

/// A long poll, understood once for all requests that ask in the same bytes.
final class Poll: RepeatHandler {
    private let core: ServerCore
    /// The first of these requests. They differ in their exchanges alone.
    private let request: Request
    private let changes: ChangesRequest
    /// The feed that they ask, as long as the hub has it.
    private let feed: FeedHub<FeedReader>.Entry

    init(_ call: Call, _ changes: ChangesRequest) {
        core = call.core
        request = call.request
        self.changes = changes
        feed = core.hub.entry(for: changes.namespace, now: core.now())
    }

    func handle(_ exchange: Exchange) {
        let now = core.now()
        do throws(StoreError) {
            try ask(exchange, since: changes.since, deadline: now + Int64(changes.wait) * 1_000, now: now)
        } catch { call(exchange).fail(error) }
    }

    private func call(_ exchange: Exchange) -> Call { Call(core: core, endpoint: .getChanges, request: request, exchange: exchange) }

    private func ask(
        _ exchange: Exchange, since: Since, isVerified: Bool = false, deadline: Int64, now: Int64
    ) throws(StoreError) {
        if let verdict = feed.ask(
            since, changes.subscription, .poll(exchange), isVerified: isVerified, deadline: deadline, now: now)
        {
            return carryOut(verdict, of: feed, exchange, isVerified: isVerified, deadline: deadline)
        }
        let (verdict, entry) = try core.hub.ask(
            since, changes.subscription, in: changes.namespace, .poll(exchange), isVerified: isVerified, deadline: deadline, now: now)
        carryOut(verdict, of: entry, exchange, isVerified: isVerified, deadline: deadline)
    }

    private func carryOut(
        _ verdict: FeedVerdict, of feed: FeedHub<FeedReader>.Entry, _ exchange: Exchange, isVerified: Bool, deadline: Int64
    ) {
        switch verdict {
        // One that has only ended its input still reads, so it gets its answer: nothing yet.
        case .parked(let ticket): exchange.onHangUp(tell: feed, ticket.number)
        case .reply(let reply): call(exchange).respond(Response(reply))
        case .scan(let since):
            call(exchange).later(isContinuation: isVerified) { [self] in try scan(exchange, since: since, deadline: deadline) }
        }
    }

    /// Looks into the store, on the read queue; goes back to the feed with the position that it has reached if there was nothing.
    private func scan(_ exchange: Exchange, since: Since, deadline: Int64) throws(StoreError) {
        let found = try core.store.scan(changes.query(since: since, core.settings.feed), in: changes.namespace)
        switch found {
        case .refused(let problem, let position):
            core.metrics.feed.gone.add()
            call(exchange).fail(problem, at: position)
        case .page(let page): call(exchange).respond(Response(.page(page)))
        case .nothing(let reached, isComplete: true):
            try ask(exchange, since: .after(reached), isVerified: true, deadline: deadline, now: core.now())
        case .nothing(let reached, isComplete: false):
            // Others have their turn before the next stretch.
            call(exchange).later(isContinuation: true) { [self] in
                try scan(exchange, since: .after(reached), deadline: deadline)
            }
        }
    }
}

extension FeedHub.Entry: HangUpListener {
    func peerHungUp(_ number: UInt64) { cancel(WaiterTicket(number: number)) }
}
