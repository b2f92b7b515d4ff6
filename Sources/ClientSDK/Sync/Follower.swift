import FreshetWire

/// Follows the feed: requests pages, checks them and continues from their cursors.
struct Follower: Hashable, Sendable {
    private struct StoredResponse: Hashable, Sendable {
        /// As ``Follower/validAsOf``.
        var validAsOf: Int64
        /// The number of its request.
        var request: Int64
    }

    private var request: RequestID?
    /// Whether the last response reached the end of the feed, without a gap since then.
    private var isCaughtUp = false
    /// Whether the server may hold the request, since the device had reached the end of the feed when it was sent.
    private var isPolling = false
    /// The latest time at which the last stored response was still true for certain, in milliseconds of uptime. The
    /// response may have been in transit for long.
    private var validAsOf: Int64 = 0
    /// The responses that are being stored, in order; at most two.
    private var storing: [StoredResponse] = []
    /// The number of the request that was answered last.
    private var answered: Int64 = 0
    /// The number of the last request whose response, now on disk, reached the end of the feed.
    private(set) var verifiedBy: Int64 = 0
    /// A caller wants to know the state after the request with this number: the next request is not held.
    private var checkAfter: Int64 = 0
    /// The start of the page that may be requested while this one is stored; `nil` where the last response reached the end.
    private var next: Cursor?
    private var retry = Retry()
    /// The number of consecutive responses which said that the position is ahead of the server.
    private var cursorAheadCount = 0
    /// The number of consecutive polls that returned at once without changes.
    private var idleResponses = 0
    /// The latest position of a read that was stored since the request for the first page was sent; `nil` for none.
    private var readThrough: Cursor?
    /// Whether reads wait, so that the repeated first page is not too late again.
    private(set) var holdsReads = false
    /// Whether a read of other rights may cancel the request: not again before the feed has answered.
    private var mayBeAskedAgain = true
    /// The most changes of a page; reduced while larger responses are refused for their size.
    private var limit = Int.max

    var isLive: Bool { isCaughtUp }
    /// When the device stops being live while a response is being stored. Requests have separate deadlines.
    func liveUntil(_ settings: SyncSettings) -> Int64? { isCaughtUp && !storing.isEmpty ? vouchedUntil(settings) : nil }
    var isBusy: Bool { request != nil || !storing.isEmpty }
    /// When to send the next request, where only the clock decides.
    var deadline: Int64? { isBusy ? nil : retry.notBefore }
    var underWay: RequestID? { request }

    /// Asks for the present state at once, for a caller that came after the request with this number. Returns the poll that waits, to be
    /// cancelled: it may end with an earlier state.
    mutating func check(after number: Int64) -> RequestID? {
        checkAfter = number
        return isPolling ? request : nil
    }

    /// Returns the request that a read of other rights cancels; `nil` if one has done so since the feed's last answer.
    mutating func requestToRepeat() -> RequestID? {
        defer { mayBeAskedAgain = false }
        return mayBeAskedAgain ? request : nil
    }

    // MARK: Asking

    mutating func advance(
        _ state: SyncState, isRevalidating: Bool, _ rule: WatermarkRule, _ requests: inout RequestTable, _ turn: inout Turn
    ) {
        if let end = liveUntil(turn.settings), turn.now.uptime >= end { isCaughtUp = false }
        guard request == nil, retry.isDue(turn), let since = nextSince(state, isRevalidating, turn.settings) else { return }
        let isCheck = isCaughtUp && storing.isEmpty && verifiedBy <= checkAfter && checkAfter > 0
        let wait = state.cursor == nil || !storing.isEmpty || isCheck ? 0 : pollWait(turn)
        // After any gap, the device catches up before it polls.
        isPolling = wait > 0
        if !isPolling, !isCheck { isCaughtUp = false }
        if state.cursor == nil { readThrough = nil }
        // A poll that waits gets the same bytes as every other poll, so it names no client.
        request = requests.send(
            .changes(
                since: since, filter: turn.settings.filter.requestable, wait: wait, limit: min(turn.settings.pageLimit, limit),
                client: wait == 0 ? rule.client : nil),
            for: .feed(since: since, wait: wait), needsFreshToken: retry.needsFreshToken,
            timeout: timeout(wait, isCheck: isCheck, turn), &turn)
    }

    private func timeout(_ wait: Int, isCheck: Bool, _ turn: Turn) -> Int64 {
        guard wait == 0 else { return Int64(wait) * 1_000 + turn.settings.grace }
        // The device stays live during a check, but no longer than the last response counts (rule 9).
        let left = isCheck ? vouchedUntil(turn.settings) - turn.now.uptime : .max
        return max(1, min(turn.settings.requestTimeout, left))
    }

    /// The start of the next request; `nil` while there is none. While one page is stored, the next may be in flight.
    private func nextSince(_ state: SyncState, _ isRevalidating: Bool, _ settings: SyncSettings) -> Since? {
        if !storing.isEmpty { return storing.count == 1 ? next.map { .after($0) } : nil }
        // The cached keys are verified before newer changes are requested.
        if isRevalidating { return nil }
        return state.cursor.map { .after($0) } ?? (settings.following == .everything ? .start : .now)
    }

    /// For how many seconds the server may hold the next response; 0 where the device must catch up.
    private func pollWait(_ turn: Turn) -> Int { isCaughtUp ? Self.pollWait(after: validAsOf, turn) : 0 }

    /// For how many seconds the server may hold the response that follows one which was true at this time; 0 after a
    /// response that is too old for a poll.
    ///
    /// A response that was long in transit or in a cache is old when it arrives. The part of its age beyond the grace
    /// shortens the next wait, so that data older than hold and twice the grace is never called live (rule 9).
    private static func pollWait(after validAsOf: Int64, _ turn: Turn) -> Int {
        let excess = max(0, turn.now.uptime - validAsOf - turn.settings.grace)
        return max(0, Int((Int64(turn.settings.hold) * 1_000 - excess) / 1_000))
    }

    /// The end of the time for which stored data may be called live, in milliseconds of uptime (rule 9).
    private func vouchedUntil(_ settings: SyncSettings) -> Int64 { validAsOf + Int64(settings.hold) * 1_000 + 2 * settings.grace }

    /// Notes that the request has ended without a usable response.
    mutating func released() {
        request = nil
        holdsReads = false
    }

    // MARK: Responses

    mutating func take(
        _ reply: Reply, _ lastWrite: Int64?, to sent: RequestTable.Request, since: Since, wait: Int, _ state: SyncState,
        _ reachability: inout Reachability, _ turn: inout Turn
    ) -> [Effect] {
        if let request { answered = request.number }
        released()
        mayBeAskedAgain = true
        switch reply {
        case .page(let page):
            if let fault = page.fault(after: since) { return fail(.malformed(fault), &reachability, &turn) }
            let effects = heard(sent, page.cursor, wait: wait, state, &reachability, &turn)
            // Before the next request, entries that were read before the first position of all are verified.
            return effects
                + store(
                    .page(page.wanted(by: turn.settings.filter), since: since, lastWrite: lastWrite), validAsOf: sent.validAsOf,
                    next: page.upToDate || since == .now ? nil : page.cursor)
        case .noChange(let position):
            // With `since` at the start or now, an empty response counts as a page without changes: it gives the first
            // position.
            guard case .after(let asked) = since else {
                let page = ChangePage(changes: [], cursor: position, upToDate: true)
                return take(.page(page), lastWrite, to: sent, since: since, wait: wait, state, &reachability, &turn)
            }
            guard position.revision >= asked.revision else {
                let text = "204 with the position \(position), which is before the one asked from, \(since)"
                return fail(.malformed(text), &reachability, &turn)
            }
            let effects = heard(sent, position, wait: wait, state, &reachability, &turn)
            // The server had no changes until the end of the wait, unless the response arrived before that.
            let isHeldToEnd = sent.sentAt + Int64(wait) * 1_000 <= turn.now.uptime
            return effects
                + store(
                    .noChange(position, since: since, lastWrite: lastWrite),
                    validAsOf: sent.validAsOf + (isHeldToEnd ? Int64(wait) * 1_000 : 0), next: nil)
        case .problem(let problem, _, let retryAfter):
            return refused(problem, retryAfter, state, hadFreshToken: sent.hadFreshToken, &reachability, &turn)
        case .failure(let failure):
            let usual = wait > 0 ? Int64(wait) * 1_000 + turn.settings.grace : 1_000
            let isSlow = turn.now.uptime - sent.sentAt >= usual
            return fail(.transport(failure), after: failure.retryAfter, isSlow: isSlow, &reachability, &turn)
        case .tooLarge(let text): return tooLarge(text, &reachability, &turn)
        case .garbage(let text): return fail(.malformed(text), &reachability, &turn)
        case .results, .reads, .record, .notModified, .missing, .client, .list:
            return fail(.malformed("an answer that does not belong to a request for changes"), &reachability, &turn)
        }
    }

    private mutating func store(_ input: QueuedInput, validAsOf: Int64, next: Cursor?) -> [Effect] {
        storing.append(StoredResponse(validAsOf: validAsOf, request: answered))
        self.next = next
        // While more pages follow, they are likely to be as large.
        if next == nil { limit = .max }
        return [.store(input)]
    }

    private mutating func heard(
        _ sent: RequestTable.Request, _ position: Cursor, wait: Int, _ state: SyncState, _ reachability: inout Reachability,
        _ turn: inout Turn
    ) -> [Effect] {
        let effects: [Effect] = reachability.isLost ? [.regainedContact] : []
        reachability.heard(turn)
        cursorAheadCount = 0
        retry.succeed()
        let mayPause = wait > 0 || Self.pollWait(after: sent.validAsOf, turn) == 0
        if mayPause, position.isPosition(of: state.cursor), turn.now.uptime - sent.sentAt < 1_000 {
            // The server or a proxy does not hold polls, or a cache returns an old response: continue, but not in a hot
            // loop.
            idleResponses += 1
            retry.pause(&turn, asAfter: idleResponses)
            // A network that is too slow for a poll of this hold is no reason to learn of changes later than a poll would.
            if wait == 0 { retry.hurry(toUptime: turn.now.uptime + Int64(turn.settings.hold) * 1_000) }
        } else {
            idleResponses = 0
        }
        return effects
    }

    /// Notes that a page is on disk. Returns whether it showed that the history lasts. Only a poll shows this: before
    /// a poll returns, another server may have caused the next reset.
    mutating func stored(upToDate: Bool, _ state: SyncState, _ turn: Turn) -> Bool {
        // A reset began while the page was being stored: the device is not live before it has read the coming history.
        guard !storing.isEmpty else { return false }
        let response = storing.removeFirst()
        validAsOf = response.validAsOf
        if upToDate { verifiedBy = response.request }
        // The verification of cached keys takes time, and so may the disk: the device catches up after them. While the
        // next request waits, nothing else ends the time for which the response counts.
        let end = max(turn.now.uptime, retry.notBefore)
        isCaughtUp = upToDate && state.revalidation != .ofCachedKeys && end < vouchedUntil(turn.settings)
        return upToDate && isPolling
    }

    /// Notes that a response could not be used for the state of the disk: the same page is requested again.
    mutating func dropped() {
        overtaken()
        isCaughtUp = false
    }

    // MARK: Late first pages

    /// Notes that a read was stored while the device has no position.
    mutating func noteRead(through position: Cursor) {
        if let known = readThrough, known.epoch == position.epoch, known.revision >= position.revision { return }
        readThrough = position
    }

    /// Whether a record of a read that was stored may be newer than the page, with which a pass of a reader of a part would begin.
    ///
    /// The pass removes the record if it does not bring it, and then the feed would bring an older one (rule 2). The record of a reader of
    /// everything stays: see ``Entry/ended(_:at:)``.
    func isLate(_ page: ChangePage, _ since: Since) -> Bool {
        if case .after = since { return false }
        guard page.cursor.rights != nil, let readThrough, readThrough.epoch == page.cursor.epoch,
            let head = page.cursor.goal?.revision ?? (page.upToDate ? page.cursor.revision : nil)
        else { return false }
        return head < readThrough.revision
    }

    /// Notes that the first page was dropped because it was late: it is requested again at once, and reads wait for it.
    mutating func wasLate() {
        dropped()
        holdsReads = true
    }

    /// Notes that a response was overtaken: it does not continue from the position on disk.
    mutating func overtaken() { if !storing.isEmpty { storing.removeFirst() } }

    // MARK: Trouble

    mutating func notStored(_ failure: DiskFailure, _ reachability: inout Reachability, _ turn: inout Turn) {
        dropped()
        reachability.failed(.disk(failure))
        retry.fail(&turn)
    }

    private mutating func refused(
        _ problem: Problem, _ retryAfter: Int64?, _ state: SyncState, hadFreshToken: Bool, _ reachability: inout Reachability,
        _ turn: inout Turn
    ) -> [Effect] {
        reachability.touched(turn)
        switch problem.code {
        case .cursorExpired, .rightsChanged: return [.reset(state.epoch, forgets: false, because: problem.description)]
        case .epochChanged: return [.reset(nil, forgets: false, because: problem.description, continuation: problem.continuation)]
        case .invalidCursor where state.cursor != nil: return [.reset(state.epoch, forgets: false, because: problem.description)]
        case .forbidden where problem.withdrawsReading:
            _ = fail(.refused(problem), after: max(retryAfter ?? 0, turn.settings.longestDelay), &reachability, &turn)
            return [.removeRecords(problem)]
        case .cursorAhead:
            cursorAheadCount += 1
            // A server that lags behind will catch up; one that lost its newest changes without a new epoch will not.
            if cursorAheadCount < 4 { return fail(.refused(problem), after: retryAfter, &reachability, &turn) }
            cursorAheadCount = 0
            return [.reset(state.epoch, forgets: true, because: problem.description)]
        default:
            guard problem.status == 401 else { return fail(.refused(problem), after: retryAfter, &reachability, &turn) }
            retry.refuseToken()
            isCaughtUp = false
            return hadFreshToken ? fail(.unauthorized, after: retryAfter, &reachability, &turn) : []
        }
    }

    /// Requests a smaller page at once; a page of one change that is too large is a failure.
    private mutating func tooLarge(_ text: String, _ reachability: inout Reachability, _ turn: inout Turn) -> [Effect] {
        let asked = min(turn.settings.pageLimit, limit)
        guard asked > 1 else { return fail(.malformed(text), &reachability, &turn) }
        limit = asked / 2
        isCaughtUp = false
        reachability.touched(turn)
        return []
    }

    private mutating func fail(
        _ trouble: SyncStatus.Trouble, after retryAfter: Int64? = nil, isSlow: Bool = false, _ reachability: inout Reachability,
        _ turn: inout Turn
    ) -> [Effect] {
        isCaughtUp = false
        reachability.lost(trouble, isSlow: isSlow, turn)
        retry.fail(&turn, retryAfter: retryAfter)
        return []
    }

    /// Ends the wait, since the server answered another request.
    mutating func hurry(_ turn: Turn) { if !retry.isDue(turn) { retry.hurry() } }

    /// Shortens the wait to at most a second, since a caller wants an answer.
    mutating func hurrySoon(_ turn: Turn) { retry.hurry(toUptime: turn.now.uptime + 1_000) }

    mutating func wake() {
        isCaughtUp = false
        retry.wake()
    }

    /// Drops the responses that are being stored, since a reset begins.
    mutating func reset() {
        isCaughtUp = false
        mayBeAskedAgain = true
        storing = []
        (readThrough, holdsReads) = (nil, false)
    }

    /// See ``SyncMachine/relativeState(at:)``.
    mutating func makeRelative(to uptime: Int64, _ requests: RequestTable) {
        request = requests.relativeID(of: request)
        validAsOf = uptime - validAsOf
        // Of the numbers of requests, only their order with that of the check counts.
        func relative(_ number: Int64) -> Int64 { checkAfter > 0 && number > checkAfter ? 1 : 0 }
        storing = storing.map { StoredResponse(validAsOf: uptime - $0.validAsOf, request: relative($0.request)) }
        (answered, verifiedBy, checkAfter) = (relative(answered), relative(verifiedBy), min(checkAfter, 1))
        retry.makeRelative(to: uptime)
    }
}

extension Problem {
    /// Whether the token may read nothing of a range that the request names, or nothing of the namespace.
    var withdrawsReading: Bool { code == .forbidden && needs?.may == "read" }
}

extension ChangePage {
    /// Returns the page without the changes that a request wider than the filter has brought.
    fileprivate func wanted(by filter: ChangeFilter) -> ChangePage {
        guard filter != filter.requestable else { return self }
        return ChangePage(changes: changes.filter { filter.matches($0.scope) }, cursor: cursor, upToDate: upToDate)
    }
}
