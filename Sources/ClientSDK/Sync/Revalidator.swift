import FreshetWire

/// Compares all cached keys with the server after a reset, page by page, before the device is live again.
struct Revalidator: Hashable, Sendable {
    /// The query for the next keys, which the disk has not answered yet.
    private var query: CachedKeyQuery?
    private var request: RequestID?
    /// Whether a response is being stored.
    private var isStoring = false
    /// Keys that are to be requested again.
    private var again: [CachedKey] = []
    /// How many of them are answered by the response that is being stored.
    private var answered = 0
    private var after: RecordKey?
    /// The most keys in one request; reduced after a response that was too large.
    private var limit = Int.max
    private var retry = Retry()

    private var isIdle: Bool { query == nil && request == nil && !isStoring }

    /// When to continue, where only the clock decides.
    var deadline: Int64? { isIdle ? retry.notBefore : nil }

    func isWaiting(for query: CachedKeyQuery) -> Bool { self.query == query }

    mutating func advance(
        _ state: SyncState, _ rule: WatermarkRule, _ requests: inout RequestTable, _ turn: inout Turn
    ) {
        guard isIdle, retry.isDue(turn) else { return }
        if !again.isEmpty { return ask(again, state, rule, &requests, &turn) }
        let query = CachedKeyQuery(
            .before(pass: state.pass), after: after, limit: turn.settings.revalidationKeys, generation: requests.generation)
        self.query = query
        turn.emit(.loadCachedKeys(query))
    }

    /// Handles the disk's answer to the query. Returns the input to store, if any.
    mutating func take(
        _ keys: [CachedKey], _ state: SyncState, _ rule: WatermarkRule, _ requests: inout RequestTable,
        _ turn: inout Turn
    ) -> QueuedInput? {
        query = nil
        guard let last = keys.last else {
            isStoring = true
            limit = .max
            return .revalidationFinished
        }
        after = last.key
        ask(keys, state, rule, &requests, &turn)
        return nil
    }

    private mutating func ask(
        _ keys: [CachedKey], _ state: SyncState, _ rule: WatermarkRule, _ requests: inout RequestTable,
        _ turn: inout Turn
    ) {
        again = keys
        let keys = Array(keys.prefix(limit))
        request = requests.send(
            .reads(keys.request(state, rule)), for: .revalidation(keys), needsFreshToken: retry.needsFreshToken,
            timeout: turn.settings.requestTimeout, &turn)
    }

    /// Notes that the request has ended without a usable response.
    mutating func released() { request = nil }

    mutating func take(
        _ reply: Reply, _ lastWrite: Int64?, to sent: RequestTable.Request, _ keys: [CachedKey], _ state: SyncState,
        _ reachability: inout Reachability, _ turn: inout Turn
    ) -> [Effect] {
        request = nil
        switch reply {
        case .reads(let response):
            guard let cursor = state.cursor, response.cursor.revision >= cursor.revision else {
                stall(
                    .malformed("the reads reflect \(response.cursor), which is before the position of the reset"), nil, &reachability, &turn
                )
                return []
            }
            // The feed is of the rights at the beginning of the pass, and would not notice others that are withdrawn again.
            guard response.cursor.rights == cursor.rights else {
                return [.reset(state.epoch, forgets: false, because: "the rights of the token have changed during the verification")]
            }
            guard let answered = response.answered(of: keys.count) else {
                stall(.malformed(ReadsResponse.noProgress(of: keys.count)), nil, &reachability, &turn)
                return []
            }
            retry.succeed()
            isStoring = true
            self.answered = answered
            let effects: [Effect] = reachability.isLost ? [.regainedContact] : []
            reachability.heard(turn)
            return effects + [.store(.cachedKeysRevalidated(Array(keys.prefix(answered)), response, lastWrite: lastWrite))]
        case .problem(let problem, _, _) where problem.withdrawsReading: return [.removeRecords(problem)]
        case .problem(let problem, _, let retryAfter):
            if problem.status == 401, !sent.hadFreshToken {
                retry.refuseToken()
            } else {
                stall(problem.status == 401 ? .unauthorized : .refused(problem), retryAfter, &reachability, &turn)
            }
        case .failure(let failure): stall(.transport(failure), failure.retryAfter, &reachability, &turn)
        case .tooLarge where keys.count > 1: limit = keys.count / 2
        case .tooLarge(let text) where turn.settings.following == .everything:
            // A copy of everything without its entry would say that there is no record.
            return [.reset(state.epoch, forgets: false, because: "\(keys[0].key) cannot be verified: \(text)")]
        case .tooLarge(let text):
            // Its entry is not confirmed and leaves at the end of the pass. A caller that reads the key gets the error.
            turn.log(.error, "\(keys[0].key) cannot be verified and leaves the cache: \(text)")
            again.removeFirst(min(1, again.count))
        case .garbage(let text): stall(.malformed(text), nil, &reachability, &turn)
        case .page, .noChange, .results, .record, .notModified, .missing, .client, .list:
            stall(.malformed("an answer that does not belong to reads"), nil, &reachability, &turn)
        }
        return []
    }

    private mutating func stall(
        _ trouble: SyncStatus.Trouble, _ retryAfter: Int64?, _ reachability: inout Reachability, _ turn: inout Turn
    ) {
        if case .transport = trouble { reachability.lost(trouble, turn) } else { reachability.failed(trouble) }
        retry.fail(&turn, retryAfter: retryAfter)
    }

    /// Plans the storage of a response; `nil` if the same keys must be requested again.
    mutating func plan(
        _ keys: [CachedKey], _ response: ReadsResponse, _ lastWrite: Int64?, _ rule: WatermarkRule, _ builder: PlanBuilder
    ) -> TransactionPlan? {
        // A write of these keys was sent after the request: the request is sent again, and asks for the number.
        guard lastWrite != nil || rule.client(for: keys.lazy.map(\.key)) == nil else {
            isStoring = false
            return nil
        }
        var builder = builder
        builder.add(revalidated: keys, response, lastWrite)
        return builder.plan
    }

    // MARK: The disk's answers

    mutating func stored(_ reachability: inout Reachability) {
        isStoring = false
        // The keys that the response left out come next.
        again.removeFirst(min(answered, again.count))
        answered = 0
        reachability.stored()
    }

    /// Notes that the disk did not return the keys, or did not store the response.
    mutating func failed(_ failure: DiskFailure, _ reachability: inout Reachability, _ turn: inout Turn) {
        query = nil
        isStoring = false
        stall(.disk(failure), nil, &reachability, &turn)
    }

    mutating func wake() { retry.wake() }

    /// See ``SyncMachine/relativeState(at:)``.
    mutating func makeRelative(to uptime: Int64, _ requests: RequestTable) {
        query?.generation = 0
        request = requests.relativeID(of: request)
        retry.makeRelative(to: uptime)
    }
}
