import FreshetWire

/// Reads again, in the background, the records of a copy whose values did not come along or were invalidated.
///
/// The disk knows which they are (``Entry/needsRefresh``); this part knows only how far the reading has come. It asks for many keys with one
/// request, and for one such request at a time. Values too large to come with others are left to the ``Reader``, a few at a time.
struct Refresher: Hashable, Sendable {
    /// Whether the disk holds such entries, or may.
    private(set) var isNeeded = false
    /// Whether entries may have come since the reading began, before the place that it has reached.
    private var mustBeginAgain = false
    /// Whether it reads once more what a reading has left.
    private var isRepeating = false
    /// The last key that was read; `nil` at the beginning.
    private var after: RecordKey?
    /// The disk was asked for the next keys.
    private var query: HeldQuery?
    private var request: RequestID?
    /// The last key of the response that is on its way to the disk.
    private var storing: RecordKey?
    /// Keys that the reader has: their values are large, or somebody asked for them.
    private var atReader: Set<RecordKey> = []
    /// The most keys in one request; fewer after an answer that was too large.
    private var limit = Int.max
    private var retry = Retry()

    private var isIdle: Bool { query == nil && request == nil && storing == nil }

    /// When to go on, where that is a matter of time.
    var deadline: Int64? { isNeeded && isIdle ? retry.notBefore : nil }

    func isWaiting(for query: HeldQuery) -> Bool { self.query == query }

    /// The disk holds entries that are to be read again.
    mutating func add() {
        mustBeginAgain = isNeeded
        isNeeded = true
    }

    mutating func advance(_ reader: Reader, _ requests: RequestTable, _ turn: inout Turn) {
        guard isNeeded, isIdle, retry.isDue(turn) else { return }
        if !atReader.isEmpty { atReader = atReader.filter(reader.isReading) }
        guard atReader.isEmpty else { return }
        let query = HeldQuery(
            .needingRefresh, after: after, limit: min(turn.settings.verificationKeys, limit), generation: requests.generation)
        self.query = query
        turn.emit(.loadHeld(query))
    }

    /// The disk has answered the query.
    mutating func take(
        _ keys: [HeldKey], _ state: SyncState, _ rule: WatermarkRule, _ reader: Reader, _ requests: inout RequestTable, _ turn: inout Turn
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

    /// There are no more keys behind the last one. What is left was too large, or its read failed: the more often, the longer it waits.
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
        _ reply: Reply, _ lastWrite: Int64?, to sent: RequestTable.Request, _ keys: [HeldKey], _ turn: inout Turn
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
        case .garbage, .page, .quiet, .results, .record, .notModified, .missing, .client: retry.fail(&turn)
        }
        return []
    }

    /// Plans what a response says; `nil` if the same keys must be asked for again.
    mutating func plan(
        _ keys: [HeldKey], _ response: ReadsResponse, _ lastWrite: Int64?, _ rule: WatermarkRule, _ builder: PlanBuilder
    ) -> Plan? {
        // A write of these keys has left since the request did: it is sent again, and asks for the number.
        guard lastWrite != nil || rule.client(for: keys.lazy.map(\.key)) == nil else {
            storing = nil
            return nil
        }
        var builder = builder
        builder.continueWith(.refreshed(large: builder.add(refreshed: keys, response, lastWrite)))
        return builder.plan
    }

    /// The response is on disk.
    ///
    /// - Parameter keys: those whose values did not come along with the others.
    mutating func stored(large keys: [RecordKey]) {
        after = storing ?? after
        storing = nil
        atReader.formUnion(keys)
    }

    /// The request has ended without a response to take.
    mutating func released() { request = nil }

    /// The disk did not give the keys, or did not take what came of them.
    mutating func failed(_ turn: inout Turn) {
        query = nil
        storing = nil
        retry.fail(&turn)
    }

    /// A reset begins: what is on its way is not expected any more. The reading begins again after it.
    mutating func reset() {
        self = Refresher(isNeeded: isNeeded)
    }

    init(isNeeded: Bool = false) { self.isNeeded = isNeeded }

    mutating func regainedContact() { retry.hurry() }
    mutating func wake() { retry.wake() }

    /// See ``SyncMachine/relativeState(at:)``.
    mutating func makeRelative(to uptime: Int64, _ requests: RequestTable) {
        query?.generation = 0
        request = requests.place(of: request)
        retry.makeRelative(to: uptime)
    }
}

extension [HeldKey] {
    /// The request that compares these keys with the server's records.
    func request(_ state: SyncState, _ rule: WatermarkRule) -> ReadsRequest {
        let items = map { held in
            ReadsRequest.Item(key: held.key, revision: held.epoch == state.epoch && held.hasValue ? held.revision : nil)
        }
        return ReadsRequest(items: items, client: rule.client(for: lazy.map(\.key)))
    }
}
