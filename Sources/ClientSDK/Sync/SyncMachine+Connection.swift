import FreshetWire

/// Requests and their watchdogs, epochs, waking, stopping, and the status that comes of it all.
extension SyncMachine {
    mutating func send(
        _ kind: RequestDescription.Kind, _ purpose: Outstanding.Purpose, needsFreshToken: Bool, timeout: Int64
    ) -> RequestID {
        lastRequest += 1
        let id = RequestID(lastRequest)
        requests[id] = Outstanding(
            purpose: purpose, sentAt: now.uptime, deadline: now.uptime + timeout, hadFreshToken: needsFreshToken)
        actions.append(.send(RequestDescription(id: id, kind: kind, needsFreshToken: needsFreshToken, timeout: timeout)))
        return id
    }

    mutating func take(_ reply: Reply, _ lastWrite: Int64?, to id: RequestID) {
        // One that was cancelled, or came twice.
        guard let request = requests.removeValue(forKey: id) else { return }
        if let epoch = reply.epoch, let known = state.epoch, epoch != known {
            // Sent in the history that we know, answered in another.
            requeue(request)
            for case .fetch(let keys) in [request.purpose] {
                for key in keys { note(.key(key), .fetchOfOtherEpoch(epoch)) }
            }
            return reset(to: epoch, forgets: false, because: "the server's history is \(epoch), not \(known)")
        }
        switch request.purpose {
        case .feed(let since, let wait): takeFeedReply(reply, lastWrite, request, since: since, wait: wait)
        case .writes(let numbers): takeWriteReply(reply, lastWrite, request, numbers)
        case .clientStatus: takeClientReply(reply, request)
        case .fetch(let keys): takeFetchReply(reply, lastWrite, request, keys)
        case .verification(let keys): takeVerificationReply(reply, lastWrite, request, keys)
        }
    }

    /// This device's name, for a request whose response must state the last decided write; `nil` where no write of `keys` is under way.
    func writer(of keys: some Sequence<RecordKey>) -> ClientIdentifier? {
        let isNeeded = keys.contains { outbox.keys[$0]?.needsWatermark(in: state.epoch, sentThrough: sender.sentThrough) ?? false }
        return isNeeded ? state.client : nil
    }

    /// Lets the part that asked ask again.
    private mutating func requeue(_ request: Outstanding) {
        switch request.purpose {
        case .feed: feed.request = nil
        case .writes, .clientStatus: sender.request = nil
        case .fetch(let keys): fetches.requeue(keys)
        case .verification: verifier.request = nil
        }
    }

    mutating func cancel(_ id: RequestID) {
        guard let request = requests.removeValue(forKey: id) else { return }
        actions.append(.cancel(id))
        requeue(request)
    }

    /// Cancels the reads under way; they are asked anew.
    mutating func askAgain() {
        for id in requests.keys.sorted() {
            if case .fetch? = requests[id]?.purpose { cancel(id) }
        }
        intents.removeAll { if case .fetched = $0 { true } else { false } }
        fetches.release()
    }

    /// Cancels all that is under way, in the order in which it was sent.
    mutating func cancelAll() { for id in requests.keys.sorted() { cancel(id) } }

    /// Fires on what got no answer in its time, whatever the transport believes.
    mutating func fireWatchdogs() {
        for id in requests.keys.sorted() {
            guard let request = requests[id], request.deadline <= now.uptime else { continue }
            actions.append(.cancel(id))
            take(.failure(.watchdog), nil, to: id)
        }
    }

    /// Connections of before may be dead without knowing it; back-offs of before say nothing about now.
    mutating func wake() {
        cancelAll()
        feed.isCaughtUp = false
        feed.notBefore = 0
        feed.backoff.reset()
        sender.notBefore = 0
        sender.backoff.reset()
        mergesNotBefore = 0
        mergesBackoff.reset()
        verifier.notBefore = 0
        verifier.backoff.reset()
        fetches.wake()
        notBefore = 0
        pendingReset?.notBefore = 0
    }

    mutating func stop() {
        cancelAll()
        fail(.stopped)
        phase = .stopped
    }

    /// Everybody who waits gets this failure.
    mutating func fail(_ failure: SyncFailure) {
        for set in queuedSets { actions.append(.answer(set.request.token, .failed(failure))) }
        if case .sets(let sets, _)? = plan?.plan.continuation {
            for set in sets { actions.append(.answer(set.request.token, .failed(failure))) }
        }
        if let clear = pendingClear, failure == .stopped { actions.append(.answer(clear.token, .failed(failure))) }
        for token in fetches.removeAll() { actions.append(.answer(token, .failed(failure))) }
        queuedSets = []
        claims = [:]
    }

    // MARK: Status and timer

    /// Tells the status and the next deadline, where they changed.
    mutating func report() {
        putRequestsFirst()
        let status = status
        if status != lastStatus {
            lastStatus = status
            // Whoever is told of a write and then looks at the status finds the write in it.
            let told = actions.filter(\.tellsCaller)
            actions.removeAll(where: \.tellsCaller)
            actions.append(.status(status))
            actions += told
        }
        let deadline = deadline
        if deadline != lastSchedule {
            lastSchedule = deadline
            actions.append(.schedule(at: deadline))
        }
    }

    /// A request says what is on disk already, so it waits for no transaction that is decided with it; one with writes of ours not for those
    /// who look either.
    private mutating func putRequestsFirst() {
        if let transaction = actions.firstIndex(where: \.isCommit), actions[transaction...].contains(where: \.isRequest) {
            let late = actions[transaction...].filter(\.isRequest)
            actions[transaction...].removeAll(where: \.isRequest)
            actions.insert(contentsOf: late, at: transaction)
        }
        if let place = actions.firstIndex(where: \.sendsWrites), place > 0 { actions.insert(actions.remove(at: place), at: 0) }
    }

    /// What the device knows of its freshness now.
    package var status: SyncStatus {
        let connection: SyncStatus.Connection =
            if let since = feed.offlineSince {
                .offline(since: since)
            } else if feed.isCaughtUp, state.verification == .complete, phase == .running {
                .live
            } else {
                .catchingUp
            }
        return SyncStatus(
            connection: connection, feedTrouble: feed.trouble, writeTrouble: sender.trouble, pendingWrites: outbox.pendingCount,
            cursor: state.cursor, isVerified: state.verification == .complete && state.cursor != nil, pass: state.pass,
            filter: settings.filter)
    }

    private var deadline: Int64? {
        guard phase == .running || phase == .clearing else { return nil }
        var deadline = Int64.max
        for request in requests.values { deadline = min(deadline, request.deadline) }
        // What could be started by now has been: a time that has passed waits for something else than the clock.
        func consider(_ time: Int64, if waits: Bool) { if waits, time > now.uptime { deadline = min(deadline, time) } }
        consider(max(notBefore, pendingReset?.notBefore ?? 0), if: plan == nil && (pendingReset != nil || pendingClear != nil))
        let isRunning = pendingReset == nil && pendingClear == nil
        consider(feed.notBefore, if: isRunning && feed.request == nil && !feed.isStoring && !isVerifying)
        consider(verifier.notBefore, if: isRunning && isVerifying && verifier.isIdle)
        consider(sender.notBefore, if: isRunning && sender.request == nil && !sender.isDeciding && wantsToSend)
        consider(mergesNotBefore, if: isRunning && outbox.isMerging)
        if isRunning, let time = fetches.nextAttempt(after: now.uptime) { deadline = min(deadline, time) }
        return deadline == Int64.max ? nil : deadline
    }

    var isVerifying: Bool { state.verification == .ofHeldKeys && state.cursor != nil }
}

extension Reply {
    /// The history that the answer speaks of, where it says so.
    var epoch: Epoch? {
        switch self {
        case .page(let page): page.cursor.epoch
        case .quiet(let cursor), .record(_, let cursor), .notModified(let cursor), .missing(let cursor), .client(_, let cursor):
            cursor.epoch
        case .results(let results): results.cursor.epoch
        case .reads(let reads): reads.cursor.epoch
        case .problem(_, let cursor, _): cursor?.epoch
        case .failure, .garbage: nil
        }
    }
}
