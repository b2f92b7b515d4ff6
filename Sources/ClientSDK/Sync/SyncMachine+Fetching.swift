import FreshetWire

/// Reads from the server, fenced against what is known already (rule 4).
extension SyncMachine {
    mutating func take(_ request: FetchRequest) {
        guard phase == .running || phase == .clearing, !request.items.isEmpty else {
            return actions.append(.answer(request.token, request.items.isEmpty ? .views([]) : .failed(.stopped)))
        }
        fetches.add(request.token, keys: request.items.map(\.key))
        for item in request.items {
            let known = phase == .running ? outbox.keys[item.key].map(\.base) ?? item.known : nil
            fetches.add(item.key, known: known, floor: floor(known), asker: request.token, mustBeNew: request.mustBeNew)
        }
    }

    /// How old an answer may be that is asked for now: no older than what the device has shown, nor than what the feed has told.
    private func floor(_ known: Entry?) -> Revision {
        let position = state.cursor?.revision ?? .zero
        guard let known, known.epoch == state.epoch else { return position }
        return max(position, known.asOf)
    }

    mutating func advanceFetches() {
        // Writes whose effect nobody else will tell: the filter keeps their keys out of the feed.
        for key in outbox.keysAwaitingBase where fetches.items[key] == nil && mustRead(key) { refresh(key) }
        while fetches.underWay < settings.fetchRequests {
            let ready = fetches.ready(at: now.uptime)
            guard let first = ready.first, let item = fetches.items[first] else { return }
            if item.isAlone || ready.count == 1 {
                read(first, item)
            } else {
                let keys = Array(ready.filter { fetches.items[$0]?.isAlone == false }.prefix(settings.fetchKeys))
                readTogether(keys, needsFreshToken: keys.contains { fetches.items[$0]?.needsFreshToken ?? false })
            }
        }
    }

    /// Whether only a read can tell that a write of ours became part of the record: the feed does not bring the key's changes, or the write may
    /// have made none.
    private func mustRead(_ key: RecordKey) -> Bool {
        guard let pending = outbox.keys[key] else { return false }
        let isFollowed = settings.filter.matches(key)
        return pending.rows.contains { row in
            switch row.state {
            case .applied: !isFollowed
            case .settled: true
            case .pending, .merging: false
            }
        }
    }

    /// Reads a key for the machine's own sake, no older than what its writes were answered with.
    mutating func refresh(_ key: RecordKey) {
        guard let pending = outbox.keys[key] else { return }
        var floor = floor(pending.base)
        for row in pending.rows {
            switch row.state {
            case .applied(let position), .settled(let position):
                if position.epoch == state.epoch { floor = max(floor, position.revision) }
            case .pending, .merging: break
            }
        }
        fetches.add(key, known: pending.base, floor: floor, asker: nil)
    }

    private mutating func read(_ key: RecordKey, _ item: Fetches.Item) {
        let known = comparable(item.known).map { Cursor(epoch: $0.epoch, revision: $0.revision) }
        fetches.update(key) { $0.isUnderWay = true }
        fetches.underWay += 1
        _ = send(
            .record(key, known: known, client: writer(of: CollectionOfOne(key))), .fetch([key]), needsFreshToken: item.needsFreshToken,
            timeout: settings.requestTimeout)
    }

    private mutating func readTogether(_ keys: [RecordKey], needsFreshToken: Bool) {
        var items: [ReadsRequest.Item] = []
        for key in keys {
            items.append(ReadsRequest.Item(key: key, revision: comparable(fetches.items[key]?.known)?.revision))
            fetches.update(key) { $0.isUnderWay = true }
        }
        fetches.underWay += 1
        _ = send(
            .reads(ReadsRequest(items: items, client: writer(of: keys))), .fetch(keys), needsFreshToken: needsFreshToken,
            timeout: settings.requestTimeout)
    }

    /// The known record, if the server can compare it: a record of this history.
    private func comparable(_ known: Entry?) -> Entry? {
        guard let known, known.epoch == state.epoch, known.content != nil else { return nil }
        return known
    }

    // MARK: Answers

    mutating func takeFetchReply(_ reply: Reply, _ lastWrite: Int64?, _ request: Outstanding, _ keys: [RecordKey]) {
        fetches.requeue(keys)
        switch reply {
        case .record(let record, let cursor) where keys == [record.key]:
            arrive([.init(key: record.key, news: .record(record), cursor: cursor)], lastWrite)
        case .missing(let cursor) where keys.count == 1: arrive([.init(key: keys[0], news: .missing, cursor: cursor)], lastWrite)
        case .notModified(let cursor) where keys.count == 1 && comparable(fetches.items[keys[0]]?.known) != nil:
            arrive([.init(key: keys[0], news: .unchanged, cursor: cursor)], lastWrite)
        case .reads(let response): arrive(sorted(response, keys), lastWrite)
        case .problem(let problem, _, let retryAfter):
            for key in keys { fetchRefused(key, problem, retryAfter, hadFreshToken: request.hadFreshToken) }
        case .failure(let failure):
            for key in keys { fetchFailed(key, .offline(failure)) }
        case .garbage(let text):
            for key in keys { fetchFailed(key, .malformed(text)) }
        case .record, .missing, .notModified, .page, .quiet, .results, .client:
            for key in keys { fetchFailed(key, .malformed("an answer that does not belong to a read of \(key)")) }
        }
    }

    /// The answer to a read of many, key by key; what it does not mention is as the asker has it.
    private mutating func sorted(_ response: ReadsResponse, _ keys: [RecordKey]) -> [Fetches.Arrival] {
        let records = Dictionary(response.records.map { ($0.key, $0) }, uniquingKeysWith: { $1 })
        let missing = Set(response.missing)
        var arrivals: [Fetches.Arrival] = []
        for key in keys {
            if let record = records[key] {
                if record.content == nil {
                    // Too large to come with others.
                    fetches.update(key) { $0.isAlone = true }
                } else {
                    arrivals.append(.init(key: key, news: .record(record), cursor: response.cursor))
                }
            } else if missing.contains(key) {
                arrivals.append(.init(key: key, news: .missing, cursor: response.cursor))
            } else if comparable(fetches.items[key]?.known) != nil {
                arrivals.append(.init(key: key, news: .unchanged, cursor: response.cursor))
            } else {
                fetchFailed(key, .malformed("the answer does not say anything about \(key)"))
            }
        }
        return arrivals
    }

    private mutating func arrive(_ arrivals: [Fetches.Arrival], _ lastWrite: Int64?) {
        guard !arrivals.isEmpty else { return }
        for arrival in arrivals { fetches.update(arrival.key) { $0.isUnderWay = true } }
        intents.append(.fetched(arrivals, lastWrite: lastWrite))
    }

    mutating func planFetched(_ arrivals: [Fetches.Arrival], _ lastWrite: Int64?) -> Plan? {
        var plan = Plan(.fetched([]))
        var outcomes: [Fetches.Outcome] = []
        for arrival in arrivals {
            let cursor = arrival.cursor
            guard let item = fetches.items[arrival.key] else { continue }
            guard cursor.epoch == state.epoch ?? cursor.epoch else {
                fetches.update(item.key) { $0.isUnderWay = false }
                continue
            }
            // A write of this device has left since the request did: it is sent again, and asks for the number.
            guard lastWrite != nil || writer(of: CollectionOfOne(item.key)) == nil else {
                fetches.update(item.key) { $0.isUnderWay = false }
                continue
            }
            // The fence.
            guard cursor.revision >= item.floor else {
                note(.key(item.key), .fetchRefused(asOf: cursor.revision, floor: item.floor))
                fetches.update(item.key) { $0.isUnderWay = false }
                fetchFailed(item.key, .outdated)
                continue
            }
            guard let entry = entry(arrival, item) else {
                fetches.update(item.key) { $0.isUnderWay = false }
                fetchFailed(item.key, .malformed("the revision of \(item.key) is past the position that it came with"))
                continue
            }
            if state.epoch == nil, plan.state.isEmpty { plan.state.append(.epoch(cursor.epoch)) }
            outcomes.append(Fetches.Outcome(key: item.key, entry: entry, index: plan.entries.count))
            let stated = lastWrite.map { WriteWatermark(epoch: cursor.epoch, number: $0) }
            apply(.put(entry, onlyIfHeld: false), to: item.key, .fetched, stated: stated, in: &plan)
            let revision: Revision? = entry.content == nil ? nil : entry.revision
            plan.notes.append(StoryNote(at: now.wall, scope: .key(item.key), what: .fetched(revision, asOf: cursor.revision)))
        }
        guard !outcomes.isEmpty else { return nil }
        settleAll(.fetched, in: &plan)
        plan.continuation = .fetched(outcomes)
        return plan
    }

    private func entry(_ arrival: Fetches.Arrival, _ item: Fetches.Item) -> Entry? {
        let cursor = arrival.cursor
        switch arrival.news {
        case .record(let record):
            guard record.revision <= cursor.revision, let content = record.content else { return nil }
            return Entry(
                key: item.key, epoch: cursor.epoch, revision: record.revision, asOf: cursor.revision, pass: state.pass, content: content,
                modified: record.modified, verifiedAt: now.wall, origin: .fetch)
        case .missing:
            return Entry(
                key: item.key, epoch: cursor.epoch, revision: cursor.revision, asOf: cursor.revision, pass: state.pass, content: nil,
                verifiedAt: now.wall, origin: .fetch)
        case .unchanged:
            guard var known = comparable(item.known), known.revision <= cursor.revision else { return nil }
            known.asOf = max(known.asOf, cursor.revision)
            known.pass = state.pass
            known.verifiedAt = now.wall
            return known
        }
    }

    mutating func fetchesStored(_ outcomes: [Fetches.Outcome]) {
        for outcome in outcomes {
            let isOwn = fetches.items[outcome.key]?.askers.isEmpty == true
            if isOwn, mustRead(outcome.key) {
                fetchFailed(outcome.key, .outdated)
            } else {
                finish(outcome.key, view(of: outcome.key, stored: outcome.entry))
            }
        }
    }

    /// The value is known, though it cannot be kept: who asked gets it, nobody else is told.
    mutating func fetchesNotStored(_ outcomes: [Fetches.Outcome], _ plan: Plan) {
        for outcome in outcomes {
            let view = plan.staged(outcome.key)?.view ?? KeyView(outcome.key, outcome.entry)
            if fetches.items[outcome.key]?.askers.isEmpty == true {
                fetches.update(outcome.key) { $0.isUnderWay = false }
                fetchFailed(outcome.key, .storageFull)
            } else {
                finish(outcome.key, view)
            }
        }
    }

    private mutating func finish(_ key: RecordKey, _ view: KeyView) {
        if outbox.mergingKeys.contains(key) { readForMerge.insert(key) }
        for (token, views) in fetches.finish(key, view) { actions.append(.answer(token, .views(views))) }
    }

    // MARK: Trouble

    private mutating func fetchRefused(_ key: RecordKey, _ problem: Problem, _ retryAfter: Int64?, hadFreshToken: Bool) {
        switch problem.status {
        case 401 where !hadFreshToken: fetches.update(key) { $0.needsFreshToken = true }
        case 408, 410, 425, 429, 500...: fetchFailed(key, .refused(problem), retryAfter)
        // Asked again it would be refused again.
        default: fetchFailed(key, .refused(problem), retryAfter, isFinal: true)
        }
    }

    /// Asks again after a back-off, or, after so many attempts, tells those who wait. What the machine itself must know it asks for ever.
    private mutating func fetchFailed(_ key: RecordKey, _ failure: SyncFailure, _ retryAfter: Int64? = nil, isFinal: Bool = false) {
        guard var item = fetches.items[key] else { return }
        item.attempts += 1
        item.isUnderWay = false
        item.lacksContact = if case .offline = failure { true } else { false }
        item.notBefore = now.uptime + item.backoff.next(settings, &chance, retryAfter: retryAfter)
        let isGivenUp = isFinal || item.attempts >= settings.fetchAttempts
        guard isGivenUp, !item.askers.isEmpty else { return fetches.update(key) { $0 = item } }
        for token in fetches.fail(key) { actions.append(.answer(token, .failed(failure))) }
    }
}
