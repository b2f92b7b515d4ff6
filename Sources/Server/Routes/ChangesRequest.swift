import FreshetSocketHTTP
package import FreshetTrust
package import FreshetWire
import HTTPTypes

/// A parsed `GET /v1/{ns}/changes`. It depends on the request's head alone.
struct ChangesRequest: Sendable {
    private(set) var selection: ChangeSelection
    let since: Since
    /// Seconds.
    let wait: Int
    /// The device whose last decided write the response states.
    let client: ClientIdentifier?

    init(_ request: Request, hold: Int) throws {
        let namespace = try Namespace(request.parameter("namespace"))
        let parameters = Parameters(request)
        let isStream = request.wantsStream
        // A stream that resumes has its position in this field, and the URL with which it began.
        let resumed = isStream ? request[.lastEventID].flatMap { $0.isEmpty ? nil : $0 } : nil
        guard let text = resumed ?? parameters.text("since") else {
            throw Problem(.invalidCursor, "The parameter 'since' is missing: it takes a cursor as the server gave it, 'now' or '0'")
        }
        since = try Since(text)
        let collections = parameters.texts("collection")
        guard collections.count <= ChangeFilter.maximumCollections else {
            throw Problem(
                .invalidRequest,
                "The request names \(collections.count) collections: it takes at most \(ChangeFilter.maximumCollections). "
                    + "Leave 'collection' out, and ignore the changes of other collections.")
        }
        let subscription = Subscription(
            filter: try ChangeFilter(collections: collections, prefix: try parameters.prefix()),
            values: try parameters.boolean("values") ?? true, limit: try parameters.integer("limit", in: 1...1_000) ?? 1_000,
            delivery: isStream ? .stream : .response)
        selection = ChangeSelection(namespace: namespace, subscription: subscription)
        let seconds = try parameters.integer("wait", in: 0...60) ?? hold
        // A client that wants no body does not want to wait for one either.
        wait = request.method == .head ? 0 : seconds
        client = try parameters.client()
        guard client == nil || (wait == 0 && !isStream) else {
            throw Problem(
                .invalidRequest,
                "The parameter 'client' needs wait=0 and no stream: what many wait for is one response to all, and cannot state a number "
                    + "for each. Ask with 'client' and wait=0 where a number is needed, and wait without it.")
        }
    }
}

/// The changes that a reader of the feed wants, whatever its position.
struct ChangeSelection: Sendable {
    let namespace: Namespace
    let subscription: Subscription

    /// The store's query for the changes after `since`.
    ///
    /// - Parameter client: the device whose last decided write the response states.
    func query(since: Since, client: ClientIdentifier?, _ limits: FeedLimits) -> ChangeQuery {
        var query = ChangeQuery(
            since: since, filter: subscription.filter, limit: subscription.limit,
            byteLimit: limits.pageBytes(for: subscription.delivery), inlineLimit: subscription.values ? limits.inlineBytes : -1,
            client: client)
        query.part = subscription.part
        return query
    }
}

extension ChangesRequest {
    /// Limits the request to what its principal may read.
    ///
    /// - Throws: `forbidden` if that is nothing of a range that the request names; `rights-changed` if the position was given
    ///   under other rights, so that the reader may hold records that it may not read any more, or lack others.
    mutating func restrict(to session: Session) throws {
        var subscription = selection.subscription
        try subscription.restrict(to: session.rights, of: session, in: selection.namespace)
        selection = ChangeSelection(namespace: selection.namespace, subscription: subscription)
        if let problem = subscription.refusal(of: since) { throw problem }
    }
}

extension Subscription {
    /// Limits the reader to what it may read.
    ///
    /// - Parameter session: the reader's; `nil` in a simulation.
    /// - Throws: `forbidden` if that is nothing of a range that the reader names.
    package mutating func restrict(to rights: Rights, of session: Session? = nil, in namespace: Namespace) throws(Problem) {
        switch rights.decideFeed(in: namespace, filter) {
        case .everything: break
        case .part(let ranges):
            guard let digest = RightsDigest(rights.ranges(of: .read, in: namespace).digest) else { break }
            let part = ReadablePart(ranges: ranges, digest: digest)
            (self.part, filter) = (part, part.cover)
        case .needs(let missing): throw Problem(missing, of: session)
        }
    }

    /// The problem with a position that was given under other rights; `nil` if there is none.
    package func refusal(of since: Since) -> Problem? { part.refusal(of: since) }
}

extension ReadablePart? {
    /// The problem with a position that was given under other rights; `nil` if there is none.
    func refusal(of since: Since) -> Problem? {
        guard case .after(let cursor) = since, cursor.rights != self?.digest else { return nil }
        return Problem(
            .rightsChanged,
            "The position was given under other rights: verify everything that is cached, or start again from a list or since=0.")
    }
}
