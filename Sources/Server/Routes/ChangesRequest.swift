import FreshetWire
import HTTPTypes
import SocketHTTP

/// `GET /v1/{ns}/changes`, understood.
struct ChangesRequest: Sendable {
    var namespace: Namespace
    var since: Since
    /// Where a reading from nothing began, if this continues one: see ``ScannedChanges/origin``.
    var origin: Revision?
    var subscription: Subscription
    /// Seconds.
    var wait: Int

    init(_ call: Call, hold: Int) throws {
        namespace = try call.namespace()
        let request = call.request
        let parameters = Parameters(request)
        let isStream = request[.accept]?.lowercased().contains("text/event-stream") ?? false
        // A stream that resumes says by this field how far it has come, with the URL that it began with.
        let resumed = isStream ? request[.lastEventID].flatMap { $0.isEmpty ? nil : $0 } : nil
        guard let text = resumed ?? parameters.text("since") else {
            throw Problem(.invalidCursor, "The parameter 'since' is missing: it takes a cursor as the server gave it, 'now' or '0'")
        }
        since = try Since(text)
        origin = try parameters.integer("origin", in: 0...Int(Revision.maximum.number)).flatMap { Revision(Int64($0)) }
        subscription = Subscription(
            filter: try ChangeFilter(collections: parameters.texts("collection"), prefix: try parameters.prefix()),
            values: try parameters.boolean("values") ?? true, limit: try parameters.integer("limit", in: 1...1_000) ?? 1_000,
            delivery: isStream ? .stream : .answer)
        wait = try parameters.integer("wait", in: 0...60) ?? hold
        // Whoever wants no body does not want to wait for it either.
        if request.method == .head { wait = 0 }
    }

    /// The store's query for what comes after `since`.
    func query(since: Since, origin: Revision?, _ limits: FeedLimits) -> ChangeQuery {
        ChangeQuery(
            since: since, origin: origin, filter: subscription.filter, limit: subscription.limit,
            byteLimit: limits.pageBytes(for: subscription.delivery), inlineLimit: subscription.values ? limits.inlineBytes : -1)
    }

    /// Where a reader goes on who started from nothing and stands before the last forgotten delete.
    func path(from cursor: Cursor, origin: Revision) -> String {
        namespace.changesPath(
            since: .after(cursor), filter: subscription.filter, wait: wait, limit: subscription.limit, values: subscription.values)
            + "&origin=\(origin)"
    }
}
