import FreshetWire

/// Reads records from the server, with a check against responses older than the known state (rule 4).
struct Reader: Hashable, Sendable {
    /// A response for one key, before the staleness check.
    struct KeyResponse: Hashable, Sendable {
        enum Body: Hashable, Sendable {
            case record(Record)
            case unchanged
            case missing
            /// The token may not read the key.
            case forbidden
        }

        var key: RecordKey
        var body: Body
        var cursor: Cursor
        /// The device's record at the time of the request.
        var known: Entry?
    }

    private var queue = ReadQueue()
    /// The most keys in one request; reduced while larger responses are refused for their size.
    private var limit = Int.max

    /// The number of requests in flight.
    var underWay: Int { queue.underWay }

    // MARK: Asking

    /// - Parameter known: the device's record of a key.
    mutating func add(_ request: FetchRequest, _ state: SyncState, _ turn: Turn, known: (FetchRequest.Item) -> Entry?) {
        let (deadline, isEndless) = turn.now.uptime.addingReportingOverflow(turn.settings.readTimeout)
        queue.add(request.callerID, keys: request.items.map(\.key), deadline: isEndless ? .max : deadline)
        for item in request.items {
            let known = known(item)
            queue.add(
                item.key, known: known, lowerBound: Self.lowerBound(known, state), waiter: request.callerID, mustBeNew: request.mustBeNew)
        }
    }

    /// Returns the minimum position of a response to a request sent now: that of the device's entry, that of the feed, and that of the
    /// records that it has seen and does not keep.
    static func lowerBound(_ known: Entry?, _ state: SyncState) -> Revision {
        var position = state.cursor?.revision ?? .zero
        if let floor = state.floor, floor.epoch == state.epoch { position = max(position, floor.revision) }
        guard let known, known.epoch == state.epoch else { return position }
        return max(position, known.asOf)
    }

    /// Reads a key for the machine itself, no older than the answers to the key's writes.
    mutating func refresh(_ pending: PendingKey, _ state: SyncState) {
        guard queue[pending.key] == nil else { return }
        var lowerBound = Self.lowerBound(pending.base, state)
        for row in pending.rows {
            if let position = row.position, position.epoch == state.epoch { lowerBound = max(lowerBound, position.revision) }
        }
        queue.add(pending.key, known: pending.base, lowerBound: lowerBound, waiter: nil)
    }

    /// Reads a key for the machine itself whose value is too large for a response with other records.
    mutating func refresh(large key: RecordKey, _ state: SyncState) {
        queue.add(key, known: nil, lowerBound: Self.lowerBound(nil, state), waiter: nil)
        queue.update(key) { $0.isAlone = true }
    }

    /// Ends the machine's own reads of keys that the token may not read, unless it still needs them.
    mutating func endForbiddenReads(needed: [RecordKey]) { queue.removeOwn { $0.isForbidden && !needed.contains($0.key) } }

    func isReading(_ key: RecordKey) -> Bool { queue[key] != nil }

    mutating func advance(
        _ state: SyncState, _ rule: WatermarkRule, _ requests: inout RequestTable, _ turn: inout Turn
    ) {
        if queue.isEmpty { limit = .max }
        while queue.underWay < turn.settings.fetchRequests {
            let ready = queue.ready(at: turn.now.uptime)
            guard let first = ready.first, let item = queue[first] else { return }
            if item.isAlone || ready.count == 1 || limit == 1 {
                let known = comparable(item.known, state).map { Cursor(epoch: $0.epoch, revision: $0.revision) }
                queue.sent([first])
                let timeout = queue.patience(for: CollectionOfOne(first), at: turn.now.uptime, turn.settings)
                _ = requests.send(
                    .record(first, known: known, client: rule.client(for: CollectionOfOne(first))), for: .fetch([first]),
                    needsFreshToken: item.retry.needsFreshToken, timeout: timeout, &turn)
            } else {
                let keys = Array(ready.filter { queue[$0]?.isAlone == false }.prefix(min(turn.settings.fetchKeys, limit)))
                let items = keys.map { ReadsRequest.Item(key: $0, revision: comparable(queue[$0]?.known, state)?.revision) }
                let needsFreshToken = keys.contains { queue[$0]?.retry.needsFreshToken ?? false }
                queue.sent(keys)
                let timeout = queue.patience(for: keys, at: turn.now.uptime, turn.settings)
                _ = requests.send(
                    .reads(ReadsRequest(items: items, client: rule.client(for: keys))), for: .fetch(keys), needsFreshToken: needsFreshToken,
                    timeout: timeout, &turn)
            }
        }
    }

    /// Returns the known record if the server can compare it, as a record of this history.
    private func comparable(_ known: Entry?, _ state: SyncState) -> Entry? {
        guard let known, known.epoch == state.epoch, known.content != nil else { return nil }
        return known
    }

    func nextAttempt(after uptime: Int64) -> Int64? { queue.nextAttempt(after: uptime) }

    /// The earliest deadline of a caller.
    var deadline: Int64? { queue.deadline }

    /// Answers the callers that have waited for as long as a read may take.
    mutating func expire(_ turn: inout Turn) {
        guard let deadline, deadline <= turn.now.uptime else { return }
        for (callerID, failure) in queue.expire(at: turn.now.uptime) {
            let silence = SyncFailure.offline(.interrupted("no answer within \(turn.settings.readTimeout) ms"))
            turn.emit(.complete(callerID, .failed(failure ?? silence)))
        }
    }

    // MARK: Responses

    /// Notes that the request has ended without a usable response.
    mutating func released(_ keys: [RecordKey]) { queue.requeue(keys) }

    /// Returns the responses that are to be stored.
    mutating func take(
        _ reply: Reply, to sent: RequestTable.Request, _ keys: [RecordKey], _ state: SyncState, _ turn: inout Turn
    ) -> [KeyResponse] {
        queue.requeue(keys)
        var keyResponses: [KeyResponse] = []
        switch reply {
        case .record(let record, let cursor) where keys == [record.key]:
            keyResponses = [KeyResponse(key: record.key, body: .record(record), cursor: cursor)]
        case .missing(let cursor) where keys.count == 1: keyResponses = [KeyResponse(key: keys[0], body: .missing, cursor: cursor)]
        case .notModified(let cursor) where keys.count == 1 && comparable(queue[keys[0]]?.known, state) != nil:
            keyResponses = [KeyResponse(key: keys[0], body: .unchanged, cursor: cursor)]
        case .reads(let response): keyResponses = sorted(response, keys, state, &turn)
        case .problem(let problem, _, let retryAfter):
            let known = keys.first.flatMap { queue[$0]?.known }
            for key in keys { refused(key, problem, retryAfter, hadFreshToken: sent.hadFreshToken, &turn) }
            let cursor = state.cursor ?? known.map { Cursor(epoch: $0.epoch, revision: .zero) }
            if problem.withdrawsReading, keys.count == 1, let cursor {
                keyResponses = [KeyResponse(key: keys[0], body: .forbidden, cursor: cursor, known: known)]
            }
        case .failure(let failure):
            for key in keys { fail(key, .offline(failure), after: failure.retryAfter, &turn) }
        case .tooLarge where keys.count > 1: limit = min(limit, keys.count / 2)
        // The response to another request would be as large: raise the limit.
        case .tooLarge(let text):
            for key in keys { fail(key, .tooLarge(text), isFinal: true, &turn) }
        case .garbage(let text):
            for key in keys { fail(key, .malformed(text), &turn) }
        case .record, .missing, .notModified, .page, .noChange, .results, .client, .list:
            for key in keys { fail(key, .malformed("an answer that does not belong to a read of \(key)"), &turn) }
        }
        // The failure of one key can have been the answer for the callers of another. A later caller must not get its response.
        keyResponses.removeAll { $0.body != .forbidden && queue[$0.key] == nil }
        for keyResponse in keyResponses where keyResponse.body != .forbidden { queue.update(keyResponse.key) { $0.isUnderWay = true } }
        return keyResponses
    }

    /// Returns the response to a read of many keys, key by key; a key that it does not mention is unchanged. Keys from
    /// its `next` on are not answered, and are requested again at once.
    private mutating func sorted(_ response: ReadsResponse, _ keys: [RecordKey], _ state: SyncState, _ turn: inout Turn) -> [KeyResponse] {
        guard let answered = response.answered(of: keys.count) else {
            for key in keys { fail(key, .malformed(ReadsResponse.noProgress(of: keys.count)), &turn) }
            return []
        }
        let records = Dictionary(response.records.map { ($0.key, $0) }, uniquingKeysWith: { $1 })
        let missing = Set(response.missing)
        let forbidden = Set(response.forbidden)
        var keyResponses: [KeyResponse] = []
        for key in keys.prefix(answered) {
            if forbidden.contains(key) {
                let problem = Problem(.forbidden, "The token may not read \(key.description.shortened)")
                let known = queue[key]?.known
                fail(key, .refused(problem), isFinal: true, &turn)
                keyResponses.append(KeyResponse(key: key, body: .forbidden, cursor: response.cursor, known: known))
            } else if let record = records[key] {
                if record.content == nil {
                    // Too large for a response with other records.
                    queue.update(key) { $0.isAlone = true }
                } else {
                    keyResponses.append(KeyResponse(key: key, body: .record(record), cursor: response.cursor))
                }
            } else if missing.contains(key) {
                keyResponses.append(KeyResponse(key: key, body: .missing, cursor: response.cursor))
            } else if comparable(queue[key]?.known, state) != nil {
                keyResponses.append(KeyResponse(key: key, body: .unchanged, cursor: response.cursor))
            } else {
                fail(key, .malformed("the answer does not say anything about \(key)"), &turn)
            }
        }
        return keyResponses
    }

    /// Plans the responses that pass the staleness check; the other keys are requested again.
    mutating func plan(
        _ keyResponses: [KeyResponse], _ lastWrite: Int64?, _ rule: WatermarkRule, _ builder: PlanBuilder, _ turn: inout Turn
    ) -> TransactionPlan? {
        var builder = builder
        var entries: [Entry] = []
        for keyResponse in keyResponses {
            if case .forbidden = keyResponse.body {
                builder.evict(forbidden: keyResponse.key, known: keyResponse.known, at: keyResponse.cursor)
                continue
            }
            // A write of the key may have been sent after the request: then the request is sent again, and asks for
            // the number.
            let isStated = lastWrite != nil || rule.client(for: CollectionOfOne(keyResponse.key)) == nil
            guard let entry = accept(keyResponse, isStated: isStated, builder.state, &turn) else { continue }
            builder.add(fetched: entry, at: keyResponse.cursor, lastWrite)
            entries.append(entry)
        }
        guard !builder.plan.entries.isEmpty || !builder.plan.staged.isEmpty else { return nil }
        builder.removeIncluded()
        builder.setOnCommit(.fetched(entries))
        return builder.plan
    }

    /// Returns the entry of a response that passes the staleness check; otherwise the key is requested again.
    ///
    /// - Parameter isStated: whether the response states which writes of this device its record contains, or need not
    ///   state it.
    private mutating func accept(_ keyResponse: KeyResponse, isStated: Bool, _ state: SyncState, _ turn: inout Turn) -> Entry? {
        let cursor = keyResponse.cursor
        guard let item = queue[keyResponse.key] else { return nil }
        guard cursor.epoch == state.epoch ?? cursor.epoch, isStated else {
            queue.update(item.key) { $0.isUnderWay = false }
            return nil
        }
        // Under other rights than the feed's, the feed may not bring the key's changes. It is about to be read from its start.
        guard state.cursor.map({ $0.rights == cursor.rights }) ?? true else {
            queue.update(item.key) { $0.isUnderWay = false }
            fail(item.key, .outdated, &turn)
            return nil
        }
        guard cursor.revision >= item.lowerBound else {
            turn.note(.key(item.key), .fetchRefused(asOf: cursor.revision, lowerBound: item.lowerBound))
            queue.update(item.key) { $0.isUnderWay = false }
            fail(item.key, .outdated, &turn)
            return nil
        }
        guard let entry = entry(keyResponse, item, state, turn) else {
            queue.update(item.key) { $0.isUnderWay = false }
            fail(item.key, .malformed("the revision of \(item.key) is past the position that it came with"), &turn)
            return nil
        }
        return entry
    }

    private func entry(_ keyResponse: KeyResponse, _ item: ReadQueue.Item, _ state: SyncState, _ turn: Turn) -> Entry? {
        let cursor = keyResponse.cursor
        switch keyResponse.body {
        case .forbidden: return nil
        case .record(let record):
            guard record.revision <= cursor.revision, let content = record.content else { return nil }
            return Entry(
                key: item.key, epoch: cursor.epoch, revision: record.revision, asOf: cursor.revision, pass: state.pass, content: content,
                modified: record.modified, verifiedAt: turn.now.wall, origin: .fetch)
        case .missing:
            return Entry(
                key: item.key, epoch: cursor.epoch, revision: cursor.revision, asOf: cursor.revision, pass: state.pass, content: nil,
                verifiedAt: turn.now.wall, origin: .fetch)
        case .unchanged:
            guard var known = comparable(item.known, state), known.revision <= cursor.revision else { return nil }
            known.pass = state.pass
            known.verifiedAt = turn.now.wall
            known.confirm(
                Revalidation(
                    key: item.key, epoch: cursor.epoch, revision: known.revision, asOf: cursor.revision, pass: state.pass,
                    verifiedAt: turn.now.wall))
            return known
        }
    }

    // MARK: The disk's answers

    /// Notes that the entry is on disk.
    ///
    /// - Parameter isKnown: whether the device knows, for each of its writes of the key, whether the record contains it.
    mutating func stored(_ key: RecordKey, _ view: KeyView, isKnown: Bool, _ turn: inout Turn) {
        guard isKnown || !isOwn(key) else { return ownFailed(key, .outdated, &turn) }
        finish(key, view, &turn)
    }

    /// Notes that the entry could not be stored: the callers get it all the same, and no observer does.
    mutating func notStored(_ key: RecordKey, _ view: KeyView, _ turn: inout Turn) {
        if isOwn(key) { ownFailed(key, .disk(.full), &turn) } else { finish(key, view, &turn) }
    }

    private mutating func finish(_ key: RecordKey, _ view: KeyView, _ turn: inout Turn) {
        for (callerID, views) in queue.finish(key, view) { turn.emit(.complete(callerID, .views(views))) }
    }

    /// Whether only the machine wants the key.
    private func isOwn(_ key: RecordKey) -> Bool { queue[key]?.waiters.isEmpty == true }

    /// Notes that the disk did not store an entry that the machine needs.
    private mutating func ownFailed(_ key: RecordKey, _ failure: SyncFailure, _ turn: inout Turn) {
        queue.update(key) { $0.isUnderWay = false }
        fail(key, failure, &turn)
    }

    // MARK: Trouble

    private mutating func refused(
        _ key: RecordKey, _ problem: Problem, _ retryAfter: Int64?, hadFreshToken: Bool, _ turn: inout Turn
    ) {
        switch problem.status {
        case 401 where !hadFreshToken: queue.update(key) { $0.retry.refuseToken() }
        case 408, 410, 425, 429, 500...: fail(key, .refused(problem), after: retryAfter, &turn)
        // Another request would be refused again.
        default: fail(key, .refused(problem), after: retryAfter, isFinal: true, &turn)
        }
    }

    /// Schedules another attempt or, after the maximum of attempts, answers the callers. Reads for the machine itself
    /// are repeated without limit.
    private mutating func fail(
        _ key: RecordKey, _ failure: SyncFailure, after retryAfter: Int64? = nil, isFinal: Bool = false, _ turn: inout Turn
    ) {
        queue.dropUnlessWanted(key)
        guard var item = queue[key] else { return }
        item.attempts += 1
        item.failure = failure
        item.isUnderWay = false
        item.lacksContact = if case .offline = failure { true } else { false }
        item.retry.fail(&turn, retryAfter: retryAfter)
        let isGivenUp = isFinal || item.attempts >= turn.settings.fetchAttempts
        guard isGivenUp, item.hasCallers else {
            // The next request is sent after all of them have come.
            item.waiters += item.nextWaiters
            item.nextWaiters = []
            return queue.update(key) { $0 = item }
        }
        turn.complete(queue.fail(key), .failed(failure))
    }

    // MARK: Other events

    mutating func abandon(_ callerID: CallerID) { queue.abandon(callerID) }
    mutating func raiseLowerBound(_ scope: InvalidationScope, to revision: Revision) { queue.raise(scope, to: revision) }
    mutating func resetLowerBounds() { queue.resetLowerBounds() }
    mutating func regainedContact() { queue.regainContact() }
    mutating func wake() { queue.wake() }

    /// Requests keys again whose responses were dropped before they were stored, except for `keys`.
    mutating func release(except keys: Set<RecordKey> = []) { queue.release(except: keys) }

    /// Removes everything. Returns the ids of the callers, in order.
    mutating func removeAll() -> [CallerID] { queue.removeAll() }

    /// See ``SyncMachine/relativeState(at:)``.
    mutating func makeRelative(to uptime: Int64) { queue.makeRelative(to: uptime) }
}

extension ReadsResponse {
    /// Returns how many of `count` keys are answered, from the first on; `nil` if the response states none, or more
    /// than there are: a client that continued from there would never come to an end.
    func answered(of count: Int) -> Int? {
        guard let next else { return count }
        return (1..<max(count, 1)).contains(next) ? next : nil
    }

    static func noProgress(of count: Int) -> String { "the answer's 'next' is none of the places 1 to \(count - 1)" }
}
