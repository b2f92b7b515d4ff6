import FreshetWire
import HTTPTypes
import SocketHTTP

/// A long poll, parsed once for all requests with the same bytes.
final class Poll: RepeatHandler {
    private let core: ServerCore
    private let changes: ChangesRequest
    /// The feed that the polls ask, as long as the hub has it.
    private let feed: FeedHub<FeedReader>.Entry

    init(_ context: RequestContext, _ changes: ChangesRequest) {
        core = context.core
        self.changes = changes
        feed = core.hub.entry(for: changes.namespace, now: core.now())
    }

    func handle(_ crowd: Crowd) { handle(.crowd(PollCrowd(crowd))) }

    func handle(_ reader: FeedReader) {
        let now = core.now()
        let wait = changes.wait > 0 ? Int64(changes.wait) * 1_000 + reader.leeway : 0
        do throws(StoreError) {
            try ask(reader, since: changes.since, deadline: now + wait, now: now)
        } catch { fail(reader, error) }
    }

    private func ask(
        _ reader: FeedReader, since: Since, isVerified: Bool = false, deadline: Int64, now: Int64
    ) throws(StoreError) {
        if let verdict = feed.ask(
            since, changes.subscription, reader, weight: reader.count, isVerified: isVerified, deadline: deadline, now: now)
        {
            return carryOut(verdict, of: feed, reader, isVerified: isVerified, deadline: deadline)
        }
        let (verdict, entry) = try core.hub.ask(
            since, changes.subscription, in: changes.namespace, reader, weight: reader.count, isVerified: isVerified, deadline: deadline,
            now: now)
        carryOut(verdict, of: entry, reader, isVerified: isVerified, deadline: deadline)
    }

    private func carryOut(
        _ verdict: FeedVerdict, of feed: FeedHub<FeedReader>.Entry, _ reader: FeedReader, isVerified: Bool, deadline: Int64
    ) {
        switch verdict {
        // A client that has closed only its sending side still reads, so it gets an answer: nothing yet.
        case .parked(let ticket): reader.onHangUp(tell: feed, ticket.number)
        case .reply(let reply): respond(reader, Response(reply))
        case .scan(let since):
            later(reader, isContinuation: isVerified) { [self] in try scan(reader, since: since, deadline: deadline) }
        }
    }

    /// Looks into the store, on the read queue. If there is nothing, goes back to the feed with the position that the
    /// store has reached.
    private func scan(_ reader: FeedReader, since: Since, deadline: Int64) throws(StoreError) {
        let found = try core.scan(changes, since: since)
        switch found.value {
        case .refused(let problem, let position):
            core.metrics.feed.gone.add(reader.count)
            fail(reader, problem, at: position)
        case .page(let page): respond(reader, Response(.page(page)))
        case .nothing(let reached, isComplete: true):
            try ask(reader, since: .after(reached), isVerified: true, deadline: deadline, now: core.now())
        case .nothing(let reached, isComplete: false):
            // Other requests have their turn before the next stretch.
            later(reader, isContinuation: true) { [self] in try scan(reader, since: .after(reached), deadline: deadline) }
        }
    }

    // MARK: Answers

    private func later(_ reader: FeedReader, isContinuation: Bool, _ work: @escaping @Sendable () throws -> Void) {
        core.later(isContinuation: isContinuation, readers: reader.count, work) { [self] in fail(reader, $0) }
    }

    private func fail(_ reader: FeedReader, _ error: any Error, at position: Cursor? = nil) {
        let response = core.response(to: error, at: position, in: changes.namespace)
        guard case .crowd(let polls) = reader, response.fields[.retryAfter] != nil else { return respond(reader, response) }
        // Clients that are refused together must not come back together.
        core.metrics.countResponse(.getChanges, status: response.status.code, times: reader.count)
        polls.crowd.respond { [core] in
            var response = response
            response.fields[.retryAfter] = String(core.environment.retryAfter())
            return core.marked(response)
        }
    }

    private func respond(_ reader: FeedReader, _ response: Response) {
        core.metrics.countResponse(.getChanges, status: response.status.code, times: reader.count)
        reader.respond(EncodedResponse(core.marked(response)))
    }
}
