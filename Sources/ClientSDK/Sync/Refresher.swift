import FreshetWire

/// Reads again, in the background, the records of a copy whose values were left out or invalidated.
///
/// The disk selects them (``Entry/needsRefresh``); this part keeps only the progress of the reading. It asks for many
/// keys with one request, and sends one such request at a time. Values too large for such a response are left to the
/// ``Reader``, a few at a time.
struct Refresher: Hashable, Sendable {
    /// Whether the disk holds such entries, or may.
    private(set) var isNeeded = false
    /// Whether entries may have been added before the present place since the reading began.
    private var mustBeginAgain = false
    /// Whether it repeats a reading that has left some entries.
    private var isRepeating = false
    /// The last key that was read; `nil` at the beginning.
    private var after: RecordKey?
    /// The query for the next keys, which the disk has not answered yet.
    private var query: CachedKeyQuery?
    private var request: RequestID?
    /// The last key of the response that is being stored.
    private var storing: RecordKey?
    /// Keys that the reader has: their values are large, or a caller wants them.
    private var atReader: Set<RecordKey> = []
    /// The most keys in one request; reduced after a response that was too large.
    private var limit = Int.max
    private var retry = Retry()

    private var isIdle: Bool { query == nil && request == nil && storing == nil }

    /// When to continue, where only the clock decides.
    var deadline: Int64? { isNeeded && isIdle ? retry.notBefore : nil }

    func isWaiting(for query: CachedKeyQuery) -> Bool { self.query == query }

    /// Notes that the disk holds entries that are to be read again.
    mutating func add() {
        mustBeginAgain = isNeeded
        isNeeded = true
    }

    mutating func advance(_ reader: Reader, _ requests: RequestTable, _ turn: inout Turn) {
        guard isNeeded, isIdle, retry.isDue(turn) else { return }
        if !atReader.isEmpty { atReader = atReader.filter(reader.isReading) }
        guard atReader.isEmpty else { return }
        let query = CachedKeyQuery(
            .needingRefresh, after: after, limit: min(turn.settings.revalidationKeys, limit), generation: requests.generation)
        self.query = query
        turn.emit(.loadCachedKeys(query))
    }

    /// Handles the disk's answer to the query.
    mutating func take(
        _ keys: [CachedKey], _ state: SyncState, _ rule: WatermarkRule, _ reader: Reader, _ requests: inout RequestTable, _ turn: inout Turn
    ) {
        query = nil
        guard let last = keys.last else { return reachedEnd(&turn) }
        atReader.formUnion(keys.lazy.map(\.key).filter(reader.isReading))
        let unread = keys.filter { !atReader.contains($0.key) }
        guard !unread.isEmpty else { return after = last.key }
        request = requests.send(
            .reads(unread.request(state, rule)), for: .refresh(unread), needsFreshToken: retry.needsFreshToken,
            timeout: turn.settings.requestTimeout, &turn)
    }

    /// Handles the end of the keys. The remaining entries were too large, or their read failed: each repetition waits
    /// longer.
    private mutating func reachedEnd(_ turn: inout Turn) {
        limit = .max
        if mustBeginAgain {
            isRepeating = false
        } else if after == nil {
            isNeeded = false
            isRepeating = false
            retry.succeed()
        } else if isRepeating {
            retry.fail(&turn)
        } else {
            isRepeating = true
        }
        (after, mustBeginAgain) = (nil, false)
    }

    mutating func take(
        _ reply: Reply, _ lastWrite: Int64?, to sent: RequestTable.Request, _ keys: [CachedKey], _ turn: inout Turn
    ) -> [Effect] {
        request = nil
        switch reply {
        case .reads(let response):
            guard let answered = response.answered(of: keys.count) else {
                turn.log(.error, "records could not be read again: \(ReadsResponse.noProgress(of: keys.count))")
                retry.fail(&turn)
                return []
            }
            if !isRepeating { retry.succeed() }
            storing = keys[answered - 1].key
            return [.store(.refreshed(Array(keys.prefix(answered)), response, lastWrite: lastWrite))]
        case .problem(let problem, _, let retryAfter):
            if problem.status == 401, !sent.hadFreshToken { retry.refuseToken() } else { retry.fail(&turn, retryAfter: retryAfter) }
        case .tooLarge where keys.count > 1: limit = keys.count / 2
        case .tooLarge(let text):
            turn.log(.error, "\(keys[0].key) cannot be read again, so its value stays as it is until it changes: \(text)")
            after = keys[0].key
        case .failure(let failure): retry.fail(&turn, retryAfter: failure.retryAfter)
        case .garbage, .page, .noChange, .results, .record, .notModified, .missing, .client, .list: retry.fail(&turn)
        }
        return []
    }

    /// Plans the storage of a response; `nil` if the same keys must be requested again.
    mutating func plan(
        _ keys: [CachedKey], _ response: ReadsResponse, _ lastWrite: Int64?, _ rule: WatermarkRule, _ builder: PlanBuilder
    ) -> TransactionPlan? {
        // A write of these keys was sent after the request: the request is sent again, and asks for the number.
        guard lastWrite != nil || rule.client(for: keys.lazy.map(\.key)) == nil else {
            storing = nil
            return nil
        }
        var builder = builder
        builder.setOnCommit(.refreshed(large: builder.add(refreshed: keys, response, lastWrite)))
        return builder.plan
    }

    /// Notes that the response is on disk.
    ///
    /// - Parameter keys: those whose values were too large for the response.
    mutating func stored(large keys: [RecordKey]) {
        after = storing ?? after
        storing = nil
        atReader.formUnion(keys)
    }

    /// Notes that the request has ended without a usable response.
    mutating func released() { request = nil }

    /// Notes that the disk did not return the keys, or did not store the response.
    mutating func failed(_ turn: inout Turn) {
        query = nil
        storing = nil
        retry.fail(&turn)
    }

    /// Begins the reading again after a reset. A response in flight is no longer expected.
    mutating func reset() {
        self = Refresher(isNeeded: isNeeded)
    }

    init(isNeeded: Bool = false) { self.isNeeded = isNeeded }

    mutating func regainedContact() { retry.hurry() }
    mutating func wake() { retry.wake() }

    /// See ``SyncMachine/relativeState(at:)``.
    mutating func makeRelative(to uptime: Int64, _ requests: RequestTable) {
        query?.generation = 0
        request = requests.relativeID(of: request)
        retry.makeRelative(to: uptime)
    }
}

extension [CachedKey] {
    /// Returns the request that compares these keys with the server's records.
    func request(_ state: SyncState, _ rule: WatermarkRule) -> ReadsRequest {
        let items = map { held in
            ReadsRequest.Item(key: held.key, revision: held.epoch == state.epoch && held.hasValue ? held.revision : nil)
        }
        return ReadsRequest(items: items, client: rule.client(for: lazy.map(\.key)))
    }
}
