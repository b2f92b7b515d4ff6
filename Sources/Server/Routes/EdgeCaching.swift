import FreshetSocketHTTP
import FreshetTrust
import FreshetWire
import HTTPTypes

/// The polls whose responses a shared cache in front of the server may keep for a second, so that one request to the server
/// answers all readers that wait at one position.
///
/// Every such response leads its reader to another URL: a page by its cursor, and a `204` by the turn of its cursor.
/// Otherwise the cache would answer the next poll with the response that the reader has just got, and the reader would
/// poll without a pause for as long as the cache keeps it.
struct EdgeCaching: Sendable {
    /// The principals of the caches; `nil` for everybody, on a server that is open to all.
    private let principals: Set<Principal>?
    let isEnabled: Bool
    /// Milliseconds of a turn.
    private let span: Int64

    /// - Parameters:
    ///   - names: principals, or `*`. None disables it.
    ///   - hold: seconds that a poll waits by default.
    init(_ names: [String] = [], hold: Int = 25) {
        isEnabled = !names.isEmpty
        principals = names.contains(Self.everybody) ? nil : Set(names.map(Principal.init(text:)))
        span = Int64(max(hold, 1)) * 1_000
    }

    /// The name that stands for everybody.
    static let everybody = "*"

    /// Whether responses to the session may be kept.
    func applies(to session: AccessSession?) -> Bool {
        guard isEnabled else { return false }
        guard let principals else { return true }
        return session.map { principals.contains($0.value.principal) } ?? false
    }

    /// The turn of a response to a request with another: a later one. Readers whose waits end in the same span of time get the
    /// same, so that one that comes late joins the others. Nothing else depends on the clock.
    ///
    /// - Parameters:
    ///   - turn: that of the request; 0 if it had none.
    ///   - now: milliseconds since 1970.
    func turn(after turn: UInt32, at now: Int64) -> UInt32 {
        let byTime = UInt32(clamping: now / span)
        // After the last one any other does.
        return turn == .max ? 1 : max(turn + 1, byTime)
    }
}

/// Makes the responses of polls: one for all readers, and others for those behind a shared cache.
struct EdgeReplies: Sendable {
    let caching: EdgeCaching
    /// Milliseconds since 1970.
    let now: @Sendable () -> Int64

    /// The response to one poll.
    ///
    /// - Parameter turn: that of the request; `nil` if no shared cache may keep the response.
    func response(_ reply: PollResult, turn: UInt32?) -> Response {
        guard let turn else { return Response(reply) }
        switch reply {
        case .idle(let position): return Response(.idle(position.with(turn: caching.turn(after: turn, at: now())))).cached()
        case .gone(let problem, _): return Response(reply).cached(problem.code)
        case .page, .ended: return Response(reply).cached()
        }
    }

    /// The responses to polls that have waited, each with its readers. A response is encoded once for each: only a `204` depends on the
    /// turn, which clients choose, and a page may be large.
    func responses(to readers: [FeedReader], _ reply: PollResult) -> [([FeedReader], Response)] {
        guard caching.isEnabled else { return [(readers, Response(reply))] }
        guard case .idle = reply else {
            return Dictionary(grouping: readers) { $0.turn == nil }.map { ($1, response(reply, turn: $0 ? nil : 0)) }
        }
        return Dictionary(grouping: readers, by: \.turn).map { ($1, response(reply, turn: $0)) }
    }
}

extension Since {
    /// The turn of the request in a shared cache, 0 if it has none; `nil` for a request whose response depends on its moment alone.
    var turn: UInt32? {
        switch self {
        case .now: nil
        case .start: 0
        case .after(let cursor): cursor.turn ?? 0
        }
    }
}

extension Response {
    private static let cacheable = "public, max-age=1"

    /// Whether a shared cache may keep it: a page, no change, a position that stays invalid, or a refusal that would be the same
    /// for all who wait.
    private func isCacheable(_ problem: ProblemCode?) -> Bool {
        switch status.code {
        case 200, 204, 503: true
        case 410: problem == .epochChanged || problem == .cursorExpired
        default: false
        }
    }

    /// The response, for a shared cache to keep if it may.
    consuming func cached(_ problem: ProblemCode? = nil) -> Response {
        if isCacheable(problem) { fields[.cacheControl] = Self.cacheable }
        return self
    }
}
