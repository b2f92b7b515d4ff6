import DequeModule
import FreshetClient
import FreshetServer
import FreshetWire

/// The one writer of each server: it commits all waiting jobs together, then publishes them, then answers them.
extension SimulatedSystem {
    /// Work of a backend, which reaches one of the servers that run.
    func submit(_ work: SimulatedServer.Job.Work) {
        let running = servers.count { $0.isUp }
        guard running > 0 else { return }
        let server = servers.filter(\.isUp)[running == 1 ? 0 : Int(random() % UInt64(running))]
        server.jobs.append(SimulatedServer.Job(work: work, message: nil))
        startCommit(server)
    }

    func startCommit(_ server: SimulatedServer) {
        guard !server.isCommitting, !server.jobs.isEmpty else { return }
        server.isCommitting = true
        var wait = bug == .acknowledgeBeforeSync ? 0 : delay(5)
        if shared.trouble?.present(at: now) == .slow { wait = wait * 50 + 100 }
        push(.serverSync(server.process), after: wait)
    }

    /// All waiting jobs. A job that ends a history goes alone, since no client would learn of earlier changes in the same transaction.
    private func nextGroup(_ server: SimulatedServer) -> [SimulatedServer.Job] {
        let count = server.jobs.firstIndex { $0.endsHistory } ?? server.jobs.count
        let group = Array(server.jobs.prefix(max(count, 1)))
        server.jobs.removeFirst(group.count)
        return group
    }

    /// The transaction reaches the disk, or the disk fails.
    func sync(_ server: SimulatedServer) throws(Violation) {
        let jobs = nextGroup(server)
        let trouble = shared.trouble?.present(at: now)
        switch trouble {
        case .full: return refuse(jobs, StoreError.full(path: "store").problem, at: shared.state.cursor, server)
        case .failing:
            return refuse(jobs, StoreError.failed(path: "store", reason: "the disk fails").problem, at: shared.state.cursor, server)
        case .unsure where random() % 2 == 0: return leaveOpen(jobs, server)
        case .unsure, .slow, nil: break
        }
        if bug == .acknowledgeBeforeSync, shared.unsynced?.present(at: now) == nil {
            shared.unsynced = TimedCondition(shared.store.backup, until: now + 2_000)
        }
        let revoked = shared.revoked
        let parts = jobs.map { part($0) }
        let group: GroupCommit
        do {
            group = try GroupCommit.commit(
                parts.flatMap(\.submissions), to: shared.store, at: WriteTime(shared.wall(at: now)), editLimit: 1 << 20, room: .max,
                portion: .max)
        } catch {
            shared.revoked = revoked
            return refuse(jobs, error.problem, at: nil, server)
        }
        group.complete()
        for (job, part) in zip(jobs, parts) {
            guard let message = job.message, isRevokedForAll(messages[message]), case .success = part.results() else { continue }
            throw fail(.revoked, messages[message].device, "a batch was applied by a token whose revocation had been answered")
        }
        let outcomes = zip(jobs, parts).map { $1.outcomes($0.message.map { messages[$0] }) }
        let decided = outcomes.flatMap { $0 }
        for commit in group.commits {
            if commit.isReset { oracle.open(commit.base, at: now) }
            digest.mix(commit.cursor.revision.number)
            do throws(Oracle.InvariantFailure) {
                try oracle.committed(commit, decided, at: now)
            } catch { throw fail(error.rule, nil, error.text) }
        }
        do throws(Oracle.InvariantFailure) { try oracle.decided(decided) } catch { throw fail(error.rule, nil, error.text) }
        recorder?.committed(group.commits, at: now)
        guard trouble != .unsure else { return leaveOpen(jobs, server) }
        let replies = zip(jobs, parts).compactMap { job, part in
            job.message.map { ($0, part.reply(self.shared.state.cursor), part.lastWrite()) }
        }
        push(
            .serverPublish(server.process, SimulatedServer.Commit(commits: group.commits, replies: replies, revoked: shared.revoked)),
            after: delay(1))
    }

    /// All of these are stored or nothing, and the server does not learn which. Its feed reads the store, as after
    /// ``StoreError/outcomeUnknown(path:reason:)``.
    private func leaveOpen(_ jobs: [SimulatedServer.Job], _ server: SimulatedServer) {
        if bug == .renumberUnknown {
            for job in jobs { if let message = job.message { shared.unknown.formUnion(messages[message].origins.values) } }
        }
        if bug != .skipUnknown { update(server) { FeedUpdate(deliveries: [], read: $0.requireRead()) } }
        refuse(jobs, StoreError.outcomeUnknown(path: "store", reason: "the connection was lost").problem, at: nil, server)
    }

    /// Nothing of these is stored, as far as the server knows; the next ones may try.
    private func refuse(_ jobs: [SimulatedServer.Job], _ problem: Problem, at position: Cursor?, _ server: SimulatedServer) {
        for job in jobs { if let message = job.message { reply(message, .problem(problem, cursor: position, retryAfter: nil)) } }
        server.isCommitting = false
        startCommit(server)
    }

    func publish(_ commit: SimulatedServer.Commit, _ server: SimulatedServer) throws(Violation) {
        for part in commit.commits where part.isReset || !part.changes.isEmpty {
            if bug == .skipGap, !part.isReset {
                deliver(server.feed?.commit(part.changes, batches: part.batches, at: part.cursor) ?? [])
            } else {
                update(server) { $0.publish(part) }
            }
        }
        announce(commit.commits, server)
        if commit.revoked != shared.answeredRevocations { endSessions(through: commit.revoked) }
        for (message, reply, lastWrite) in commit.replies {
            if case .results(let results) = reply, results.results.contains(where: \.showsOutline) {
                push(.serverReadRejected(server.process, message: message, results, lastWrite: lastWrite), after: 1)
            } else {
                self.reply(message, reply, lastWrite: lastWrite)
            }
        }
        oracle.acknowledged()
        server.isCommitting = false
        startCommit(server)
    }

    /// Reads the records that the rejections of a batch show, when the next transaction may be on disk already.
    func readRejected(_ serial: Int, _ results: WriteResults, _ lastWrite: Int64?) {
        guard servers[messages[serial].server].activeRequests.contains(serial), case .writes(let batch) = messages[serial].kind else {
            return
        }
        let committed = Committed(.success(results.results), results.cursor, lastWrite: lastWrite)
        do {
            let complete = try RejectionRecords.read(
                committed, of: ledgerName(batch.client), in: shared.namespace, from: shared.store, within: shared.rejectionBounds)
            let outcomes = try complete.result.get()
            reply(
                serial,
                .results(
                    WriteResults(results: outcomes, cursor: complete.cursor.map { issued($0, to: messages[serial]) } ?? results.cursor)),
                lastWrite: complete.lastWrite)
        } catch { reply(serial, .results(results), lastWrite: lastWrite) }
    }

    // MARK: Submissions

    /// What a job asks of the store, and how its results are read.
    private struct Part {
        var submissions: [Submission]
        /// For each write of the message its number and its outcome, once it is committed.
        var results: () -> Result<[WriteOutcome], Problem>
        var cursor: () -> Cursor?
        var lastWrite: () -> Int64? = { nil }

        func outcomes(_ message: Message?) -> [Oracle.Outcome] {
            guard case .success(let results) = results() else { return [] }
            return results.map { Oracle.Outcome(write: message?.origins[$0.number], verdict: $0.verdict) }
        }

        func reply(_ position: Cursor) -> Reply {
            switch results() {
            case .success(let outcomes): .results(WriteResults(results: outcomes, cursor: cursor() ?? position))
            case .failure(let problem): .problem(problem, cursor: cursor() ?? position, retryAfter: nil)
            }
        }
    }

    private func part(_ job: SimulatedServer.Job) -> Part {
        let namespace = shared.namespace
        func ignore(_ submission: Submission) -> Part { Part(submissions: [submission], results: { .success([]) }, cursor: { nil }) }
        switch job.work {
        case .batch(let batch):
            let slot = ResultSlot<[WriteOutcome]>()
            let message = job.message.map { messages[$0] }
            let access = writeAccess(of: message)
            return Part(
                submissions: [.batch(batch, in: namespace, by: access) { slot.put($0) }],
                results: { (slot.value?.result ?? .success([])).map { access?.shown($0, of: batch) ?? $0 } },
                cursor: { [self] in slot.value?.cursor.map { cursor in message.map { issued(cursor, to: $0) } ?? cursor } },
                lastWrite: { slot.value?.lastWrite })
        case .singles(let writes):
            let slots = writes.map { _ in ResultSlot<SingleReceipt>() }
            let submissions = zip(writes, slots).map { write, slot in
                Submission.single(SingleWrite(key: write.key, operation: write.operation), in: namespace) { slot.put($0) }
            }
            return Part(
                submissions: submissions,
                results: {
                    .success(
                        zip(writes, slots).map { write, slot in
                            switch slot.value?.result {
                            case .success(let receipt): WriteOutcome(number: write.number, verdict: .applied(receipt.revision))
                            case .failure(let problem): WriteOutcome(number: write.number, verdict: .rejected(problem))
                            case nil: WriteOutcome(number: write.number, verdict: .settled)
                            }
                        })
                }, cursor: { slots.last?.value?.cursor })
        case .single(let write): return ignore(.single(write, in: namespace) { _ in })
        case .invalidation(let scope): return ignore(.invalidate([scope], in: namespace) { _ in })
        case .compaction:
            return ignore(.compact(before: Timestamp(milliseconds: .max), limit: 1_000) { _ in })
        case .drop: return ignore(.drop(namespace) { _ in })
        case .revocation(let device, let token):
            shared.revoked[device] = max(shared.revoked[device] ?? 0, token)
            return Part(submissions: [], results: { .success([]) }, cursor: { nil })
        }
    }

    // MARK: Back-ups

    func backUp() {
        guard servers.contains(where: \.isUp) else { return }
        shared.backup = (shared.store.backup, oracle.position)
    }

    func restore() throws(Violation) {
        guard let backup = shared.backup else { return }
        stopServers()
        shared.store = MemoryRecordStore(restoring: backup.store)
        do {
            _ = try GroupCommit.commit(
                [.rotateEpochs(seed: random()) { _ in }], to: shared.store, at: WriteTime(shared.wall(at: now)), editLimit: 1 << 20,
                room: .max)
        } catch { throw fail(.bounded, nil, "a restored store did not take a new epoch: \(error)") }
        beginHistory(backup.point, "the server is restored from its back-up")
    }

    func promoteStandby(isBehind: Bool) {
        guard let standby = isBehind ? shared.backup : (shared.store.backup, oracle.position) else { return }
        stopServers()
        shared.store = MemoryRecordStore(promoting: standby.store, seed: random())
        beginHistory(standby.point, isBehind ? "a standby takes over that was behind" : "a standby takes over")
    }

    private func stopServers() {
        cutActiveRequests()
        for server in servers { server.die() }
        shared.unsynced = nil
    }

    /// - Parameter point: up to which the history continues another.
    private func beginHistory(_ point: Oracle.Point, _ text: String) {
        oracle.restored(point, shared.state.cursor, at: now)
        recorder?.mark(nil, at: now, text)
        for server in servers { push(.serverStart(server.process), after: 100) }
    }
}

extension SimulatedServer.Job {
    fileprivate var endsHistory: Bool {
        if case .drop = work { true } else { false }
    }
}
