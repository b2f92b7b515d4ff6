import FreshetSocketHTTP
import FreshetTrust
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
    /// Counts repeated polls without a credential; `nil` if they have one, or the rates of addresses do not apply.
    private let anonymousClient: ClientAddress?
    /// Seconds.
    private let wait: Int
    /// Whether a shared cache may keep the responses. A poll that does not wait asks for the present state, which no cache has.
    private let isCacheable: Bool
    /// The feed that the polls wait in, as long as the registry has it.
    private let feed: FeedRegistry<FeedReader>.Entry

    init(_ context: RequestContext, _ selection: ChangeSelection, wait: Int) {
        let (core, session) = (context.core, context.session)
        self.core = core
        self.session = session
        anonymousClient = session?.isAnonymous == true ? core.access?.client(of: context.request) : nil
        self.wait = wait
        isCacheable = wait > 0 && core.settings.edge.applies(to: session)
        feed = core.feeds.entry(for: selection.namespace, now: core.now())
        self.selection = ChangeSelection(namespace: selection.namespace, subscription: feed.shared(selection.subscription))
    }

    var isCurrent: Bool {
        guard let session else { return true }
        return core.access?.isUnchanged(session) ?? true
    }

    func handle(_ value: Span<UInt8>, _ exchange: Exchange) {
        // Before all else: the connection is looked at again after this call.
        let releases = core.feeds.releases
        let since: Since
        do throws(WireError) { since = try Since(ascii: value) } catch { return refuse(exchange, error) }
        if let session {
            do throws(RateRefusal) {
                try core.access?.limits.countAnonymous(anonymousClient)
                try core.access?.limits.count(session, writes: 0, bytes: 0)
            } catch { return refuse(exchange, error) }
        }
        ask(since: since, exchange, releases: releases)
    }

    private func refuse(_ exchange: Exchange, _ error: any Error) {
        fail(PendingPoll(exchange: exchange, deadline: 0, turn: nil, releases: 0), error)
    }

    /// A poll in progress.
    private struct PendingPoll {
        let exchange: Exchange
        let deadline: Int64
        /// That of the request in a shared cache; `nil` if none may keep the response.
        let turn: UInt32?
        /// That of the feeds when the request was received (``FeedRegistry/releases``).
        let releases: Int
    }

    /// Answers a poll from the feed or the store, or lets it wait.
    ///
    /// - Parameter releases: that of the feeds when the request was received.
    func ask(since: Since, _ exchange: Exchange, releases: Int) {
        let now = core.now()
        let end = session.flatMap { core.access?.deadline(of: $0, at: now) } ?? .max
        let request = PendingPoll(
            exchange: exchange, deadline: min(now + Int64(wait) * 1_000, end), turn: isCacheable ? since.turn : nil, releases: releases)
        guard end > now else { return fail(request, AccessProblem.of(.expired)) }
        if let problem = core.readersProblem ?? selection.subscription.part.refusal(of: since) { return fail(request, problem) }
        do { try ask(request, since: since, now: now) } catch { fail(request, error) }
    }

    private func ask(_ request: PendingPoll, since: Since, isVerified: Bool = false, now: Int64) throws {
        let counted =
            wait > 0 ? try session.map { session throws(Problem) in try core.access?.limits.waiting(session) ?? session } : session
        let reader = FeedReader.poll(request.exchange, session: counted, turn: request.turn)
        if let decision = feed.ask(
            since, selection.subscription, reader, isVerified: isVerified, deadline: request.deadline, now: now)
        {
            return carryOut(decision, of: feed, request, isVerified: isVerified)
        }
        // A verified poll is on the read queue already, any other on the event loop.
        guard !isVerified, !core.store.answersAtOnce else {
            return try askRegistry(reader, request, since: since, isVerified: isVerified, now: now)
        }
        if let (decision, entry) = core.feeds.askIfOpen(
            since, selection.subscription, in: selection.namespace, reader, deadline: request.deadline, now: now)
        {
            return carryOut(decision, of: entry, request, isVerified: false)
        }
        later(request, isContinuation: false) { [self] in
            try askRegistry(reader, request, since: since, isVerified: false, now: core.now())
        }
    }

    /// Asks the namespace's feed, which may have to be opened by a read of the store.
    private func askRegistry(_ reader: FeedReader, _ request: PendingPoll, since: Since, isVerified: Bool, now: Int64) throws {
        let (decision, entry) = try core.feeds.ask(
            since, selection.subscription, in: selection.namespace, reader, isVerified: isVerified, deadline: request.deadline, now: now)
        carryOut(decision, of: entry, request, isVerified: isVerified)
    }

    private func carryOut(_ decision: PollDecision, of feed: FeedRegistry<FeedReader>.Entry, _ request: PendingPoll, isVerified: Bool) {
        switch decision {
        // A client that has closed only its sending side still reads, so it gets an answer: nothing yet.
        case .waiting(let waiter):
            request.exchange.onDisconnect(notify: feed, waiter.number)
            // A revocation or a release while the poll was in the store did not find it among the waiters.
            let isRevoked = session.map { core.access?.wasRevoked($0) ?? false } ?? false
            if isRevoked || core.feeds.releases != request.releases { feed.cancel(waiter) }
        case .reply(let reply): respond(request, reply)
        case .scan(let since): later(request, isContinuation: isVerified) { [self] in try scan(request, since: since) }
        }
    }

    /// Looks into the store, on the read queue. If there is nothing, goes back to the feed with the position that the
    /// store has reached.
    private func scan(_ request: PendingPoll, since: Since) throws {
        let found = try core.scan(selection, since: since)
        switch found.value {
        case .refused(let problem, let position):
            core.metrics.feed.gone.add()
            fail(request, problem, at: position)
        case .page(let page): respond(request, .page(page))
        case .nothing(let reached, isComplete: true) where since == .now:
            let position = reached.issued(to: selection.subscription.part)
            respond(request, .page(PageEncoder(limit: 0, pageBytes: 0).page(at: position, upToDate: true)))
        case .nothing(let reached, isComplete: true):
            try ask(request, since: .after(reached), isVerified: true, now: core.now())
        case .nothing(let reached, isComplete: false):
            // Other requests have their turn before the next stretch.
            later(request, isContinuation: true) { [self] in
                // As at the end of a wait, a client that has closed only its sending side gets its position.
                guard !request.exchange.isDisconnected else { return respond(request, .page(selection.unfinishedPage(at: reached))) }
                try scan(request, since: .after(reached))
            }
        }
    }

    // MARK: Answers

    private func later(_ request: PendingPoll, isContinuation: Bool, _ work: @escaping @Sendable () throws -> Void) {
        core.later(of: ReadSender(session, request.exchange), isContinuation: isContinuation, work) { [self] in fail(request, $0) }
    }

    private func fail(_ request: PendingPoll, _ error: any Error, at position: Cursor? = nil) {
        core.noteDenial(error, to: session, of: .getChanges, in: selection.namespace, nil)
        let response = core.response(to: error, at: position, in: selection.namespace)
        respond(request, request.turn == nil ? response : response.cached((error as? Problem)?.code))
    }

    private func respond(_ request: PendingPoll, _ reply: PollResult) { respond(request, core.edge.response(reply, turn: request.turn)) }

    private func respond(_ request: PendingPoll, _ response: Response) {
        // A session that has ended since the request was received learns nothing more.
        let response = core.problem(of: session).map { core.challenge($0) } ?? response
        core.metrics.countResponse(.getChanges, status: response.status.code)
        request.exchange.respond(core.marked(response))
    }
}
