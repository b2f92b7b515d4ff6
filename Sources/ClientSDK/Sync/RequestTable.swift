import FreshetWire

/// The requests in flight, each with its purpose and its deadline.
struct RequestTable: Hashable, Sendable {
    enum Purpose: Hashable, Sendable {
        /// The server may hold the response for `wait` seconds; 0 where it may not.
        case feed(since: Since, wait: Int)
        case writes(ClosedRange<Int64>)
        case clientStatus
        case fetch([RecordKey])
        case revalidation([CachedKey])
        case refresh([CachedKey])
        case list(CallerID)
        /// Whether the history that begins continues the one that ends.
        case continuation
    }

    struct Request: Hashable, Sendable {
        var purpose: Purpose
        /// Uptime in milliseconds.
        var sentAt: Int64
        /// The time at which the watchdog fires.
        fileprivate var deadline: Int64
        /// Whether no other token can be had: it was asked for as a fresh one, or there is none.
        var hadFreshToken: Bool
        /// Whether records of the response may be stored: not if the token has lost the right to read since.
        fileprivate(set) var bringsRecords = true
        /// For how many milliseconds at most a shared cache had kept the response; 0 until it has arrived.
        fileprivate var age: Int64 = 0

        var isRead: Bool {
            switch purpose {
            case .fetch, .revalidation, .refresh, .list: true
            case .feed, .writes, .clientStatus, .continuation: false
            }
        }

        /// Whether the request may have asked for the device's last number besides records.
        var mayNameClient: Bool {
            switch purpose {
            case .feed, .fetch, .revalidation, .refresh: true
            case .list, .writes, .clientStatus, .continuation: false
            }
        }

        /// The time at which the state that the response describes was still true for certain, in milliseconds of uptime.
        /// Negative for a response from before the device's start.
        var validAsOf: Int64 { sentAt - age }
    }

    /// Stamps all requests; see ``SyncMachine/handle(_:at:)``.
    private(set) var generation: Int64 = 0
    private var requests: [RequestID: Request] = [:]
    private var last: Int64 = 0

    mutating func beginGeneration() { generation += 1 }

    func contains(_ id: RequestID) -> Bool { requests[id] != nil }

    /// The number of all requests ever sent.
    var sentCount: Int64 { last }

    /// In the order in which they were sent.
    var all: [RequestID] { requests.keys.sorted() }

    var fetches: [RequestID] {
        all.filter { if case .fetch? = requests[$0]?.purpose { true } else { false } }
    }

    /// Returns the requests whose watchdog fires now, in the order in which they were sent.
    func overdue(at uptime: Int64) -> [RequestID] { all.filter { requests[$0].map { $0.deadline <= uptime } ?? false } }

    /// The time at which the next watchdog fires.
    var deadline: Int64? { requests.values.lazy.map(\.deadline).min() }

    mutating func send(
        _ kind: RequestDescription.Kind, for purpose: Purpose, needsFreshToken: Bool, timeout: Int64, _ turn: inout Turn
    ) -> RequestID {
        last += 1
        let id = RequestID(last, generation: generation)
        requests[id] = Request(
            purpose: purpose, sentAt: turn.now.uptime, deadline: turn.now.uptime + timeout,
            hadFreshToken: needsFreshToken || !turn.settings.hasToken)
        turn.emit(.send(RequestDescription(id: id, kind: kind, needsFreshToken: needsFreshToken, timeout: timeout)))
        return id
    }

    /// Notes for how long a shared cache may have kept the response that has arrived.
    mutating func note(age: Int64, of id: RequestID) { requests[id]?.age = age }

    /// Notes that the token may read nothing of the followed records.
    mutating func withholdRecords() { for id in requests.keys { requests[id]?.bringsRecords = false } }

    /// Removes the request; `nil` if it has ended already.
    mutating func remove(_ id: RequestID) -> Request? { requests.removeValue(forKey: id) }

    // MARK: Relative state

    /// Returns the request named by its place among those in flight; see ``SyncMachine/relativeState(at:)``.
    func relativeID(of id: RequestID?) -> RequestID? {
        id.flatMap { all.firstIndex(of: $0) }.map { RequestID(Int64($0)) }
    }

    /// See ``SyncMachine/relativeState(at:)``.
    mutating func makeRelative(to uptime: Int64) {
        let relative = all.enumerated().compactMap { place, id -> (RequestID, Request)? in
            guard var request = requests[id] else { return nil }
            request.sentAt = uptime - request.sentAt
            request.deadline = max(0, request.deadline - uptime)
            return (RequestID(Int64(place)), request)
        }
        self = RequestTable()
        requests = Dictionary(uniqueKeysWithValues: relative)
    }
}
