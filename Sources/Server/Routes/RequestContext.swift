package import FreshetSocketHTTP
import FreshetTrust
package import FreshetWire
import HTTPTypes

/// A request whose head has arrived, with its sender and the rights of that.
protocol IncomingRequest: Sendable {
    var core: ServerCore { get }
    var endpoint: Endpoint { get }
    var request: Request { get }
    /// `nil` on a server that is open to all.
    var session: AccessSession? { get }
}

extension IncomingRequest {
    func namespace() throws(WireError) -> Namespace { try Namespace(request.parameter("namespace")) }

    func key() throws(WireError) -> RecordKey {
        try RecordKey(collection: request.parameter("collection"), id: request.parameter("id"))
    }

    /// The response to a request that may not be done. It has no position, since the principal may read none, and states
    /// why (RFC 6750 §3).
    func refusal(_ error: any Error) -> Response {
        core.noteDenial(error, to: session, of: endpoint, in: try? namespace(), request)
        return core.challenge(error, hasCredential: request.has(.authorization))
    }
}

/// A request whose body has not arrived.
struct PendingRequest: IncomingRequest {
    let core: ServerCore
    let endpoint: Endpoint
    let request: Request
    var session: AccessSession?
}

/// One request, with the means to answer it.
struct RequestContext: IncomingRequest {
    let core: ServerCore
    let endpoint: Endpoint
    let request: Request
    let exchange: Exchange
    /// That of the feeds when the request was received (``FeedRegistry/releases``).
    let releases: Int
    /// `nil` on a server that is open to all.
    var session: AccessSession?

    /// Counts the request, decides whether it may be done, and runs the endpoint's handler.
    func begin(_ handler: (RequestContext) throws -> Void) {
        do {
            if let session, let access = core.access {
                try access.limits.count(session, writes: endpoint.isWrite ? 1 : 0, bytes: request.body.count)
            }
            try authorize()
        } catch { return respond(refusal(error)) }
        handle(handler)
    }

    /// Runs the endpoint's handler. An error that the handler throws answers the call.
    func handle(_ handler: (RequestContext) throws -> Void) {
        do { try handler(self) } catch { fail(error) }
    }

    /// The problem with the request's session now, to be asked for within a transaction.
    var sessionProblem: @Sendable () -> Problem? { { [core, session] in core.problem(of: session) } }

    func requireJSON() throws(Problem) { try request.requireJSON() }

    /// - Parameter endsSession: whether the answer is sent although the session may have ended: the request has ended it itself, or
    ///   the answer acknowledges what was done, and shows no record.
    func respond(_ response: consuming Response, endsSession: Bool = false) {
        var response = response
        // A session that has ended since the request was received learns nothing more, no current record of a refusal either.
        if !endsSession, let problem = core.problem(of: session) { response = core.challenge(problem) }
        core.metrics.countResponse(endpoint, status: response.status.code)
        // Consumed, since a copy of its fields is an allocation.
        exchange.respond(core.marked(consume response))
    }

    func respond(json: [UInt8], at cursor: Cursor?) { respond(Response(json: json, at: cursor)) }

    /// A position of the request's namespace, with the digest of what the principal may read: it may follow the feed from
    /// there.
    func issued(_ cursor: Cursor) -> Cursor {
        guard let session, let access = core.access, let namespace = try? namespace(),
            let digest = access.readClass(of: session, in: namespace)?.digest
        else { return cursor }
        return cursor.with(rights: RightsDigest(digest))
    }

    /// Answers with an error and the namespace's position, which errors carry too.
    func fail(_ error: any Error, at cursor: Cursor? = nil) {
        respond(response(to: error, at: cursor))
    }

    func response(to error: any Error, at cursor: Cursor? = nil) -> Response {
        if let problem = error as? Problem, problem.status == 401 || problem.status == 403 { return refusal(problem) }
        core.noteDenial(error, to: session, of: endpoint, in: try? namespace(), request)
        let position = cursor ?? (try? namespace()).flatMap(core.position)
        return core.response(to: error, at: position.map(issued), in: nil)
    }

    /// Runs work that may take long on the read queue. An error answers the call.
    func later(isContinuation: Bool = false, _ work: @escaping @Sendable () throws -> Void) {
        core.later(of: ReadSender(session, exchange), isContinuation: isContinuation, work) { fail($0) }
    }

    /// Runs work on the loop if the request's body is short, otherwise on the read queue, so that it does not hold up
    /// others.
    func nowOrLater(_ work: @escaping @Sendable () throws -> Void) {
        guard request.body.count <= 64 << 10 else { return later(work) }
        do { try work() } catch { fail(error) }
    }
}

extension Request {
    /// Refuses a message whose type is not JSON. A page of another origin can send the other types without a preflight
    /// request.
    package func requireJSON() throws(Problem) {
        guard !hasOnly("application/json", for: .contentType) else { return }
        let type = self[.contentType] ?? ""
        guard !Content.isJSON(type) else { return }
        let given = type.isEmpty ? "Content-Type is missing" : "Content-Type is '\(type.shortened)'"
        throw Problem(.unsupportedMediaType, "\(given): POST takes a message as \(Content.json), so say Content-Type: \(Content.json)")
    }
}
