import FreshetWire

/// Batches, one under way at a time; the same numbers again until there is a verdict.
extension SyncMachine {
    var mustReconcile: Bool { state.mustReconcile || sender.sawGap }

    var wantsToSend: Bool { mustReconcile || !outbox.queue.isEmpty }

    mutating func advanceSender() {
        guard sender.request == nil, !sender.isDeciding, !sender.isReconciling, now.uptime >= sender.notBefore, wantsToSend else { return }
        guard let epoch = state.epoch, !mustReconcile else { return askForNumbers() }
        let writes = nextBatch()
        guard let first = writes.first, let last = writes.last else { return }
        sender.sentThrough = max(sender.sentThrough, last.number)
        let resume = sender.resumesAfter.map { first.number - 1 > $0 } ?? false
        sender.request = send(
            .writes(WriteBatch(client: state.client, epoch: epoch, resume: resume, writes: writes)), .writes(first.number...last.number),
            needsFreshToken: sender.needsFreshToken, timeout: settings.requestTimeout)
    }

    /// Asks for the server's last number of ours, and for the history in which it counts: without that no batch may go, since one that is
    /// held up on its way could arrive in another.
    private mutating func askForNumbers() {
        // On the first contact the feed's answer, which is on its way, tells it.
        guard mustReconcile || (feed.request == nil && !feed.isStoring) else { return }
        sender.request = send(
            .clientStatus(state.client), .clientStatus, needsFreshToken: sender.needsFreshToken, timeout: settings.requestTimeout)
    }

    /// The next writes without a verdict, as far as their numbers follow each other and nothing holds them back.
    private func nextBatch() -> [Write] {
        var writes: [Write] = []
        var bytes = 0
        for place in outbox.queue.prefix(min(settings.batchCount, sender.limit)) {
            guard let row = outbox.row(at: place) else { break }
            if let last = writes.last, last.number + 1 != row.number { break }
            var write = Write(number: row.number, key: row.key, operation: row.operation)
            switch row.precondition {
            case .none: break
            case .revision(let revision): write.ifRevision = revision
            // The number stands for what is sent with it, for ever: wait until it is known.
            case .after: return writes
            }
            if sender.voided[row.number] != nil {
                write = Write(number: row.number, key: row.key, operation: .delete, ifRevision: .maximum)
            }
            bytes += row.operation.size
            if bytes > settings.batchBytes, !writes.isEmpty { break }
            writes.append(write)
        }
        return writes
    }

    // MARK: Answers

    mutating func takeWriteReply(
        _ reply: Reply, _ lastWrite: Int64?, _ request: Outstanding, _ numbers: ClosedRange<Int64>
    ) {
        sender.request = nil
        switch reply {
        case .results(let results):
            guard !results.results.isEmpty, results.results.allSatisfy({ numbers.contains($0.number) }) else {
                return sendingFailed(.malformed("the outcomes are not those of the writes \(numbers.lowerBound) to \(numbers.upperBound)"))
            }
            heardFromWrites()
            if let after = sender.resumesAfter, numbers.upperBound > after { sender.resumesAfter = nil }
            sender.limit = sender.limit > 1_000 ? Int.max : sender.limit * 2
            sender.isDeciding = true
            intents.append(.results(results, lastWrite: lastWrite))
        case .problem(let problem, _, let retryAfter): sendingRefused(problem, retryAfter, request, numbers)
        case .failure(let failure): sendingFailed(.transport(failure))
        case .garbage(let text): sendingFailed(.malformed(text))
        case .page, .quiet, .reads, .record, .notModified, .missing, .client:
            sendingFailed(.malformed("an answer that does not belong to writes"))
        }
    }

    mutating func takeClientReply(_ reply: Reply, _ request: Outstanding) {
        sender.request = nil
        switch reply {
        case .client(let status, let cursor):
            guard status.client == state.client, (0...Revision.maximum.number).contains(status.last) else {
                return sendingFailed(.malformed("the status of \(status.client) with last \(status.last), and not one of \(state.client)"))
            }
            sender.needsFreshToken = false
            sender.isReconciling = true
            intents.append(.reconcile(last: status.last, at: cursor))
        case .problem(let problem, _, let retryAfter): sendingRefused(problem, retryAfter, request, nil)
        case .failure(let failure): sendingFailed(.transport(failure))
        case .garbage(let text): sendingFailed(.malformed(text))
        case .page, .quiet, .reads, .record, .notModified, .missing, .results:
            sendingFailed(.malformed("an answer that does not belong to a client's status"))
        }
    }

    private mutating func heardFromWrites() {
        sender.needsFreshToken = false
        sender.backoff.reset()
        sender.trouble = nil
        // The server is there: a feed that backs off need not wait on.
        if case .transport? = feed.trouble, feed.notBefore > now.uptime { feed.notBefore = now.uptime }
    }

    private mutating func sendingRefused(
        _ problem: Problem, _ retryAfter: Int64?, _ request: Outstanding, _ numbers: ClosedRange<Int64>?
    ) {
        switch problem.status {
        case 401:
            sender.needsFreshToken = true
            if request.hadFreshToken { sendingFailed(.unauthorized, retryAfter) }
        case 409 where problem.code == .writeGap && numbers != nil:
            sender.sawGap = true
            // Once at once; a server that goes on about gaps is asked ever more slowly.
            if sender.backoff.failures > 0 {
                sendingFailed(.refused(problem), retryAfter)
            } else {
                _ = sender.backoff.next(settings, &chance)
            }
        case 410 where problem.code == .epochChanged: reset(to: nil, forgets: false, because: problem.description)
        case 400, 413, 415, 422:
            guard let numbers else { return sendingFailed(.refused(problem), retryAfter) }
            if numbers.count > 1 {
                sender.limit = numbers.count / 2
            } else if sender.voided[numbers.lowerBound] == nil {
                log(.error, "write \(numbers.lowerBound) is refused and given up: \(problem)")
                sender.voided[numbers.lowerBound] = problem
            } else {
                sendingFailed(.refused(problem), retryAfter)
            }
        default: sendingFailed(.refused(problem), retryAfter)
        }
    }

    private mutating func sendingFailed(_ trouble: SyncStatus.Trouble, _ retryAfter: Int64? = nil) {
        sender.trouble = trouble
        sender.notBefore = now.uptime + sender.backoff.next(settings, &chance, retryAfter: retryAfter)
    }

    mutating func verdictsNotStored(_ failure: DiskFailure) {
        sender.isDeciding = false
        sender.isReconciling = false
        sendingFailed(.disk(failure))
    }

    // MARK: Another history

    /// After a new epoch or a gap, or on a first contact that the feed did not make: how far the server has come with us in this history.
    /// What it has decided is asked for again, the rest is sent; all under the numbers that they have.
    mutating func planReconcile(_ last: Int64, _ cursor: Cursor) -> Plan? {
        var plan = Plan(.reconciled(last: last))
        if state.epoch == nil { plan.state.append(.epoch(cursor.epoch)) }
        if state.mustReconcile { plan.state.append(.mustReconcile(false)) }
        if last >= state.nextNumber {
            log(
                .error,
                "the server knows write \(last) of \(state.client), and this cache has numbered none from \(state.nextNumber) on: "
                    + "another cache has or had the same client name. Give each its own; a cache that begins anew takes a new one")
            plan.state.append(.nextNumber(last + 1))
        }
        return plan
    }
}

extension WriteOperation {
    /// About how many bytes the operation takes.
    var size: Int {
        switch self {
        case .put(let content): content.bytes.count
        case .patch(let patch): patch.count
        case .delete: 0
        case .increment(let path, _): path.description.utf8.count
        }
    }
}
