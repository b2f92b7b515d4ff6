import FreshetWire

/// The parts of a ``SyncCore``, and operations on all of them alike. The core handles their interaction.
struct SyncParts: Hashable, Sendable {
    var local: LocalState
    var requests = RequestTable()
    var follower = Follower()
    var sender = Sender()
    var reader = Reader()
    var revalidator = Revalidator()
    var refresher = Refresher()
    var lister = Lister()
    var merger = Merger()
    var resetter = Resetter()
    var verifications = VerificationQueue()
    var reachability = Reachability()
    var binding = StoreBinding()

    init(client: ClientIdentifier) { local = LocalState(client: client) }

    var rule: WatermarkRule { WatermarkRule(local, sender) }

    /// See ``SyncMachine/relativeState(at:)``.
    mutating func makeRelative(to uptime: Int64) {
        follower.makeRelative(to: uptime, requests)
        sender.makeRelative(to: uptime, requests)
        revalidator.makeRelative(to: uptime, requests)
        refresher.makeRelative(to: uptime, requests)
        reader.makeRelative(to: uptime)
        lister.makeRelative(to: uptime, requests)
        merger.makeRelative(to: uptime)
        resetter.makeRelative(to: uptime, requests)
        local.makeRelative()
        verifications.makeRelative(to: requests.sentCount)
        requests.makeRelative(to: uptime)
    }

    /// Begins with these settings on a disk that may have been filled under others. A part of the earlier subscription continues from its
    /// position if that has no gap; any other subscription begins again.
    mutating func begin(_ settings: SyncSettings) {
        let state = local.sync
        guard state.cursor != nil, state.scope != settings.scope else { return }
        if state.canContinue, settings.narrows(state.scope) { local.add(.narrow) } else { resetter.addAtStart(state.epoch) }
    }

    // MARK: Requests

    /// Whether a part waits for the disk's answer to the query, of this generation.
    func isWaiting(for query: CachedKeyQuery) -> Bool {
        query.generation == requests.generation
            && (revalidator.isWaiting(for: query) || refresher.isWaiting(for: query) || lister.isWaiting(for: query))
    }

    /// Allows the part that sent the request to send it again.
    mutating func released(_ request: RequestTable.Request) {
        switch request.purpose {
        case .feed: follower.released()
        case .writes, .clientStatus: sender.released()
        case .fetch(let keys): reader.released(keys)
        case .revalidation: revalidator.released()
        case .refresh: refresher.released()
        case .list(let callerID): lister.released(callerID)
        case .continuation: resetter.released()
        }
    }

    /// Sends a request for records again without the device's name, if the server refuses to state the number of that. Returns whether
    /// it does: a server that refuses without the name too is asked ever more slowly.
    mutating func repeatsWithoutName(_ request: RequestTable.Request, after reply: Reply) -> Bool {
        guard case .problem(let problem, _, _) = reply, problem.code == .clientTaken, request.mayNameClient, !sender.isNameRefused else {
            return false
        }
        sender.refusedName()
        released(request)
        return true
    }

    mutating func cancel(_ id: RequestID, _ turn: inout Turn) {
        guard let request = requests.remove(id) else { return }
        turn.emit(.cancel(id))
        released(request)
    }

    /// Compares the rights of the response to a read with those under which the feed is followed. If they differ, the feed is asked
    /// again, once until it answers: what it was asked before may be about fewer or about other records.
    mutating func compareRights(_ reply: Reply, _ turn: inout Turn) {
        guard let position = local.sync.cursor, reply.isOfOtherRights(than: position), let id = follower.requestToRepeat() else { return }
        cancel(id, &turn)
    }

    /// Takes the response to a read of the reader.
    mutating func takeFetched(
        _ reply: Reply, _ lastWrite: Int64?, to request: RequestTable.Request, _ keys: [RecordKey], _ turn: inout Turn
    ) {
        let responses = reader.take(reply, to: request, keys, local.sync, &turn)
        if !responses.isEmpty { local.add(.fetched(responses, lastWrite: lastWrite)) }
    }

    /// Repeats the reads in flight, since the token may read nothing of the followed records any more and may be another one than that
    /// of their requests. The responses to writes in flight bring no record.
    mutating func repeatReads(_ turn: inout Turn) {
        repeatFetches(&turn)
        requests.withholdRecords()
    }

    mutating func repeatFetches(_ turn: inout Turn) {
        for id in requests.fetches { cancel(id, &turn) }
        local.dropFetches()
        reader.release()
    }

    mutating func cancelAll(_ turn: inout Turn) { for id in requests.all { cancel(id, &turn) } }

    /// Cancels the request from a page on that was not stored.
    mutating func cancelFollower(_ turn: inout Turn) { if let id = follower.underWay { cancel(id, &turn) } }

    /// Restarts all parts when the device wakes: connections may be dead unnoticed, and failures before sleep say
    /// nothing about the present.
    mutating func wake(_ turn: inout Turn) {
        cancelAll(&turn)
        follower.wake()
        sender.wake()
        merger.wake()
        revalidator.wake()
        refresher.wake()
        reader.wake()
        lister.wake()
        resetter.wake()
    }

    // MARK: Verification

    /// Answers the caller when everything is verified by a request that is sent after this call.
    mutating func verify(_ callerID: CallerID, isStarted: Bool, _ turn: inout Turn) {
        guard isStarted else { return turn.emit(.complete(callerID, .failed(.stopped))) }
        verifications.add(callerID, after: requests.sentCount)
        if let poll = follower.check(after: requests.sentCount) { cancel(poll, &turn) }
    }

    /// Answers the callers that wait for verification, if the status shows it.
    mutating func answer(verifiedBy status: SyncStatus, _ turn: inout Turn) {
        guard !verifications.isEmpty, status.isVerified, status.connection == .live else { return }
        turn.complete(verifications.takeCalls(before: follower.verifiedBy), .verified)
    }

    // MARK: Lists

    /// Answers the callers that have waited for as long as a read may take.
    mutating func expireReads(_ turn: inout Turn) {
        reader.expire(&turn)
        lister.expire(&turn)
    }

    /// Hands the lister the answers to its reads. Returns whether there were any.
    mutating func takeListReads(_ turn: inout Turn) -> Bool {
        guard !lister.isEmpty else { return false }
        let answers = turn.takeAnswers(to: lister.contains)
        for (callerID, result) in answers { lister.take(result, of: callerID, &turn) }
        return !answers.isEmpty
    }

    mutating func abandon(_ callerID: CallerID, _ turn: inout Turn) {
        reader.abandon(callerID)
        verifications.abandon(callerID)
        if let id = lister.abandon(callerID) { cancel(id, &turn) }
    }

    // MARK: Pages

    /// Plans a page of the feed, if it continues from the position on disk.
    mutating func plan(_ page: ChangePage, _ since: Since, _ lastWrite: Int64?, _ turn: inout Turn) -> TransactionPlan? {
        var builder = PlanBuilder(.page(upToDate: page.upToDate), turn, local, sender)
        guard builder.isNext(since) else {
            follower.overtaken()
            return nil
        }
        guard !follower.isLate(page, since) else {
            cancelFollower(&turn)
            follower.wasLate()
            repeatFetches(&turn)
            return nil
        }
        guard builder.hasWatermarks(for: page, since, lastWrite) else {
            // The same page is requested again, with the number.
            follower.dropped()
            cancelFollower(&turn)
            return nil
        }
        builder.add(page, since, lastWrite)
        return builder.plan
    }

    /// Notes that a page is on disk.
    mutating func storedPage(upToDate: Bool, _ turn: Turn) {
        let wasLive = follower.isLive
        if follower.stored(upToDate: upToDate, local.sync, turn) { resetter.calm() }
        if follower.isLive, !wasLive { lister.becameLive() }
    }

    // MARK: Reset and clear

    /// Drops all responses in flight or being stored: a reset begins, or the device has another name.
    mutating func beginGeneration(_ turn: inout Turn) {
        cancelAll(&turn)
        reader.release(except: local.dropResponses())
        follower.reset()
        sender.reset()
        revalidator = Revalidator()
        refresher.reset()
        for callerID in lister.reset() { reader.abandon(callerID) }
        // The results of closures that were called are dropped.
        merger.forget()
        requests.beginGeneration()
    }

    /// Removes the records, and fails the waiting reads. Requires that no request and no transaction is in flight.
    mutating func forgetRecords(_ failure: SyncFailure, _ turn: inout Turn) {
        turn.complete(removeReads(), .failed(failure))
        merger.forget()
        local.forgetRecords(&turn)
    }

    /// Removes the reads and the lists. Returns the ids of their callers, in order.
    mutating func removeReads() -> [CallerID] {
        let listing = lister.removeAll()
        return Set(reader.removeAll() + listing).sorted()
    }

    /// Removes everything. Requires that no request is in flight and no caller waits.
    mutating func clear(_ turn: inout Turn) {
        local.clear(&turn)
        requests.beginGeneration()
        merger.clear()
        follower = Follower()
        sender = Sender()
        revalidator = Revalidator()
        refresher = Refresher()
        reachability = Reachability()
        binding = StoreBinding()
    }

    // MARK: Starting work

    /// Sends the requests that can be sent. Requires that no reset or clear is under way.
    mutating func sendRequests(_ settings: SyncSettings, _ turn: inout Turn) {
        let (state, outbox) = (local.sync, local.outbox)
        follower.advance(state, isRevalidating: local.isRevalidating, rule, &requests, &turn)
        if local.isRevalidating { revalidator.advance(state, rule, &requests, &turn) }
        sender.advance(state, outbox, isFeedBusy: follower.isBusy, &requests, &turn)
        let unread = merger.advance(state, outbox, generation: requests.generation, &turn)
        let needed = unread + local.keysToRead(settings.filter)
        reader.endForbiddenReads(needed: needed)
        for key in needed {
            if let pending = outbox.keys[key] { reader.refresh(pending, state) }
        }
        if !follower.holdsReads {
            reader.advance(state, rule, &requests, &turn)
            // As for a read, the feed is retried soon.
            if lister.advance(state, reachability, &requests, &turn) { follower.hurrySoon(turn) }
        }
        // Changes that are still in flight may concern the keys that the disk would return.
        if state.revalidation == .complete, state.cursor != nil { refresher.advance(reader, requests, &turn) }
    }

    /// Returns the next time at which work can start that waits only for the clock.
    func deadline(after uptime: Int64, _ settings: SyncSettings) -> Int64? {
        var times: [Int64?] = [requests.deadline, follower.liveUntil(settings), reader.deadline, lister.deadline(after: uptime)]
        if resetter.isUnderWay {
            if local.isIdle { times.append(resetter.deadline.flatMap { $0 > uptime ? $0 : nil }) }
        } else {
            let feed = local.isRevalidating ? revalidator.deadline : follower.deadline
            let waits = [
                feed, sender.deadline(local.sync, local.outbox), merger.deadline(local.outbox), reader.nextAttempt(after: uptime),
                refresher.deadline,
            ]
            // All work that could start by now has started: a time that has passed waits for something other than the clock.
            times += waits.map { time in time.flatMap { $0 > uptime ? $0 : nil } }
        }
        return times.compactMap { $0 }.min()
    }
}
