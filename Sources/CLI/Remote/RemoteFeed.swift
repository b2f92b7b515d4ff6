import FreshetClient
import FreshetTransport
import FreshetWire
import HTTPTypes

/// Follows a namespace's changes by long polls, over lost connections and replaced histories.
struct RemoteFeed: Sendable {
    /// An event of the feed.
    enum Event: Hashable, Sendable {
        case change(Change)
        /// A notice for a person.
        case note(String)
    }

    /// How long the server may hold a poll, in seconds, and how much longer an answer may take.
    private static let hold = 25
    private static let grace = 10

    let remote: Remote
    let filter: ChangeFilter
    private(set) var since: Since
    private var failures = 0

    init(remote: Remote, since: Since, filter: ChangeFilter) {
        self.remote = remote
        self.since = since
        self.filter = filter
    }

    /// Waits for the next answer; empty when there was nothing new.
    /// - Throws: ``CommandFailure`` if a retry cannot help: at the first try, or when the server refuses.
    mutating func events() async throws -> [Event] {
        let path = remote.namespace.changesPath(since: since, filter: filter, wait: Self.hold, limit: 1_000, values: true)
        switch try await remote.answer(.get, path, timeout: .seconds(Self.hold + Self.grace)) {
        case .success(let reply): return try await events(of: reply, path)
        case .failure(let error):
            // No server answers: most likely a wrong address.
            if since == .now, failures == 0 { throw CommandFailure(error, server: remote.server, repeatable: true) }
            return try await retry("the connection was lost (\(error.description))")
        }
    }

    private mutating func events(of reply: HTTPReply, _ path: String) async throws -> [Event] {
        var events: [Event] = failures > 0 ? [.note("connected again")] : []
        switch reply.status {
        case 200:
            failures = 0
            let page = try ChangePage(of: reply)
            since = .after(page.cursor)
            events += page.changes.map { .change($0) }
        case 204:
            failures = 0
            if let text = reply.fields[.freshetCursor] { since = .after(try Cursor(text)) }
        case 410:
            since = .start
            let reason = (try? Problem(json: reply.body))?.detail ?? "the cursor is no longer good"
            events.append(.note("\(reason); printing everything from the start"))
        case 429, 500...599: return try await retry("the server answered with status \(reply.status)")
        default: throw CommandFailure(reply, server: remote.server, path: path)
        }
        return events
    }

    /// Waits before the caller retries, longer each time.
    private mutating func retry(_ reason: String) async throws -> [Event] {
        failures += 1
        let most = min(10_000, 250 << min(failures - 1, 6))
        try await Task.sleep(for: .milliseconds(Int.random(in: most / 2...most)))
        return failures == 1 ? [.note("\(reason); trying again")] : []
    }
}
