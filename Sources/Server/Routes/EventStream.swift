import FreshetSocketHTTP
import FreshetWire
import HTTPTypes
import Logging
import Synchronization

/// One reader of the feed by server-sent events (WHATWG HTML §9.2).
///
/// The stream reads pages, at the pace at which its peer takes them, until it is up to date. Then it waits in the feed,
/// which pushes. It writes a page before it asks for the next, and asks before it waits, so events are in order.
final class EventStream: Sendable {
    private struct State {
        var waiting: (entry: FeedRegistry<FeedReader>.Entry, waiter: WaiterID)?
        var isCancelled = false
    }

    /// A stream that catches up lets its peer read first while more bytes than this are unsent.
    private static let highWater = 96 << 10

    let stream: ResponseStream
    let session: AccessSession?
    /// That of the request.
    private let releases: Int
    private let core: ServerCore
    private let sender: ReadSender
    private let changes: ChangesRequest
    private let state = Mutex(State())

    /// - Parameter session: that of the request, counted as a wait.
    private init(_ context: RequestContext, _ session: AccessSession?, _ changes: ChangesRequest, _ fields: ResponseFields) {
        core = context.core
        self.changes = changes
        self.session = session
        releases = context.releases
        sender = ReadSender(session, context.exchange)
        stream = context.exchange.stream(status: .ok, fields: fields)
        core.metrics.countResponse(context.endpoint, status: 200)
    }

    /// Looks into the store first: a refusal must be a status, hence known before the stream begins.
    static func open(_ context: RequestContext, _ changes: ChangesRequest) {
        context.later {
            let core = context.core
            let session = try context.session.map { session throws(Problem) in try core.access?.limits.waiting(session) ?? session }
            let result = try core.scan(changes.selection, since: changes.since)
            if let problem = core.problem(of: session) { throw problem }
            let begin = { (cursor: Cursor) in
                var fields: ResponseFields = [
                    .contentType: "text/event-stream", .cacheControl: "no-store", .xContentTypeOptions: "nosniff", .xAccelBuffering: "no",
                ]
                fields.append(.freshetCursor, cursor.description)
                fields.append(store: core.store.identifier)
                let stream = EventStream(context, session, changes, fields)
                stream.stream.onDisconnect { [weak stream] in stream?.cancel() }
                return stream
            }
            switch result.value {
            case .refused(let problem, let position):
                core.metrics.feed.gone.add()
                context.fail(problem, at: position)
            case .page(let page): begin(page.cursor).write(page)
            case .nothing(let reached, let isComplete):
                let part = changes.selection.subscription.part
                let stream = begin(reached.issued(to: part))
                // Gives the reader a position to resume from, even if the connection ends at once.
                if changes.since == .now {
                    stream.stream.write(encode(PageEncoder(limit: 0, pageBytes: 0).page(at: reached.issued(to: part), upToDate: true)))
                }
                stream.goOn(after: reached, isVerified: isComplete)
            }
        }
    }

    /// Whether the session has ended, or all waiters were released, since the request was received.
    private var hasEnded: Bool { core.hasEnded(session) || core.feeds.releases != releases }

    /// Whether the peer has disconnected.
    private var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Continues from a position, on the read queue.
    func goOn(after cursor: Cursor, isVerified: Bool = false) {
        guard stream.unsentBytes <= Self.highWater else {
            return stream.onWritable(below: Self.highWater) { [self] in goOn(after: cursor, isVerified: isVerified) }
        }
        core.reads.submitStep(of: sender) { [self] in
            do throws(StoreError) { try step(after: cursor, isVerified: isVerified) } catch {
                core.failures.note(.read, error)
                stream.finish()
            }
        }
    }

    private func step(after cursor: Cursor, isVerified: Bool) throws(StoreError) {
        // The client reconnects, and gets the reason as a status.
        guard !isCancelled, !hasEnded, core.readersProblem == nil else { return stream.finish() }
        let now = core.now()
        let deadline = session.flatMap { core.access?.deadline(of: $0, at: now) }
        let (decision, entry) = try core.feeds.ask(
            .after(cursor), changes.selection.subscription, in: changes.selection.namespace, .stream(self), isVerified: isVerified,
            deadline: deadline, now: now)
        switch decision {
        case .waiting(let waiter):
            let isCancelled = state.withLock { state in
                state.waiting = (entry, waiter)
                return state.isCancelled
            }
            // A revocation or a release just before this did not find the stream among the waiters.
            if isCancelled || hasEnded { entry.cancel(waiter) }
        case .reply(.page(let page)): write(page)
        case .reply: stream.finish()
        case .scan: try scan(after: cursor)
        }
    }

    private func scan(after cursor: Cursor) throws(StoreError) {
        switch try core.scan(changes.selection, since: .after(cursor)).value {
        // The client reconnects, and gets the reason as a status.
        case .refused: stream.finish()
        case .page(let page): write(page)
        case .nothing(let reached, let isComplete): goOn(after: reached, isVerified: isComplete)
        }
    }

    /// Writes a page that was read, and continues after it. A stream that has to end since then gets nothing of it.
    private func write(_ page: FeedPage) {
        guard !hasEnded else { return stream.finish() }
        guard stream.write(Self.encode(page)) else { return }
        goOn(after: page.cursor)
    }

    private func cancel() {
        let waiting = state.withLock { state in
            state.isCancelled = true
            return state.waiting
        }
        if let waiting { waiting.entry.cancel(waiting.waiter) }
        stream.finish()
    }

    /// Encodes a page as one event with one `data` line. A line end in JSON is white space between two tokens, so a space
    /// replaces it.
    ///
    /// The feed calls this while commits wait, and a page may have 32 MiB: it takes one pass, and memory for the event alone.
    static func encode(_ page: FeedPage) -> [UInt8] {
        let head = "id: \(page.cursor)\nevent: changes\ndata: "
        var event: [UInt8] = []
        event.reserveCapacity(head.utf8.count + page.body.count + 2)
        event.append(contentsOf: head.utf8)
        event.append(contentsOf: page.body)
        event.withUnsafeMutableBufferPointer { bytes in
            for index in head.utf8.count..<bytes.count {
                let byte = bytes[index]
                bytes[index] = byte == 0x0A || byte == 0x0D ? 0x20 : byte
            }
        }
        event.append(contentsOf: "\n\n".utf8)
        return event
    }

    /// A comment, and the position that a reader has reached whose filter matches nothing. Without data it is no event.
    static func keepAlive(at cursor: Cursor) -> [UInt8] { Array(": \nid: \(cursor)\n\n".utf8) }
}
