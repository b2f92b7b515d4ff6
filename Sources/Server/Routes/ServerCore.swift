import Dispatch
import FreshetSocketHTTP
import FreshetTrust
import FreshetWire
import HTTPTypes
import Logging
import Synchronization

/// The state that all handlers share.
final class ServerCore: Sendable {
    let store: any RecordStore
    let clock: ServerClock
    let committer: Committer
    let feeds: FeedRegistry<FeedReader>
    /// `nil` if no other server writes to the store.
    let follower: StoreFollower?
    /// `nil` on a server that is open to all.
    let accessFollower: AccessFollower?
    let reads: ReadQueue
    /// Of a store that does not answer at once.
    let lookups: LookupQueue
    let metrics: ServerMetrics
    let readiness: ReadinessProbe
    let environment: ServerEnvironment
    /// `nil` on a server that is open to all.
    let access: AccessControl?
    /// Those of the listeners with TLS.
    let certificates: [ServerCertificates]
    /// Which listeners serve operators.
    let roles: ServerListeners.Roles
    let settings: Settings
    let edge: EdgeReplies
    let tickets: Tickets
    let audit: AuditLog
    let creations: NamespaceCreations
    let logger: Logger
    let failures: FailureLog
    /// The server that serves this core, once it is made. The server owns the core, not the other way round.
    private let server = Mutex(WeakServer())
    /// Separate from the read queue, whose end the server waits for when it stops: a source that hangs must not delay that.
    let reloads = DispatchQueue(label: "freshet.reload")
    private let reloading = Mutex<(@Sendable (AuditRecord) throws(RecordServerError) -> Void)?>(nil)

    private struct WeakServer {
        weak var value: HTTPServer?
    }

    /// The part of the configuration that handlers need.
    struct Settings: Sendable {
        /// Seconds that a poll waits unless the request names a time.
        var hold: Int
        var feed: FeedLimits
        /// The most bytes of a request's body, and so of a value.
        var valueLimit: Int
        /// The most bytes of a value that is patched or incremented.
        var editLimit: Int
        /// The quotas of each namespace, at the start.
        var quotas = Quotas.Space()
        /// On a server that is open to all; otherwise ``AccessControl`` has them.
        var rules = AccessRules()
        /// The polls whose responses a shared cache may keep.
        var edge = EdgeCaching()
    }

    /// - Parameter announcements: the connection to the other servers of the store, if there may be any.
    init(
        store: any RecordStore, clock: ServerClock, announcements: (any CommitAnnouncements)? = nil, settings: Settings,
        access: AccessControl? = nil,
        listeners: ServerListeners, audit: AuditLog, pendingReads: Int, environment: ServerEnvironment, logger: Logger
    ) {
        let metrics = ServerMetrics()
        let failures = FailureLog(logger, now: { environment.monotonicNanoseconds() / 1_000_000 })
        self.failures = failures
        let identifier = store.identifier
        let reads = Self.readQueue(of: store, limit: pendingReads)
        let source = FeedSource(
            isShared: announcements != nil,
            position: { namespace throws(StoreError) in try store.state(of: namespace).cursor },
            positions: { namespaces throws(StoreError) in try store.states(of: namespaces).map(\.cursor) },
            read: { cursor, namespace in
                do throws(StoreError) { return try store.feedRead(after: cursor, in: namespace, settings.feed) } catch {
                    failures.note(.feed, error)
                    return nil
                }
            },
            later: { work in reads.submitUrgent(work) })
        let edge = EdgeReplies(caching: settings.edge, now: environment.wallMilliseconds)
        let feeds = FeedRegistry<FeedReader>(
            limits: settings.feed, metrics: metrics.feed, source: source,
            deliver: { [sender = FeedSender(metrics: metrics, store: identifier, edge: edge)] delivery in sender.deliver(delivery) })
        let accessFollower = access.map { access in
            AccessFollower(access, store, later: source.later, logger: logger) {
                feeds.end { reader in reader.session.map(access.hasEnded) ?? false }
            }
        }
        self.accessFollower = accessFollower
        let follower = announcements.map {
            StoreFollower(
                $0, feeds, source, sender: environment.random(), now: { environment.monotonicNanoseconds() / 1_000_000 }, logger: logger,
                onAccess: { version in accessFollower?.announced(version) })
        }
        self.follower = follower
        var copy: (any AccessCopy)? = accessFollower
        if let accessFollower, let follower { copy = AnnouncedAccess(copy: accessFollower, follower: follower) }
        let creations = NamespaceCreations(lanes: store.lanes)
        self.creations = creations
        var configuration = Committer.Configuration()
        configuration.editLimit = settings.editLimit
        configuration.quotas = settings.quotas
        committer = Committer(
            store: store, access: copy, configuration: configuration,
            clock: { clock.now },
            now: environment.monotonicNanoseconds,
            onFailure: { error in
                metrics.failedCommits.add()
                guard case .outcomeUnknown = error else { return failures.note(.transaction, error) }
                failures.note(.unknownOutcome, error)
                feeds.readAll()
            },
            onCommit: { commits in
                creations.note(commits)
                metrics.count(commits)
                feeds.publish(commits)
                follower?.committed(commits)
            })
        readiness = ReadinessProbe(committer: committer)
        self.reads = reads
        lookups = LookupQueue(store, reads: reads, limit: pendingReads)
        self.store = store
        self.clock = clock
        self.feeds = feeds
        self.metrics = metrics
        self.environment = environment
        self.settings = settings
        self.edge = edge
        tickets = Tickets(environment)
        self.audit = audit
        self.access = access
        certificates = listeners.encrypted
        roles = listeners.roles
        self.logger = logger
    }

    /// Refuses a request that names another host, and one of a page of another origin that would change something.
    func check(_ request: Request) throws(Problem) { try (access?.rules ?? settings.rules).check(request) }

    /// Whether a wait of a session has to end, by expiry or revocation; false on a server that is open to all.
    func hasEnded(_ session: AccessSession?) -> Bool {
        guard let session, let access else { return false }
        return access.hasEnded(session)
    }

    /// The problem with a session whose request is in progress; `nil` if there is none, and on a server that is open to
    /// all.
    func problem(of session: AccessSession?) -> Problem? {
        guard let session, let access else { return nil }
        return access.problem(of: session)
    }

    /// The problem of all readers while the server cannot know the latest changes; `nil` if there is none.
    var readersProblem: Problem? { follower?.contactProblem ?? store.failure?.problem }

    /// Monotonic milliseconds, the unit of the feed. Reads the one closure only: a copy of the environment would copy
    /// all of them.
    func now() -> Int64 { environment.monotonicNanoseconds() / 1_000_000 }

    func attach(_ server: HTTPServer) { self.server.withLock { $0.value = server } }

    /// Sets the action of ``reload()``.
    func onReload(_ action: @escaping @Sendable (AuditRecord) throws(RecordServerError) -> Void) { reloading.withLock { $0 = action } }

    /// Reads the server's configuration again; `cause` is the record of the request for it. Blocks on the disk.
    func reload(by cause: AuditRecord) throws(RecordServerError) {
        let action = reloading.withLock { $0 }
        try action?(cause)
    }

    func statistics() -> HTTPServerStatistics? { server.withLock { $0.value }?.statistics() }

    /// The problem to which an error corresponds. The store's errors are logged too.
    func problem(_ error: any Error) -> Problem {
        switch error {
        case let problem as Problem: return problem
        case let refusal as RateRefusal: return refusal.problem
        case let error as WireError: return Problem(error)
        case let error as StoreError:
            failures.note(.read, error)
            return error.problem
        default:
            failures.note(.unexpected, error)
            return Problem(.internalError, "The server failed; its log says why. Send it again later.")
        }
    }

    /// The namespace's position for the response to an error, if it can be had at once. A store that does not answer at
    /// once is not asked: the feed has the position, if it is open.
    func position(of namespace: Namespace) -> Cursor? {
        store.answersAtOnce ? try? store.state(of: namespace).cursor : feeds.position(of: namespace)
    }

    /// The response to an error, with the namespace's position if it can be had at once.
    func response(to error: any Error, at cursor: Cursor?, in namespace: Namespace?) -> Response {
        let position = cursor ?? namespace.flatMap(position)
        if let refusal = error as? RateRefusal { return Response(refusal, at: position) }
        return Response(problem(error), at: position, retryAfter: environment.retryAfter())
    }

    /// The response to a request that may not be done, with the field that states why. It has no position.
    func challenge(_ error: any Error, hasCredential: Bool = true) -> Response {
        var response = response(to: error, at: nil, in: nil)
        guard access != nil else { return response }
        switch response.status.code {
        case 401: response.fields.appendChallenge(error: hasCredential ? "invalid_token" : nil)
        case 403 where hasCredential && (error as? Problem)?.code == .forbidden:
            response.fields.appendChallenge(error: "insufficient_scope")
        default: break
        }
        return response
    }

    /// The response with the field that names its store.
    func marked(_ response: consuming Response) -> Response { response.marked(with: store.identifier) }

    /// Long reads of a local store compute. With more threads than spare processors they preempt each other while they hold the
    /// allocator's locks, for which event loops then wait (decision 0035). Of a store that does not answer at once all
    /// reads are here, and most threads wait for the network, so they are more, and as urgent as others' lookups.
    private static func readQueue(of store: any RecordStore, limit: Int) -> ReadQueue {
        store.answersAtOnce
            ? ReadQueue(width: HTTPServerConfiguration.defaultLoops, limit: limit) : ReadQueue(width: 4, limit: limit, niceness: 0)
    }

    /// Runs work that may take long on the read queue, at the sender's turn. `fail` gets the error that it throws, or an overload
    /// if too much waits already.
    func later(
        of sender: ReadSender, isContinuation: Bool, _ work: @escaping @Sendable () throws -> Void,
        orFail fail: @escaping @Sendable (any Error) -> Void
    ) {
        let isAccepted = reads.submit(isContinuation: isContinuation, of: sender) {
            do { try work() } catch { fail(error) }
        }
        if !isAccepted { fail(refusedRead()) }
    }

    /// Counts a read that is refused, since too many wait, and returns the problem.
    func refusedRead() -> Problem {
        metrics.refusedReads.add()
        return Problem(.overloaded, "Too many reads wait for the disk. Send it again after Retry-After.")
    }

    /// The table of all routes.
    func router() -> Router {
        var router = Router { [self] failure in
            metrics.countResponse(nil, status: failure.status.code)
            // Neither the host nor the sender has been checked, and a page or a principal that is refused learns no position.
            return marked(response(to: Problem(failure), at: nil, in: nil))
        }
        for endpoint in Endpoint.allCases {
            let handler = handler(of: endpoint)
            router.on(endpoint.method, endpoint.pattern, admission: { [self] in admit($0, to: endpoint, $1) }) { [self] request, exchange in
                var context = RequestContext(
                    core: self, endpoint: endpoint, request: request, exchange: exchange, releases: feeds.releases)
                // A page or a principal that is refused learns no position either.
                do {
                    let sender = try sender(of: request, to: endpoint) { access in try self.sender(of: request, to: endpoint, access) }
                    switch sender {
                    case nil: break
                    case .session(let session)?: context.session = session
                    case .unverified(let token, let client)?:
                        access?.verify(token, from: client) { [context] session in
                            var context = context
                            do { context.session = try session.get() } catch { return context.respond(context.refusal(error)) }
                            context.begin(handler)
                        }
                        return
                    }
                } catch { return context.respond(context.refusal(error)) }
                context.begin(handler)
            }
        }
        return router
    }

    /// Checks whether a request may reach an endpoint, and finds out who sends it.
    ///
    /// - Parameter find: finds the sender of a request that needs a session and is not an operator's.
    /// - Returns: `nil` if the request needs no session.
    private func sender(
        of request: Request, to endpoint: Endpoint, _ find: (AccessControl) throws -> AccessControl.Sender
    ) throws -> AccessControl.Sender? {
        guard roles.servesOperators(request) || !endpoint.isForOperators else { throw Self.hidden }
        // No web page reaches the operators' socket.
        let isOperator = roles.isOperator(request)
        if !isOperator { try check(request) }
        guard let access, endpoint.needsSession else { return nil }
        return try isOperator ? .session(.operator) : find(access)
    }

    /// Decides whether a large body is received: not if the request may not be done, whatever the body is.
    private func admit(_ request: Request, to endpoint: Endpoint, _ decide: @escaping @Sendable (Response?) -> Void) {
        let pending = PendingRequest(core: self, endpoint: endpoint, request: request)
        do {
            // A ticket is for one stream, which has no body.
            switch try sender(of: request, to: endpoint, { access in try access.sender(ofPending: request) }) {
            case nil: decide(nil)
            case .session(let session)?: decide(refusal(of: pending, session))
            case .unverified(let token, let client)?:
                access?.verify(token, from: client) { [self] session in
                    do { decide(refusal(of: pending, try session.get())) } catch { decide(refusal(of: pending, error)) }
                }
            }
        } catch { decide(refusal(of: pending, error)) }
    }

    /// The response to a request whose sender may not do it; `nil` if it may.
    private func refusal(of pending: PendingRequest, _ session: AccessSession) -> Response? {
        var pending = pending
        pending.session = session
        do {
            do { try pending.authorize() } catch {
                try access?.count(refused: pending.request, session, isWrite: pending.endpoint.isWrite)
                throw error
            }
            return nil
        } catch { return refusal(of: pending, error) }
    }

    private func refusal(of pending: PendingRequest, _ error: any Error) -> Response {
        let response = pending.refusal(error)
        metrics.countResponse(pending.endpoint, status: response.status.code)
        return marked(response)
    }

    /// The answer of a listener that is not the operators'.
    private static let hidden = Problem(.notFound, "Nothing is at this path.")

    /// The handler of an endpoint. One that makes short reads of the store runs on the event loop if the store answers at
    /// once, and otherwise on the read queue: no loop waits for a store.
    private func handler(of endpoint: Endpoint) -> @Sendable (RequestContext) throws -> Void {
        let handler = loopHandler(of: endpoint)
        // A lookup of a record waits in the queue of these.
        guard endpoint.isLookup, endpoint != .getRecord, !store.answersAtOnce else { return handler }
        return { context in context.later { try handler(context) } }
    }

    private func loopHandler(of endpoint: Endpoint) -> @Sendable (RequestContext) throws -> Void {
        switch endpoint {
        case .getRecord: getRecord
        case .putRecord: putRecord
        case .patchRecord: patchRecord
        case .deleteRecord: deleteRecord
        case .listRecords: listRecords
        case .read: read
        case .write: write
        case .invalidate: invalidate
        case .getClient: getClient
        case .getChanges: getChanges
        case .getNamespace: getNamespace
        case .deleteNamespace: deleteNamespace
        case .getRights: getRights
        case .checkAccess: checkAccess
        case .makeTicket: makeTicket
        case .listKeys: listKeys
        case .makeKey: makeKey
        case .getKey: getKey
        case .changeKey: changeKey
        case .rotateKey: rotateKey
        case .revokeKey: revokeKey
        case .listRevocations: listRevocations
        case .makeRevocation: makeRevocation
        case .reload: reloadConfiguration
        case .listDenials: listDenials
        case .getServer: getServer
        case .getHealth: getHealth
        case .getReadiness: getReadiness
        case .getMetrics: getMetrics
        case .getOpenAPI: getOpenAPI
        }
    }
}
