import FreshetWire

/// Schedules resets, after the loss of the position or the whole history (rule 11), and clears, which the user
/// requests (rule 12).
struct Resetter: Hashable, Sendable {
    struct Reset: Hashable, Sendable {
        /// The history that begins; `nil` if it is not known.
        var epoch: Epoch?
        /// Whether the entries must be removed: the server went back within a history, so revisions do not show which
        /// record is newer.
        var forgets: Bool
        fileprivate(set) var lineage: Lineage
        /// How often the server was asked in vain where the device continues.
        fileprivate var attempts = 0
        fileprivate var notBefore: Int64
    }

    /// What the device knows of the new history's beginning.
    enum Lineage: Hashable, Sendable {
        /// The server has to be asked where the device continues.
        case unknown
        case asked(RequestID)
        case continues(Problem.Continuation)
        /// The whole cache is verified.
        case none
    }

    struct Clear: Hashable, Sendable {
        /// The device's name after a clear of everything.
        var client: ClientIdentifier
        /// Whether only the records are removed.
        var keepsOutbox = false
        /// The owner of the disk afterwards, unless writes are kept.
        var principal: String?
        /// `nil` if the server withdrew the right to read.
        var callerID: CallerID?
        /// The failure of the reads that wait.
        var failure = SyncFailure.cleared
        /// The number of inputs that come before it.
        var inputs = 0
    }

    private(set) var reset: Reset?
    private(set) var clear: Clear?
    private var retry = Retry()
    /// Consecutive resets without a poll that showed that the history lasts.
    private var storm = Backoff()

    /// Whether no other request or transaction may start.
    var isUnderWay: Bool { reset != nil || clear != nil }

    /// When the reset or the clear is tried, where only the clock decides.
    var deadline: Int64? { isUnderWay ? max(retry.notBefore, reset?.notBefore ?? 0) : nil }

    /// Returns the clear that may be stored now.
    func dueClear(_ turn: Turn) -> Clear? { retry.isDue(turn) ? clear : nil }

    /// Returns the reset that may be stored now.
    func dueReset(_ turn: Turn) -> Reset? {
        guard clear == nil, retry.isDue(turn), let reset, turn.now.uptime >= reset.notBefore else { return nil }
        switch reset.lineage {
        case .unknown, .asked: return nil
        case .continues, .none: return reset
        }
    }

    /// Adds a reset. From the second consecutive one on, resets and the requests that depend on them wait ever longer,
    /// so that two servers that disagree do not cause a storm of requests.
    mutating func add(_ epoch: Epoch?, forgets: Bool, _ lineage: Lineage, _ turn: inout Turn) {
        let isAgain = storm.failures > 0
        let delay = turn.delay(&storm)
        reset = Reset(epoch: epoch, forgets: forgets, lineage: lineage, notBefore: isAgain ? turn.now.uptime + delay : 0)
    }

    /// Adds a reset because the disk was filled under other settings.
    mutating func addAtStart(_ epoch: Epoch?) { reset = Reset(epoch: epoch, forgets: false, lineage: .none, notBefore: 0) }

    // MARK: Lineage

    /// Asks the server where the device continues in the new history, if only that is missing.
    mutating func advance(_ state: SyncState, _ requests: inout RequestTable, _ turn: inout Turn) {
        guard clear == nil, retry.isDue(turn), let reset, turn.now.uptime >= reset.notBefore, reset.lineage == .unknown else { return }
        guard let cursor = state.cursor else {
            self.reset?.lineage = .none
            return
        }
        let request = requests.send(
            .changes(since: .after(cursor), filter: turn.settings.filter.requestable, wait: 0, limit: 1, client: nil), for: .continuation,
            needsFreshToken: retry.needsFreshToken, timeout: turn.settings.requestTimeout, &turn)
        self.reset?.lineage = .asked(request)
    }

    /// How often the question is repeated: after a failover many devices ask at once.
    private static let mostAttempts = 5

    /// Takes the answer. Without a continuation the whole cache is verified; if the server has no time, it is asked again.
    mutating func take(_ reply: Reply, hadFreshToken: Bool, _ turn: inout Turn) {
        guard case .asked? = reset?.lineage else { return }
        if case .problem(let problem, let cursor?, _) = reply, problem.code == .epochChanged { reset?.epoch = cursor.epoch }
        if let continuation = reply.continuation {
            retry.succeed()
            reset?.lineage = .continues(continuation)
            return
        }
        reset?.attempts += 1
        let isLast = reset.map { $0.attempts >= Self.mostAttempts } ?? true
        switch reply {
        case .problem(let problem, _, _) where problem.status == 401 && !hadFreshToken && !isLast:
            retry.refuseToken()
            reset?.lineage = .unknown
        case .problem(let problem, _, let retryAfter) where (problem.status == 429 || problem.status >= 500) && !isLast:
            retry.fail(&turn, retryAfter: retryAfter)
            reset?.lineage = .unknown
        case .failure(let failure) where !isLast:
            retry.fail(&turn, retryAfter: failure.retryAfter)
            reset?.lineage = .unknown
        default:
            retry.succeed()
            reset?.lineage = .none
        }
    }

    /// Notes that the request has ended without a response.
    mutating func released() { if case .asked? = reset?.lineage { reset?.lineage = .unknown } }

    /// Adds a clear, after so many inputs if it keeps the outbox. Returns the caller of an earlier clear that has not ended.
    mutating func add(_ clear: Clear, after inputs: Int) -> CallerID? {
        let earlier = self.clear
        defer {
            self.clear = clear
            self.clear?.inputs = inputs
            // An earlier clear of everything has removed the outbox already.
            if earlier?.keepsOutbox == false { self.clear?.keepsOutbox = false }
            reset = nil
            retry.hurry()
        }
        return earlier?.callerID
    }

    /// Extends the clear to the outbox.
    mutating func clearEverything() { clear?.keepsOutbox = false }

    /// Returns the caller that waits for the clear, once.
    mutating func takeCaller() -> CallerID? {
        defer { clear?.callerID = nil }
        return clear?.callerID
    }

    /// Returns whether one more input comes before the clear.
    mutating func takeInput() -> Bool {
        guard let inputs = clear?.inputs, inputs > 0 else { return false }
        clear?.inputs -= 1
        return true
    }

    mutating func resetStored() { reset = nil }

    mutating func cleared() {
        clear = nil
        storm.reset()
    }

    /// Notes that the disk has committed a transaction.
    mutating func stored() { retry.wake() }

    /// Notes that the disk has not committed the transaction. To inherit all entries takes more room than to verify them.
    mutating func notStored(_ turn: inout Turn) {
        if case .continues? = reset?.lineage { reset?.lineage = .none }
        retry.fail(&turn)
    }

    /// Notes that a poll showed that the history lasts.
    mutating func calm() { storm.reset() }

    mutating func wake() {
        retry.hurry()
        reset?.notBefore = 0
    }

    /// See ``SyncMachine/relativeState(at:)``.
    mutating func makeRelative(to uptime: Int64, _ requests: RequestTable) {
        retry.makeRelative(to: uptime)
        guard let reset else { return }
        self.reset?.notBefore = max(0, reset.notBefore - uptime)
        if case .asked(let request) = reset.lineage, let relative = requests.relativeID(of: request) {
            self.reset?.lineage = .asked(relative)
        }
    }
}
