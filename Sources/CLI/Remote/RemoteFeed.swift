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
    /// How many answers in a row said that the position is gone, without an answer to a poll from a position in between. At least 1
    /// after the first of all.
    private var resets = 0
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
            let failure = CommandFailure(error, server: remote.server, repeatable: true)
            // An answer that is too large would be too large again.
            guard wasAnswered, failure.status != .software else { throw failure }
            return try await retry("the connection was lost (\(error.description))")
        }
    }

    private mutating func events(of reply: HTTPReply, _ path: String) async throws -> [Event] {
        var events: [Event] = failures > 0 ? [.note("connected again")] : []
        switch reply.status {
        case 200:
            try remote.check(reply)
            let page = try ChangePage(of: reply)
            if let fault = fault(of: page) { throw CommandFailure(wrongPage: fault, server: remote.server) }
            move(to: page.cursor)
            events += page.changes.map { .change($0) }
        case 204:
            try remote.check(reply)
            guard let text = reply.fields[.freshetCursor] else {
                throw CommandFailure(.software, "\(remote.server): the answer with status 204 has no Freshet-Cursor")
            }
            let cursor = try Cursor(text)
            if case .after(let position) = since, cursor.revision < position.revision {
                throw CommandFailure(
                    wrongPage: "the answer's position \(cursor) is before the one asked from, \(position)", server: remote.server)
            }
            move(to: cursor)
        case 410:
            // Only a cursor can be gone, and only the server knows: a page of another program would have all of it printed again.
            guard case .after = since, let problem = (try? Problem.own(json: reply.body)).flatMap({ $0 }) else {
                throw CommandFailure(reply, server: remote.server, path: path)
            }
            since = .start
            resets += 1
            // Each reset has everything printed again.
            if resets > 1 { try await Task.sleep(for: Self.delay(after: resets - 1)) }
            events.append(.note("\(problem.detail); printing everything from the start"))
        case 429, 500...599: return try await retry("the server answered with status \(reply.status)")
        default: throw CommandFailure(reply, server: remote.server, path: path)
        }
        return events
    }

    /// Continues from a position that the server gave.
    private mutating func move(to cursor: Cursor) {
        failures = 0
        // The server knows the position.
        if case .after = since { resets = min(resets, 1) }
        since = .after(cursor)
    }

    /// Returns why a page cannot be the answer; `nil` if it can be. A page with changes must move on, or it would be printed for ever.
    private func fault(of page: ChangePage) -> String? {
        if let fault = page.fault(after: since) { return fault }
        guard case .after(let position) = since, !page.changes.isEmpty, page.cursor.revision == position.revision else { return nil }
        return "the page has changes, but does not move on from \(position)"
    }

    /// Waits before the caller retries, longer each time.
    private mutating func retry(_ reason: String) async throws -> [Event] {
        failures += 1
        try await Task.sleep(for: Self.delay(after: failures))
        return failures == 1 ? [.note("\(reason); trying again")] : []
    }

    /// A quarter of a second after the first failure, twice as long after each further one, ten seconds at most; with jitter.
    private static func delay(after failures: Int) -> Duration {
        let most = min(10_000, 250 << min(failures - 1, 6))
        return .milliseconds(Int.random(in: most / 2...most))
    }
}
