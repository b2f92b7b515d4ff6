import FreshetWire

/// The feed: ask, check, go on from there.
extension SyncMachine {
    mutating func advanceFeed() {
        guard feed.request == nil, now.uptime >= feed.notBefore, let since = nextSince else { return }
        let wait = state.cursor == nil || feed.isStoring ? 0 : pollWait
        // After any gap: catch up before waiting.
        feed.isPolling = wait > 0
        if !feed.isPolling { feed.isCaughtUp = false }
        // A poll that waits is answered with the same bytes as everybody's.
        let client = wait == 0 ? writer(of: outbox.keys.keys) : nil
        feed.request = send(
            .changes(since: since, filter: settings.filter, wait: wait, limit: settings.pageLimit, client: client),
            .feed(since: since, wait: wait), needsFreshToken: feed.needsFreshToken,
            timeout: wait > 0 ? Int64(wait) * 1_000 + settings.grace : settings.requestTimeout)
    }

    /// Where the next question begins; `nil` while there is none. While one page is stored, the page after it may be on its way.
    private var nextSince: Since? {
        if feed.isStoring { return feed.storing == 1 ? feed.next.map { .after($0) } : nil }
        // The held keys are verified before anything newer is asked for.
        if isVerifying { return nil }
        return state.cursor.map { .after($0) } ?? (settings.following == .everything ? .start : .now)
    }

    /// For how many seconds the server may hold the next answer; 0 where the device must catch up.
    ///
    /// An answer that was long on its way is old when it comes. What it took beyond the grace is taken from the next wait, so that nothing
    /// older than hold and twice the grace is ever called live (rule 9).
    private var pollWait: Int {
        guard feed.isCaughtUp else { return 0 }
        let excess = max(0, now.uptime - feed.trueAt - settings.grace)
        return max(0, Int((Int64(settings.hold) * 1_000 - excess) / 1_000))
    }

    mutating func takeFeedReply(_ reply: Reply, _ lastWrite: Int64?, _ request: Outstanding, since: Since, wait: Int) {
        feed.request = nil
        switch reply {
        case .page(let page):
            if let fault = fault(of: page, since: since) { return feedFailed(.malformed(fault)) }
            heardFromFeed(request, held: 0, isIdle: wait > 0 && page.cursor == state.cursor)
            // What was read before the first position of all is verified before anything else is asked.
            willStore(.page(page, since: since, lastWrite: lastWrite), next: page.upToDate || since == .now ? nil : page.cursor)
        case .quiet(let cursor):
            // Asked from the start, or from now, nothing is a page without changes: it is the first position.
            guard case .after(let position) = since else {
                let page = ChangePage(changes: [], cursor: cursor, upToDate: true)
                return takeFeedReply(.page(page), lastWrite, request, since: since, wait: wait)
            }
            guard cursor.revision >= position.revision else {
                return feedFailed(.malformed("204 with the position \(cursor), which is before the one asked from, \(since)"))
            }
            heardFromFeed(request, held: wait, isIdle: wait > 0 && cursor == state.cursor)
            willStore(.quiet(cursor, since: since, lastWrite: lastWrite), next: nil)
        case .problem(let problem, _, let retryAfter): feedRefused(problem, retryAfter, hadFreshToken: request.hadFreshToken)
        case .failure(let failure): feedFailed(.transport(failure))
        case .garbage(let text): feedFailed(.malformed(text))
        case .results, .reads, .record, .notModified, .missing, .client:
            feedFailed(.malformed("an answer that does not belong to a request for changes"))
        }
    }

    private mutating func willStore(_ intent: Intent, next: Cursor?) {
        feed.storing += 1
        feed.next = next
        intents.append(intent)
    }

    /// What is wrong with a page, if anything is.
    private func fault(of page: ChangePage, since: Since) -> String? {
        if case .after(let position) = since {
            guard page.cursor.revision >= position.revision else {
                return "the page's cursor \(page.cursor) is before the one asked from, \(position)"
            }
            guard page.upToDate || page.cursor != position else {
                return "the page does not move on from \(position) although more is to come"
            }
        } else if !page.upToDate, page.cursor.revision == .zero || page.changes.isEmpty {
            return "the first page is empty although more is to come"
        }
        if let change = page.changes.first(where: { $0.revision > page.cursor.revision }) {
            return "the change at \(change.revision) is past the page's cursor \(page.cursor)"
        }
        return nil
    }

    /// - Parameter held: how long the server had nothing to tell before it answered, in seconds, unless the answer is here sooner.
    private mutating func heardFromFeed(_ request: Outstanding, held: Int, isIdle: Bool) {
        let end = request.sentAt + Int64(held) * 1_000
        feed.trueAt = end <= now.uptime ? end : request.sentAt
        // Contact is there again: what waited for it need not wait on.
        if feed.offlineSince != nil {
            if case .transport? = sender.trouble { sender.notBefore = 0 }
            fetches.regainContact()
        }
        feed.offlineSince = nil
        feed.trouble = nil
        feed.needsFreshToken = false
        feed.aheads = 0
        lastContact = now.wall
        feed.backoff.reset()
        if isIdle, now.uptime - request.sentAt < 1_000 {
            // A server or a proxy that does not hold polls: ask on, but not in a hot loop.
            feed.idleAnswers += 1
            var backoff = Backoff()
            for _ in 1..<feed.idleAnswers { _ = backoff.next(settings, &chance) }
            feed.notBefore = now.uptime + backoff.next(settings, &chance)
        } else {
            feed.idleAnswers = 0
        }
    }

    // MARK: Trouble

    mutating func pageNotStored(_ failure: DiskFailure) {
        feed.stored()
        // What was asked for from there on has no ground now.
        if let request = feed.request { cancel(request) }
        feed.isCaughtUp = false
        feed.trouble = .disk(failure)
        feed.notBefore = now.uptime + feed.backoff.next(settings, &chance)
    }

    private mutating func feedRefused(_ problem: Problem, _ retryAfter: Int64?, hadFreshToken: Bool) {
        lastContact = now.wall
        switch problem.code {
        case .cursorExpired: reset(to: state.epoch, forgets: false, because: problem.description)
        case .epochChanged: reset(to: nil, forgets: false, because: problem.description)
        case .invalidCursor where state.cursor != nil: reset(to: state.epoch, forgets: false, because: problem.description)
        case .cursorAhead:
            feed.aheads += 1
            // A server that lags behind will catch up; one that lost its newest changes without a new epoch will not.
            if feed.aheads < 4 { return feedFailed(.refused(problem), retryAfter) }
            feed.aheads = 0
            reset(to: state.epoch, forgets: true, because: problem.description)
        default:
            guard problem.status == 401 else { return feedFailed(.refused(problem), retryAfter) }
            feed.needsFreshToken = true
            feed.isCaughtUp = false
            if hadFreshToken { feedFailed(.unauthorized, retryAfter) }
        }
    }

    mutating func feedFailed(_ trouble: SyncStatus.Trouble, _ retryAfter: Int64? = nil) {
        feed.isCaughtUp = false
        feed.trouble = trouble
        feed.offlineSince = feed.offlineSince ?? lastContact ?? now.wall
        feed.notBefore = now.uptime + feed.backoff.next(settings, &chance, retryAfter: retryAfter)
    }
}
