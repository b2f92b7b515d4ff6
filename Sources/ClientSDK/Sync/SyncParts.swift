import FreshetWire

/// The parts of a ``SyncCore``, and what concerns each of them alike. What they have to do with one another is the core's matter.
struct SyncParts: Hashable, Sendable {
    var local: LocalState
    var requests = RequestTable()
    var follower = Follower()
    var sender = Sender()
    var reader = Reader()
    var verifier = Verifier()
    var refresher = Refresher()
    var merger = Merger()
    var resetter = Resetter()
    var contact = Contact()
    var binding = StoreBinding()

    init(client: ClientIdentifier) { local = LocalState(client: client) }

    var rule: WatermarkRule { WatermarkRule(local, sender) }

    /// See ``SyncMachine/relativeState(at:)``.
    mutating func makeRelative(to uptime: Int64) {
        follower.makeRelative(to: uptime, requests)
        sender.makeRelative(to: uptime, requests)
        verifier.makeRelative(to: uptime, requests)
        refresher.makeRelative(to: uptime, requests)
        reader.makeRelative(to: uptime)
        merger.makeRelative(to: uptime)
        resetter.makeRelative(to: uptime)
        local.makeRelative()
        requests.makeRelative(to: uptime)
    }

    // MARK: Requests

    /// Lets the part that asked ask again.
    mutating func released(_ request: RequestTable.Request) {
        switch request.purpose {
        case .feed: follower.released()
        case .writes, .clientStatus: sender.released()
        case .fetch(let keys): reader.released(keys)
        case .verification: verifier.released()
        case .refresh: refresher.released()
        }
    }

    mutating func cancel(_ id: RequestID, _ turn: inout Turn) {
        guard let request = requests.remove(id) else { return }
        turn.emit(.cancel(id))
        released(request)
    }

    mutating func cancelAll(_ turn: inout Turn) { for id in requests.all { cancel(id, &turn) } }

    /// What was asked for from a page on that is not stored has no ground.
    mutating func cancelFollower(_ turn: inout Turn) { if let id = follower.underWay { cancel(id, &turn) } }

    /// Connections may be dead without knowing it, and what failed before sleep says nothing about now.
    mutating func wake(_ turn: inout Turn) {
        cancelAll(&turn)
        follower.wake()
        sender.wake()
        merger.wake()
        verifier.wake()
        refresher.wake()
        reader.wake()
        resetter.wake()
    }

    // MARK: Reset and clear

    /// Drops all that is on its way from the server: a reset begins, or the device has another name.
    mutating func beginGeneration(_ turn: inout Turn) {
        cancelAll(&turn)
        reader.release(except: local.dropResponses())
        follower.reset()
        verifier = Verifier()
        refresher.reset()
        requests.generation += 1
    }

    /// Forgets everything; nothing is under way, and nobody waits.
    mutating func clear(_ turn: inout Turn) {
        local.clear(&turn)
        requests.generation += 1
        merger.clear()
        follower = Follower()
        sender = Sender()
        verifier = Verifier()
        refresher = Refresher()
        contact = Contact()
        binding = StoreBinding()
    }

    // MARK: What can be started now

    /// Sends what can be sent. A reset and a clear are not under way.
    mutating func sendRequests(_ settings: SyncSettings, _ turn: inout Turn) {
        let (state, outbox) = (local.sync, local.outbox)
        follower.advance(state, isVerifying: local.isVerifying, rule, &requests, &turn)
        if local.isVerifying { verifier.advance(state, rule, &requests, &turn) }
        sender.advance(state, outbox, isFeedBusy: follower.isBusy, &requests, &turn)
        let unread = merger.advance(state, outbox, generation: requests.generation, &turn)
        for key in unread + local.keysToRead(settings.filter) {
            if let pending = outbox.keys[key] { reader.refresh(pending, state) }
        }
        reader.advance(state, rule, &requests, &turn)
        // What is on its way may be what the disk would name.
        if state.verification == .complete, state.cursor != nil { refresher.advance(reader, requests, &turn) }
    }

    /// The next time at which something can be started that waits for the clock alone.
    func deadline(after uptime: Int64, _ settings: SyncSettings) -> Int64? {
        var times: [Int64?] = [requests.deadline, follower.liveUntil(settings), reader.deadline]
        if resetter.isUnderWay {
            if local.isIdle { times.append(resetter.deadline.flatMap { $0 > uptime ? $0 : nil }) }
        } else {
            let feed = local.isVerifying ? verifier.deadline : follower.deadline
            let waits = [
                feed, sender.deadline(local.sync, local.outbox), merger.deadline(local.outbox), reader.nextAttempt(after: uptime),
                refresher.deadline,
            ]
            // What could be started by now has been: a time that has passed waits for something else than the clock.
            times += waits.map { time in time.flatMap { $0 > uptime ? $0 : nil } }
        }
        return times.compactMap { $0 }.min()
    }
}
