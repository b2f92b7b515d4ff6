import FreshetWire

/// Reads from the server, fenced against what is known already (rule 4).
struct Reader: Hashable, Sendable {
    /// A response for one key, before the fence.
    struct Arrival: Hashable, Sendable {
        enum News: Hashable, Sendable {
            case record(Record)
            case unchanged
            case missing
        }

        var key: RecordKey
        var news: News
        var cursor: Cursor
    }

    private var queue = ReadQueue()
    /// The most keys in one request; fewer while the answers to more are too large.
    private var limit = Int.max

    /// How many requests are under way.
    var underWay: Int { queue.underWay }

    // MARK: Asking

    /// - Parameter known: the device's record of a key.
    mutating func add(_ request: FetchRequest, _ state: SyncState, _ turn: Turn, known: (FetchRequest.Item) -> Entry?) {
        let (deadline, isEndless) = turn.now.uptime.addingReportingOverflow(turn.settings.readTimeout)
        queue.add(request.token, keys: request.items.map(\.key), deadline: isEndless ? .max : deadline)
        for item in request.items {
            let known = known(item)
            queue.add(item.key, known: known, floor: Self.floor(known, state), asker: request.token, mustBeNew: request.mustBeNew)
        }
    }

    /// How old a response may be that is asked for now: no older than what the device has shown, nor than what the feed has told.
    private static func floor(_ known: Entry?, _ state: SyncState) -> Revision {
        let position = state.cursor?.revision ?? .zero
        guard let known, known.epoch == state.epoch else { return position }
        return max(position, known.asOf)
    }

    /// Reads a key for the machine's own sake, no older than what its writes were answered with.
    mutating func refresh(_ pending: PendingKey, _ state: SyncState) {
        guard queue[pending.key] == nil else { return }
        var floor = Self.floor(pending.base, state)
        for row in pending.rows {
            if let position = row.position, position.epoch == state.epoch { floor = max(floor, position.revision) }
        }
        queue.add(pending.key, known: pending.base, floor: floor, asker: nil)
    }

    /// Reads a key whose value is too large to come with others, for the machine's own sake.
    mutating func refresh(large key: RecordKey, _ state: SyncState) {
        queue.add(key, known: nil, floor: Self.floor(nil, state), asker: nil)
        queue.update(key) { $0.isAlone = true }
    }

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

    /// The known record, if the server can compare it: a record of this history.
    private func comparable(_ known: Entry?, _ state: SyncState) -> Entry? {
        guard let known, known.epoch == state.epoch, known.content != nil else { return nil }
        return known
    }

    func nextAttempt(after uptime: Int64) -> Int64? { queue.nextAttempt(after: uptime) }

    /// When the next caller waits no longer.
    var deadline: Int64? { queue.deadline }

    /// Answers those who have waited for as long as a read may take.
    mutating func expire(_ turn: inout Turn) {
        guard let deadline, deadline <= turn.now.uptime else { return }
        for (token, failure) in queue.expire(at: turn.now.uptime) {
            let silence = SyncFailure.offline(.interrupted("no answer within \(turn.settings.readTimeout) ms"))
            turn.emit(.answer(token, .failed(failure ?? silence)))
        }
    }

    // MARK: Responses

    /// The request has ended without a response to take.
    mutating func released(_ keys: [RecordKey]) { queue.requeue(keys) }

    /// Returns what is to be stored.
    mutating func take(
        _ reply: Reply, to sent: RequestTable.Request, _ keys: [RecordKey], _ state: SyncState, _ turn: inout Turn
    ) -> [Arrival] {
        queue.requeue(keys)
        var arrivals: [Arrival] = []
        switch reply {
        case .record(let record, let cursor) where keys == [record.key]:
            arrivals = [Arrival(key: record.key, news: .record(record), cursor: cursor)]
        case .missing(let cursor) where keys.count == 1: arrivals = [Arrival(key: keys[0], news: .missing, cursor: cursor)]
        case .notModified(let cursor) where keys.count == 1 && comparable(queue[keys[0]]?.known, state) != nil:
            arrivals = [Arrival(key: keys[0], news: .unchanged, cursor: cursor)]
        case .reads(let response): arrivals = sorted(response, keys, state, &turn)
        case .problem(let problem, _, let retryAfter):
            for key in keys { refused(key, problem, retryAfter, hadFreshToken: sent.hadFreshToken, &turn) }
        case .failure(let failure):
            for key in keys { fail(key, .offline(failure), after: failure.retryAfter, &turn) }
        case .tooLarge where keys.count > 1: limit = min(limit, keys.count / 2)
        // Asked again it would be as large: raise the limit.
        case .tooLarge(let text):
            for key in keys { fail(key, .malformed(text), isFinal: true, &turn) }
        case .garbage(let text):
            for key in keys { fail(key, .malformed(text), &turn) }
        case .record, .missing, .notModified, .page, .quiet, .results, .client:
            for key in keys { fail(key, .malformed("an answer that does not belong to a read of \(key)"), &turn) }
        }
        for arrival in arrivals { queue.update(arrival.key) { $0.isUnderWay = true } }
        return arrivals
    }

    /// The response to a read of many, key by key; what it does not mention is as the asker has it. The keys from its `next` on are not
    /// answered, and are asked for again at once.
    private mutating func sorted(_ response: ReadsResponse, _ keys: [RecordKey], _ state: SyncState, _ turn: inout Turn) -> [Arrival] {
        guard let answered = response.answered(of: keys.count) else {
            for key in keys { fail(key, .malformed(ReadsResponse.noProgress(of: keys.count)), &turn) }
            return []
        }
        let records = Dictionary(response.records.map { ($0.key, $0) }, uniquingKeysWith: { $1 })
        let missing = Set(response.missing)
        var arrivals: [Arrival] = []
        for key in keys.prefix(answered) {
            if let record = records[key] {
                if record.content == nil {
                    // Too large to come with others.
                    queue.update(key) { $0.isAlone = true }
                } else {
                    arrivals.append(Arrival(key: key, news: .record(record), cursor: response.cursor))
                }
            } else if missing.contains(key) {
                arrivals.append(Arrival(key: key, news: .missing, cursor: response.cursor))
            } else if comparable(queue[key]?.known, state) != nil {
                arrivals.append(Arrival(key: key, news: .unchanged, cursor: response.cursor))
            } else {
                fail(key, .malformed("the answer does not say anything about \(key)"), &turn)
            }
        }
        return arrivals
    }

    /// Plans what passes the fence; the other keys are asked for again.
    mutating func plan(
        _ arrivals: [Arrival], _ lastWrite: Int64?, _ rule: WatermarkRule, _ builder: PlanBuilder, _ turn: inout Turn
    ) -> Plan? {
        var builder = builder
        var entries: [Entry] = []
        for arrival in arrivals {
            // A write of the key may have left since the request did: then it is sent again, and asks for the number.
            let isStated = lastWrite != nil || rule.client(for: CollectionOfOne(arrival.key)) == nil
            guard let entry = accept(arrival, isStated: isStated, builder.state, &turn) else { continue }
            builder.add(fetched: entry, at: arrival.cursor, lastWrite)
            entries.append(entry)
        }
        guard !entries.isEmpty else { return nil }
        builder.settle(.fetched)
        builder.continueWith(.fetched(entries))
        return builder.plan
    }

    /// The entry that an arrival makes, if it passes the fence; otherwise the key is asked for again.
    ///
    /// - Parameter isStated: whether the response says which writes of this device its record contains, or need not say it.
    private mutating func accept(_ arrival: Arrival, isStated: Bool, _ state: SyncState, _ turn: inout Turn) -> Entry? {
        let cursor = arrival.cursor
        guard let item = queue[arrival.key] else { return nil }
        guard cursor.epoch == state.epoch ?? cursor.epoch, isStated else {
            queue.update(item.key) { $0.isUnderWay = false }
            return nil
        }
        guard cursor.revision >= item.floor else {
            turn.note(.key(item.key), .fetchRefused(asOf: cursor.revision, floor: item.floor))
            queue.update(item.key) { $0.isUnderWay = false }
            fail(item.key, .outdated, &turn)
            return nil
        }
        guard let entry = entry(arrival, item, state, turn) else {
            queue.update(item.key) { $0.isUnderWay = false }
            fail(item.key, .malformed("the revision of \(item.key) is past the position that it came with"), &turn)
            return nil
        }
        return entry
    }

    private func entry(_ arrival: Arrival, _ item: ReadQueue.Item, _ state: SyncState, _ turn: Turn) -> Entry? {
        let cursor = arrival.cursor
        switch arrival.news {
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
                Confirmation(
                    key: item.key, epoch: cursor.epoch, revision: known.revision, asOf: cursor.revision, pass: state.pass,
                    verifiedAt: turn.now.wall))
            return known
        }
    }

    // MARK: The disk's answers

    /// The entry is on disk.
    ///
    /// - Parameter isKnown: whether the device knows of all its writes of the key whether the record contains them.
    mutating func stored(_ key: RecordKey, _ view: KeyView, isKnown: Bool, _ turn: inout Turn) {
        guard isKnown || !isOwn(key) else { return ownFailed(key, .outdated, &turn) }
        finish(key, view, &turn)
    }

    /// The entry could not be kept: the callers get it all the same, and no observer does.
    mutating func notStored(_ key: RecordKey, _ view: KeyView, _ turn: inout Turn) {
        if isOwn(key) { ownFailed(key, .storageFull, &turn) } else { finish(key, view, &turn) }
    }

    private mutating func finish(_ key: RecordKey, _ view: KeyView, _ turn: inout Turn) {
        for (token, views) in queue.finish(key, view) { turn.emit(.answer(token, .views(views))) }
    }

    /// Whether nobody but the machine wants the key.
    private func isOwn(_ key: RecordKey) -> Bool { queue[key]?.askers.isEmpty == true }

    /// What the machine wants to know did not come to the disk.
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
        // Asked again it would be refused again.
        default: fail(key, .refused(problem), after: retryAfter, isFinal: true, &turn)
        }
    }

    /// Asks again after a while, or, after so many attempts, tells those who wait. What the machine itself must know it asks for ever.
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
            item.askers += item.later
            item.later = []
            return queue.update(key) { $0 = item }
        }
        turn.answer(queue.fail(key), .failed(failure))
    }

    // MARK: Other events

    mutating func abandon(_ token: Token) { queue.abandon(token) }
    mutating func raiseFloor(_ scope: InvalidationScope, to revision: Revision) { queue.raise(scope, to: revision) }
    mutating func forgetFloors() { queue.forgetFloors() }
    mutating func regainedContact() { queue.regainContact() }
    mutating func wake() { queue.wake() }

    /// Responses that were to go to the disk have been dropped, but for those of `keys`.
    mutating func release(except keys: Set<RecordKey> = []) { queue.release(except: keys) }

    /// Forgets everything. Returns those who wait, in order.
    mutating func removeAll() -> [Token] { queue.removeAll() }

    /// See ``SyncMachine/relativeState(at:)``.
    mutating func makeRelative(to uptime: Int64) { queue.makeRelative(to: uptime) }
}

extension ReadsResponse {
    /// How many of so many keys are answered, from the first on; `nil` where the response says that none is, or more than there are. Who asked
    /// on after that would ask for ever.
    func answered(of count: Int) -> Int? {
        guard let next else { return count }
        return (1..<max(count, 1)).contains(next) ? next : nil
    }

    static func noProgress(of count: Int) -> String { "the answer's 'next' is none of the places 1 to \(count - 1)" }
}
