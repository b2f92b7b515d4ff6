import FreshetClient
import FreshetWire

/// Batches of writes: each number is decided once in each history.
extension SmallServer {
    mutating func write(_ batch: WriteBatch, _ setup: SmallSetup) -> Reply {
        guard batch.epoch == history.epoch else {
            return .problem(Problem(.epochChanged, ""), cursor: history.cursor, retryAfter: nil)
        }
        checkNumbers(batch)
        var ledger = history.ledgers[batch.client] ?? SmallHistory.Ledger()
        if let first = batch.writes.first, first.number > ledger.last + 1 {
            guard batch.resume else {
                return .problem(Problem(.writeGap, "", expected: ledger.last + 1), cursor: history.cursor, retryAfter: nil)
            }
            ledger = SmallHistory.Ledger(last: first.number - 1)
        }
        var results: [WriteOutcome] = []
        for write in batch.writes {
            let verdict: WriteOutcome.Verdict
            if write.number <= ledger.last, setup.bug != .forgetNumber {
                verdict = ledger.outcomes[write.number] ?? .settled
            } else {
                verdict = apply(write, batch.client, setup)
                if let earlier = history.decision(on: write.number, of: batch.client), case .applied(_?) = earlier.verdict,
                    case .applied(_?) = verdict
                {
                    failure = SmallFailure(.exactlyOnce, "write \(write.number) of \(batch.client) took effect twice")
                }
                ledger.last = max(ledger.last, write.number)
                ledger.outcomes[write.number] = verdict
                if setup.keptOutcomes < Int64.max { ledger.outcomes[write.number - setup.keptOutcomes] = nil }
                history.decisions[batch.client, default: [:]][write.number] = SmallHistory.Decision(write: write, verdict: verdict)
            }
            results.append(WriteOutcome(number: write.number, verdict: verdict))
        }
        history.ledgers[batch.client] = ledger
        // A rejection shows the record as the batch leaves it.
        for (place, write) in batch.writes.enumerated() {
            guard case .rejected(var problem) = results[place].verdict, problem.code == .preconditionFailed else { continue }
            problem.current = current(write.key, setup)
            results[place].verdict = .rejected(problem)
        }
        return .results(WriteResults(results: results, cursor: history.cursor))
    }

    /// A number names one write, in every history.
    private mutating func checkNumbers(_ batch: WriteBatch) {
        for write in batch.writes {
            for decided in histories {
                guard let earlier = decided.decision(on: write.number, of: batch.client)?.write else { continue }
                if earlier.key != write.key || earlier.operation != write.operation {
                    failure = SmallFailure(.exactlyOnce, "\(batch.client) sends \(write) under the number of \(earlier)")
                }
            }
        }
    }

    private func current(_ key: RecordKey, _ setup: SmallSetup) -> Record? {
        guard let number = setup.numbers[key], let version = history.current(number), let content = version.content,
            let revision = Revision(version.revision)
        else { return nil }
        let modified = Timestamp(milliseconds: 0)
        guard setup.showsValues else {
            return Record(key: key, revision: revision, contentType: content.type, size: content.bytes.count, modified: modified)
        }
        return Record(key: key, revision: revision, content: content, modified: modified)
    }

    private mutating func apply(_ write: Write, _ client: ClientIdentifier, _ setup: SmallSetup) -> WriteOutcome.Verdict {
        guard let number = setup.numbers[write.key] else { return .rejected(Problem(.notFound, "")) }
        let version = history.current(number)
        let old = version?.content
        let revision = old == nil ? 0 : version?.revision ?? 0
        if let wanted = write.ifRevision, wanted.number != revision { return .rejected(Problem(.preconditionFailed, "")) }
        switch write.operation {
        case .delete where old == nil: return .applied(nil)
        case .patch where old == nil: return .rejected(Problem(.notFound, ""))
        case .increment(let increment):
            let document = old.flatMap { try? JSONDocument($0.bytes) }
            do throws(IncrementFailure) { _ = try increment.applied(to: document) } catch {
                return .rejected(Problem(error.code, error.description))
            }
        case .put, .delete, .patch: break
        }
        var replay = Replay(old.map { .content($0) } ?? .absent)
        replay.apply(write.operation)
        history.add(replay.value.content, of: number, author: Change.Author(client: client, write: write.number))
        return .applied(Revision(history.head))
    }
}
