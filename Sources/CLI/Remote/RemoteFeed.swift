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
    /// How long it waits after an answer without changes that came sooner than ``earliestEmptyAnswer``. A server holds a poll until
    /// there is a change; one that does not must not be asked without a pause.
    private static let pause = Duration.milliseconds(250)
    private static let earliestEmptyAnswer = Duration.seconds(1)

    let remote: Remote
    let filter: ChangeFilter
    private(set) var since: Since
    private var failures = 0
    /// Whether anything has answered: until then, the address is most likely wrong.
    private var wasAnswered = false

    init(remote: Remote, since: Since, filter: ChangeFilter) {
        self.remote = remote
        self.since = since
        self.filter = filter
    }

    /// Waits for the next answer; empty when there was nothing new.
    /// - Throws: ``CommandFailure`` if a retry cannot help: at the first try, or when the server refuses.
    mutating func events() async throws -> [Event] {
        let path = remote.namespace.changesPath(since: since, filter: filter, wait: Self.hold, limit: 1_000, values: true)
        // The server answers a poll from now on at once.
        let (start, isHeld) = (ContinuousClock.now, since != .now)
        switch try await remote.answer(.get, path, timeout: .seconds(Self.hold + Self.grace)) {
        case .success(let reply):
            wasAnswered = true
            let events = try await events(of: reply, path)
            let isEarly = ContinuousClock.now - start < Self.earliestEmptyAnswer
            if events.isEmpty, failures == 0, isHeld, isEarly { try await Task.sleep(for: Self.pause) }
            return events
        case .failure(let error):
            guard wasAnswered else { throw CommandFailure(error, server: remote.server, repeatable: true) }
            return try await retry("the connection was lost (\(error.description))")
        }
    }

    private mutating func events(of reply: HTTPReply, _ path: String) async throws -> [Event] {
        var events: [Event] = failures > 0 ? [.note("connected again")] : []
        switch reply.status {
        case 200:
            try remote.check(reply)
            failures = 0
            let page = try ChangePage(of: reply)
            since = .after(page.cursor)
            events += page.changes.map { .change($0) }
        case 204:
            try remote.check(reply)
            failures = 0
            guard let text = reply.fields[.freshetCursor] else {
                throw CommandFailure(.software, "\(remote.server): the answer with status 204 has no Freshet-Cursor")
            }
            since = .after(try Cursor(text))
        case 410:
            // Only a cursor can be gone, and only the server knows: a page of another program would have all of it printed again.
            guard case .after = since, let problem = (try? Problem.own(json: reply.body)).flatMap({ $0 }) else {
                throw CommandFailure(reply, server: remote.server, path: path)
            }
            since = .start
            events.append(.note("\(problem.detail); printing everything from the start"))
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
