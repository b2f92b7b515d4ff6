import FreshetWire

/// Sends the outbox in batches, one in flight at a time, and repeats the same numbers until there is a verdict.
struct Sender: Hashable, Sendable {
    /// A batch, or the request for the server's last number.
    private var request: RequestID?
    /// Whether a verdict is being stored.
    private var isDeciding = false
    /// Whether the server's last number is being stored.
    private var isReconciling = false
    /// Whether the server reported a gap in the numbers: its last number is requested before anything is sent.
    private var hasNumberGap = false
    /// Whether this process has yet to learn which store answers, and the server's last number of this device: until
    /// then no write is sent.
    private var mustCheck = false
    /// The server's last number of this device in this history, from the time of the request until a higher number has its
    /// answer. A batch that skips numbers after this one says so: all numbers before its first have their verdicts, from
    /// another history.
    private var serverLastNumber: Int64?
    /// Writes up to this number may have been sent, by this process or an earlier one.
    private(set) var lastSentNumber: Int64 = 0
    /// The value of ``lastSentNumber`` before the batch that is in flight or being decided.
    private(set) var lastSentBefore: Int64 = 0
    /// Whether the name belongs to another principal. Only writes that may have been sent are sent then: the server
    /// decides none of them, and states the outcomes that it knows.
    private var isNameTaken = false
    /// Whether the server has refused the name, which belongs to another principal. It states no number of the name then, so no read
    /// asks for one, until the server accepts the name again.
    private(set) var isNameRefused = false
    /// The most writes in a batch; reduced to find a write that the server does not even parse, and after a response
    /// that was too large.
    private var limit = Int.max
    /// Writes that the server refuses to parse, each with the problem. They are sent as a delete that cannot apply, so
    /// that the number is used up and later writes continue; if an earlier attempt was accepted after all, the answer
    /// shows it.
    private(set) var refusedWrites: [Int64: Problem] = [:]
    private var retry = Retry()
    /// Consecutive changes of name without a write that was decided in another way; at most ``mostRenames``.
    private var renames = 0
    private var trouble: SyncStatus.Trouble?

    /// Returns the failure of sending; `nil` if there is nothing to send.
    func trouble(_ state: SyncState, _ outbox: Outbox) -> SyncStatus.Trouble? { wantsToSend(state, outbox) ? trouble : nil }

    // MARK: Sending

    private func mustReconcile(_ state: SyncState) -> Bool { !isNameTaken && (state.mustReconcile || hasNumberGap) }

    private func wantsToSend(_ state: SyncState, _ outbox: Outbox) -> Bool {
        mustReconcile(state) || !outbox.queue.isEmpty || state.renamesAfter != nil
    }

    /// Returns when to send next, where only the clock decides.
    func deadline(_ state: SyncState, _ outbox: Outbox) -> Int64? {
        request == nil && !isDeciding && wantsToSend(state, outbox) ? retry.notBefore : nil
    }

    /// Starts the process: all numbered writes may have been sent before, and the address may be that of another store.
    mutating func start(_ persisted: PersistedState) {
        lastSentNumber = persisted.state.nextNumber - 1
        mustCheck = !persisted.isNew
    }

    /// - Parameter isFeedBusy: whether a response of the feed is in flight. On the first contact that response brings
    ///   the epoch.
    mutating func advance(
        _ state: SyncState, _ outbox: Outbox, isFeedBusy: Bool, _ requests: inout RequestTable, _ turn: inout Turn
    ) {
        guard request == nil, !isDeciding, !isReconciling, retry.isDue(turn), wantsToSend(state, outbox) else { return }
        guard let epoch = state.epoch, !mustCheck, !mustReconcile(state) else {
            // No batch may be sent without the server's last number and the history in which it counts: a delayed
            // batch could arrive in another history.
            guard mustCheck || mustReconcile(state) || !isFeedBusy else { return }
            request = requests.send(
                .clientStatus(state.client), for: .clientStatus, needsFreshToken: retry.needsFreshToken,
                timeout: turn.settings.requestTimeout, &turn)
            return
        }
        let limit = isNameTaken ? min(lastSentNumber, state.renamesAfter ?? .max) : state.renamesAfter
        let writes = nextBatch(outbox, turn.settings, of: state.client, renamesAfter: limit)
        guard let first = writes.first, let last = writes.last else { return }
        lastSentBefore = lastSentNumber
        lastSentNumber = max(lastSentNumber, last.number)
        let resume = serverLastNumber.map { first.number - 1 > $0 } ?? false
        request = requests.send(
            .writes(WriteBatch(client: state.client, epoch: epoch, resume: resume, writes: writes)),
            for: .writes(first.number...last.number), needsFreshToken: retry.needsFreshToken, timeout: turn.settings.requestTimeout, &turn)
    }

    /// Returns the next writes without an outcome, up to a gap in the numbers or a write that must wait.
    private func nextBatch(_ outbox: Outbox, _ settings: SyncSettings, of client: ClientIdentifier, renamesAfter: Int64?) -> [Write] {
        var writes: [Write] = []
        var bytes = 0
        var wasUsed = false
        for entry in outbox.queue.prefix(min(settings.batchCount, limit)) {
            guard let row = outbox.row(at: entry) else { break }
            if let last = writes.last, last.number + 1 != row.number { break }
            // Writes numbered after the name was found on another device are sent under the next name.
            if let last = renamesAfter, row.number > last { break }
            // A batch ends with the used numbers: a server of an earlier version decides free ones at once, before the writes of the used ones
            // are sent again.
            let isUsed = row.wasNumberUsed(under: client)
            if wasUsed, !isUsed { break }
            wasUsed = isUsed
            var write = Write(number: row.number, key: row.key, operation: row.operation, nonce: row.nonce, origin: row.origin)
            let followsDisplaced = outbox.followsDisplaced(row)
            switch row.precondition {
            case .none: break
            case .revision(let revision): write.ifRevision = revision
            // The number permanently stands for the write as sent: wait until the precondition is known.
            case .after: guard followsDisplaced else { return writes }
            }
            if followsDisplaced || refusedWrites[row.number] != nil { write.makeNoOp() }
            bytes += write.operation.size
            if bytes > settings.batchBytes, !writes.isEmpty { break }
            writes.append(write)
        }
        return writes
    }

    /// Whether the device may change its name: no request is in flight, and no answer can come under the present name.
    /// Records that contain writes decided under it must have been read, since nothing under another name would show
    /// this.
    func mayRename(_ state: SyncState, _ outbox: Outbox, _ turn: Turn) -> Bool {
        guard let last = state.renamesAfter, retry.isDue(turn), request == nil, !isDeciding, !isReconciling, !mustCheck,
            !mustReconcile(state), !outbox.awaitsBase
        else { return false }
        return nextBatch(outbox, turn.settings, of: state.client, renamesAfter: last).isEmpty
    }

    /// The number from which on changes of name are not counted: the wait is the longest by then.
    private static let mostRenames = 20

    /// Resets the state after a change of name: no write was sent under the new name. From the second consecutive change on, requests
    /// and the next change wait ever longer, since each change is a durable transaction.
    mutating func renamed(_ turn: inout Turn) {
        let renames = min(self.renames + 1, Self.mostRenames)
        self = Sender()
        self.renames = renames
        if renames > 1 { retry.pause(&turn, asAfter: renames - 1) }
    }

    /// Notes that the server refused to state the name's number.
    mutating func refusedName() { isNameRefused = true }

    /// Notes that a write was decided for another reason than its name.
    mutating func keptName() { renames = 0 }

    /// Notes that the request has ended without a usable response.
    mutating func released() { request = nil }

    // MARK: Responses

    mutating func take(
        _ reply: Reply, _ lastWrite: Int64?, to sent: RequestTable.Request, _ numbers: ClosedRange<Int64>, _ outbox: Outbox,
        _ turn: inout Turn
    ) -> [Effect] {
        request = nil
        switch reply {
        case .results(let results):
            guard !results.results.isEmpty, results.results.allSatisfy({ numbers.contains($0.number) }) else {
                let text = "the outcomes are not those of the writes \(numbers.lowerBound) to \(numbers.upperBound)"
                return fail(.malformed(text), nil, &turn)
            }
            retry.succeed()
            trouble = nil
            if let after = serverLastNumber, numbers.upperBound > after { serverLastNumber = nil }
            limit = limit > 1_000 ? Int.max : limit * 2
            isDeciding = true
            // Those without a result are not decided.
            if let last = results.results.map(\.number).max() { lastSentNumber = max(lastSentBefore, last) }
            // The next writes may be known too; before they are sent, the server is asked whether the name is free again.
            if isNameTaken { (isNameTaken, mustCheck) = (false, true) } else { isNameRefused = false }
            return [.reachedServer, .store(.results(results, lastWrite: lastWrite))]
        case .problem(let problem, _, let retryAfter): return refused(problem, retryAfter, sent, numbers, outbox, &turn)
        case .failure(let failure): return fail(.transport(failure), failure.retryAfter, &turn)
        case .tooLarge where numbers.count > 1:
            limit = numbers.count / 2
            return []
        case .garbage(let text), .tooLarge(let text): return fail(.malformed(text), nil, &turn)
        case .page, .noChange, .reads, .record, .notModified, .missing, .client, .list:
            return fail(.malformed("an answer that does not belong to writes"), nil, &turn)
        }
    }

    mutating func takeStatus(
        _ reply: Reply, to sent: RequestTable.Request, of client: ClientIdentifier, _ outbox: Outbox, _ turn: inout Turn
    ) -> [Effect] {
        request = nil
        switch reply {
        case .client(let status, let cursor):
            guard status.client == client, (0...Revision.maximum.number).contains(status.last) else {
                let text = "the status of \(status.client) with last \(status.last), and not one of \(client)"
                return fail(.malformed(text), nil, &turn)
            }
            retry.acceptToken()
            isNameRefused = false
            isReconciling = true
            return [.store(.reconcile(last: status.last, at: cursor))]
        case .problem(let problem, _, let retryAfter): return refused(problem, retryAfter, sent, nil, outbox, &turn)
        case .failure(let failure): return fail(.transport(failure), failure.retryAfter, &turn)
        case .garbage(let text), .tooLarge(let text): return fail(.malformed(text), nil, &turn)
        case .page, .noChange, .reads, .record, .notModified, .missing, .results, .list:
            return fail(.malformed("an answer that does not belong to a client's status"), nil, &turn)
        }
    }

    private mutating func refused(
        _ problem: Problem, _ retryAfter: Int64?, _ sent: RequestTable.Request, _ numbers: ClosedRange<Int64>?, _ outbox: Outbox,
        _ turn: inout Turn
    ) -> [Effect] {
        // A refused batch has had no effect.
        if numbers != nil, (400..<500).contains(problem.status) { lastSentNumber = lastSentBefore }
        switch problem.status {
        case 401:
            retry.refuseToken()
            return sent.hadFreshToken ? fail(.unauthorized, retryAfter, &turn) : []
        case 409 where problem.code == .writeGap && numbers != nil:
            hasNumberGap = true
            // The first gap is handled at once; a server that repeats it is asked ever more slowly.
            if retry.failures > 0 { return fail(.refused(problem), retryAfter, &turn) }
            retry.count(&turn)
            return []
        case 403 where problem.code == .clientTaken: return nameTaken(problem, retryAfter, outbox, &turn)
        case 403 where problem.code == .forbidden:
            // Nothing of the namespace may be written. Another attempt with the same token would get the same answer.
            return fail(.refused(problem), max(retryAfter ?? 0, turn.settings.longestDelay), &turn)
        case 410 where problem.code == .epochChanged: return [.reset(nil, forgets: false, because: problem.description)]
        // A broken frame or another media type is excluded: not a write of this device causes those, but a proxy that
        // changes requests.
        case 400 where problem.code != .malformedRequest, 413, 422:
            guard let numbers else { return fail(.refused(problem), retryAfter, &turn) }
            if numbers.count > 1 {
                limit = numbers.count / 2
            } else if refusedWrites[numbers.lowerBound] == nil {
                turn.log(.error, "write \(numbers.lowerBound) is refused and given up: \(problem)")
                refusedWrites[numbers.lowerBound] = problem
            } else {
                return fail(.refused(problem), retryAfter, &turn)
            }
            return []
        default: return fail(.refused(problem), retryAfter, &turn)
        }
    }

    /// Leaves the name if no waiting write was sent under it: none can have taken effect, so each takes effect once under
    /// another name. Otherwise asks for the outcomes of the writes that were sent. Those that the server does not state
    /// wait for the principal to whom the name belongs: docs/decisions/0053-client-names.md.
    private mutating func nameTaken(
        _ problem: Problem, _ retryAfter: Int64?, _ outbox: Outbox, _ turn: inout Turn
    ) -> [Effect] {
        retry.acceptToken()
        isNameRefused = true
        if let first = outbox.queue.first, first.number <= lastSentNumber {
            let hasAsked = isNameTaken
            (isNameTaken, mustCheck) = (!hasAsked, hasAsked)
            return hasAsked ? fail(.refused(problem), max(retryAfter ?? 0, turn.settings.longestDelay), &turn) : []
        }
        if outbox.awaitsBase { return fail(.refused(problem), retryAfter, &turn) }
        isDeciding = true
        return [.store(.leaveName)]
    }

    private mutating func fail(_ trouble: SyncStatus.Trouble, _ retryAfter: Int64?, _ turn: inout Turn) -> [Effect] {
        self.trouble = trouble
        retry.fail(&turn, retryAfter: retryAfter)
        return []
    }

    // MARK: The disk's answers

    /// Notes that verdicts are on disk, among them those of these numbers.
    mutating func decided(_ numbers: [Int64]) {
        isDeciding = false
        for number in numbers { refusedWrites[number] = nil }
    }

    mutating func reconciled(last: Int64) {
        isReconciling = false
        hasNumberGap = false
        mustCheck = false
        serverLastNumber = last
    }

    mutating func notStored(_ failure: DiskFailure, _ turn: inout Turn) {
        isDeciding = false
        isReconciling = false
        _ = fail(.disk(failure), nil, &turn)
    }

    // MARK: Other events

    /// Ends a wait for contact or for a right, since the server can be reached again or the token may read again.
    mutating func regainedContact() {
        switch trouble {
        case .transport?: retry.hurry()
        case .refused(let problem)? where problem.code == .forbidden: retry.hurry()
        default: break
        }
    }

    mutating func wake() { retry.wake() }

    /// Drops the answers that are being stored, since a reset begins.
    mutating func reset() {
        isDeciding = false
        isReconciling = false
        isNameTaken = false
        isNameRefused = false
    }

    /// See ``SyncMachine/relativeState(at:)``.
    mutating func makeRelative(to uptime: Int64, _ requests: RequestTable) {
        request = requests.relativeID(of: request)
        retry.makeRelative(to: uptime)
    }
}

extension Write {
    /// Makes a write that uses up the number without effect, or finds out the verdict if the number was decided.
    fileprivate mutating func makeNoOp() { (operation, ifRevision, origin) = (.delete, .maximum, nil) }
}

extension WriteOperation {
    /// The approximate size of the operation in bytes.
    var size: Int {
        switch self {
        case .put(let content): content.bytes.count
        case .patch(let patch): patch.count
        case .delete: 0
        case .increment(let increment): increment.byteCount
        }
    }
}
