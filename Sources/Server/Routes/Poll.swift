import FreshetSocketHTTP
import FreshetWire
import HTTPTypes

/// The long polls of one connection that differ only in their position: route, filter and access were decided for the
/// first one.
///
/// A later poll is routed again if its session has to be checked again (``isCurrent``). A wait ends with its session: at its
/// expiry by the deadline, and at a revocation by ``FeedRegistry/end(where:)``.
final class Poll: RepeatedRequestHandler {
    private let core: ServerCore
    private let selection: ChangeSelection
    /// `nil` on a server that is open to all.
    private let session: AccessSession?
    /// Seconds.
    private let wait: Int
    /// The feed that the polls wait in, as long as the registry has it.
    private let feed: FeedRegistry<FeedReader>.Entry

    init(_ core: ServerCore, _ selection: ChangeSelection, wait: Int, session: AccessSession?) {
        self.core = core
        self.session = session
        self.selection = selection
        self.wait = wait
        feed = core.feeds.entry(for: selection.namespace, now: core.now())
    }

    var isCurrent: Bool {
        guard let session else { return true }
        return core.access?.isCurrent(session) ?? true
    }

    func handle(_ value: Span<UInt8>, _ exchange: Exchange) {
        let since: Since
        do throws(WireError) { since = try Since(ascii: value) } catch { return fail(exchange, error) }
        if let session {
            do throws(RateRefusal) { try core.access?.limits.count(session, writes: 0, bytes: 0) } catch { return fail(exchange, error) }
        }
        ask(since: since, exchange)
    }

    /// Answers a poll from the feed or the store, or lets it wait.
    func ask(since: Since, _ exchange: Exchange) {
        let now = core.now()
        var deadline = now + Int64(wait) * 1_000
        if let session, let end = core.access?.deadline(of: session) { deadline = min(deadline, end) }
        if let problem = selection.subscription.part.refusal(of: since) { return fail(exchange, problem) }
        do { try ask(exchange, since: since, deadline: deadline, now: now) } catch { fail(exchange, error) }
    }

    private func ask(
        _ exchange: Exchange, since: Since, isVerified: Bool = false, deadline: Int64, now: Int64
    ) throws {
        let counted =
            wait > 0 ? try session.map { session throws(Problem) in try core.access?.limits.waiting(session) ?? session } : session
        let reader = FeedReader.poll(exchange, session: counted)
        if let decision = feed.ask(since, selection.subscription, reader, isVerified: isVerified, deadline: deadline, now: now) {
            return carryOut(decision, of: feed, exchange, isVerified: isVerified, deadline: deadline)
        }
        // A verified poll is on the read queue already, any other on the event loop.
        guard !isVerified, !core.store.answersAtOnce else {
            return try askRegistry(reader, exchange, since: since, isVerified: isVerified, deadline: deadline, now: now)
        }
        if let (decision, entry) = core.feeds.askIfOpen(
            since, selection.subscription, in: selection.namespace, reader, deadline: deadline, now: now)
        {
            return carryOut(decision, of: entry, exchange, isVerified: false, deadline: deadline)
        }
        later(exchange, isContinuation: false) { [self] in
            try askRegistry(reader, exchange, since: since, isVerified: false, deadline: deadline, now: core.now())
        }
    }

    /// Asks the namespace's feed, which may have to be opened by a read of the store.
    private func askRegistry(
        _ reader: FeedReader, _ exchange: Exchange, since: Since, isVerified: Bool, deadline: Int64, now: Int64
    ) throws {
        let (decision, entry) = try core.feeds.ask(
            since, selection.subscription, in: selection.namespace, reader, isVerified: isVerified, deadline: deadline, now: now)
        carryOut(decision, of: entry, exchange, isVerified: isVerified, deadline: deadline)
    }

    private func carryOut(
        _ decision: PollDecision, of feed: FeedRegistry<FeedReader>.Entry, _ exchange: Exchange, isVerified: Bool,
        deadline: Int64
    ) {
        switch decision {
        // A client that has closed only its sending side still reads, so it gets an answer: nothing yet.
        case .waiting(let waiter):
            exchange.onDisconnect(notify: feed, waiter.number)
            // A revocation while the poll was in the store did not find it among the waiters.
            if core.hasEnded(session) { feed.cancel(waiter) }
        case .reply(let reply): respond(exchange, reply)
        case .scan(let since):
            later(exchange, isContinuation: isVerified) { [self] in try scan(exchange, since: since, deadline: deadline) }
        }
    }

    /// Looks into the store, on the read queue. If there is nothing, goes back to the feed with the position that the
    /// store has reached.
    private func scan(_ exchange: Exchange, since: Since, deadline: Int64) throws {
        let found = try core.scan(selection, since: since)
        switch found.value {
        case .refused(let problem, let position):
            core.metrics.feed.gone.add()
            fail(exchange, problem, at: position)
        case .page(let page): respond(exchange, .page(page))
        case .nothing(let reached, isComplete: true) where since == .now:
            let position = reached.issued(to: selection.subscription.part)
            respond(exchange, .page(PageEncoder(limit: 0, pageBytes: 0).page(at: position, upToDate: true)))
        case .nothing(let reached, isComplete: true):
            try ask(exchange, since: .after(reached), isVerified: true, deadline: deadline, now: core.now())
        case .nothing(let reached, isComplete: false):
            // Other requests have their turn before the next stretch.
            later(exchange, isContinuation: true) { [self] in try scan(exchange, since: .after(reached), deadline: deadline) }
        }
    }

    // MARK: Answers

    private func later(_ exchange: Exchange, isContinuation: Bool, _ work: @escaping @Sendable () throws -> Void) {
        core.later(isContinuation: isContinuation, work) { [self] in fail(exchange, $0) }
    }

    private func fail(_ exchange: Exchange, _ error: any Error, at position: Cursor? = nil) {
        core.noteDenial(error, to: session, of: .getChanges, in: selection.namespace, nil)
        respond(exchange, core.response(to: error, at: position, in: selection.namespace))
    }

    private func respond(_ exchange: Exchange, _ reply: PollResult) { respond(exchange, Response(reply)) }

    private func respond(_ exchange: Exchange, _ response: Response) {
        // A session that has ended since the request was received learns nothing more.
        let response = core.problem(of: session).map { core.challenge($0) } ?? response
        core.metrics.countResponse(.getChanges, status: response.status.code)
        exchange.respond(core.marked(response))
    }
}
