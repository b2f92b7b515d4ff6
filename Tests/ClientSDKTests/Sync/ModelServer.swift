// swift-format-ignore-file: NeverUseForceTry, NeverForceUnwrap

import FreshetWire

@testable import FreshetClient

/// A server in a few lines that keeps the protocol's promises, without a network. It leaves values over `inlineLimit` out where the
/// protocol allows it.
struct ModelServer {
    struct Stored {
        var revision: Int64
        /// `nil`: deleted.
        var content: Content?
        var author: Change.Author?
    }

    struct Ledger {
        var last: Int64 = 0
        var outcomes: [Int64: WriteOutcome.Verdict] = [:]
        var nonces: [Int64: Int64] = [:]
        /// The numbers that batches with `resume` left out.
        var leftOut: [ClosedRange<Int64>] = []

        /// Whether a write under a number that was used is another one than the one that used it.
        func isTaken(_ write: Write) -> Bool {
            guard let nonce = write.nonce else { return false }
            return leftOut.contains { $0.contains(write.number) } || nonces[write.number].map { $0 != nonce } ?? false
        }
    }

    /// What became of a write, for ever: the ledger forgets, this does not.
    struct Decision {
        var write: Write
        var verdict: WriteOutcome.Verdict
    }

    var epoch: Epoch
    /// The history that this one continues up to a revision.
    var lineage: (previous: Epoch, fork: Int64)?
    var head: Int64 = 0
    var records: [RecordKey: Stored] = [:]
    /// Invalidations of single keys and sweeps.
    var invalidations: [(revision: Int64, scope: InvalidationScope)] = []
    var ledgers: [ClientIdentifier: Ledger] = [:]
    /// The principals that names belong to, where senders state one.
    var owners: [ClientIdentifier: String] = [:]
    /// All that was decided in this history and in those that it goes on from.
    var decisions: [ClientIdentifier: [Int64: Decision]] = [:]
    /// Writes that were decided a second time: there must be none.
    var repeated: [Write] = []
    /// Positions before this one get `410`, since deletes have been forgotten.
    var oldest: Int64 = 0
    var inlineLimit = 200
    /// How many records one answer to `reads` may have.
    var recordsPerAnswer = 2
    /// Identifies a write by its number and ignores the nonce, as a server of an earlier version.
    var ignoresNonces = false
    /// How many outcomes a client's ledger keeps.
    var kept = Int64.max

    init(epoch: String = "a") { self.epoch = Epoch(epoch)! }

    var cursor: Cursor { Cursor(epoch: epoch, revision: Revision(head)!) }

    // MARK: Changes by others

    mutating func write(_ key: RecordKey, _ content: Content?, author: Change.Author? = nil) {
        head += 1
        records[key] = Stored(revision: head, content: content, author: author)
        invalidations.removeAll { $0.scope == .key(key) }
    }

    mutating func invalidate(_ scope: InvalidationScope) {
        head += 1
        invalidations.removeAll { $0.scope == scope }
        invalidations.append((head, scope))
    }

    mutating func forgetDeletes() {
        oldest = max(oldest, records.values.filter { $0.content == nil }.map(\.revision).max() ?? 0)
        records = records.filter { $0.value.content != nil }
    }

    /// The record as JSON carries it.
    func record(_ key: RecordKey, full: Bool = false) -> Record? {
        guard let stored = records[key], let content = stored.content else { return nil }
        let revision = Revision(stored.revision)!
        let modified = Timestamp(milliseconds: stored.revision)
        return content.bytes.count > inlineLimit && !full
            ? Record(key: key, revision: revision, contentType: content.type, size: content.bytes.count, modified: modified)
            : Record(key: key, revision: revision, content: content, modified: modified)
    }

    // MARK: Requests

    /// The answer; `nil` for a poll for which there is no news yet. For a reading from the start, `origin` is the head at which
    /// it began: earlier deletes do not concern it.
    mutating func answer(_ kind: RequestDescription.Kind, origin: Int64? = nil, from principal: String? = nil) -> Reply? {
        // The outcomes of a batch are its sender's own all the same.
        if case .writes = kind {} else if let client = kind.client, isTaken(client, principal) { return Self.taken }
        return switch kind {
        case .changes(let since, let filter, let wait, let limit, _): changes(since, filter, wait, limit, origin)
        case .writes(let batch): write(batch, from: principal)
        case .reads(let request): reads(request)
        case .record(let key, let known, _):
            if let record = record(key, full: true) {
                known == Cursor(epoch: epoch, revision: record.revision) ? .notModified(cursor) : .record(record, cursor)
            } else {
                .missing(cursor)
            }
        case .list(let collection, let after, let limit): .list(list(collection, after, limit))
        case .clientStatus(let client) where isTaken(client, principal): Self.taken
        case .clientStatus(let client): .client(ClientStatus(client: client, last: ledgers[client]?.last ?? 0), cursor)
        }
    }

    private func list(_ collection: String, _ after: String?, _ limit: Int) -> RecordList {
        let keys = records.keys.sorted().filter { key in
            guard key.collection == collection, records[key]?.content != nil else { return false }
            return after.map { $0.utf8.lexicographicallyPrecedes(key.id.utf8) } ?? true
        }
        let page = keys.prefix(limit).compactMap { record($0)?.withoutValue }
        return RecordList(records: page, next: keys.count > limit ? keys[limit - 1].id : nil, cursor: cursor)
    }

    /// The device's last decided write, as the response to a request of this kind states it; `nil` where the name is another principal's.
    func lastWrite(for kind: RequestDescription.Kind, from principal: String? = nil) -> Int64? {
        kind.client.flatMap { isTaken($0, principal) ? nil : ledgers[$0]?.last ?? 0 }
    }

    private func changes(
        _ since: Since, _ filter: ChangeFilter, _ wait: Int, _ limit: Int, _ origin: Int64?
    ) -> Reply? {
        var start: Int64 = 0
        switch since {
        case .now: return .page(ChangePage(changes: [], cursor: cursor, upToDate: true))
        case .start: break
        case .after(let position):
            guard position.epoch == epoch else {
                var problem = Problem(.epochChanged, "another epoch")
                if let lineage, lineage.previous == position.epoch, origin == nil, let fork = Revision(lineage.fork) {
                    let cursor = Cursor(epoch: epoch, revision: min(position.revision, fork))
                    problem.continuation = Problem.Continuation(fork: fork, cursor: cursor)
                }
                return .problem(problem, cursor: cursor, retryAfter: nil)
            }
            guard position.revision.number <= head else {
                return .problem(Problem(.cursorAhead, "ahead"), cursor: cursor, retryAfter: nil)
            }
            guard max(position.revision.number, origin ?? 0) >= oldest else {
                return .problem(Problem(.cursorExpired, "expired"), cursor: cursor, retryAfter: nil)
            }
            start = position.revision.number
        }
        var all: [Change] = []
        for (key, stored) in records where stored.revision > start && filter.matches(key) {
            let revision = Revision(stored.revision)!
            guard let content = stored.content else {
                if since != .start { all.append(Change(revision: revision, effect: .delete(key), author: stored.author)) }
                continue
            }
            let inline = content.bytes.count > inlineLimit ? nil : content
            all.append(
                Change(
                    revision: revision, effect: .put(key, content: inline, contentType: content.type, size: content.bytes.count),
                    modified: Timestamp(milliseconds: stored.revision), author: stored.author))
        }
        if since != .start {
            for (revision, scope) in invalidations where revision > start && filter.matches(scope) {
                all.append(Change(revision: Revision(revision)!, effect: .invalidate(scope)))
            }
        }
        all.sort { $0.revision < $1.revision }
        let page = Array(all.prefix(limit))
        let isLast = page.count == all.count
        if page.isEmpty, wait > 0, start == head { return nil }
        let position = isLast ? cursor : Cursor(epoch: epoch, revision: page.last!.revision)
        return .page(ChangePage(changes: page, cursor: position, upToDate: isLast))
    }

    private func reads(_ request: ReadsRequest) -> Reply {
        var response = ReadsResponse(records: [], missing: [], cursor: cursor)
        for (place, item) in request.items.enumerated() {
            guard let record = record(item.key) else {
                response.missing.append(item.key)
                continue
            }
            if record.revision == item.revision { continue }
            guard response.records.count < recordsPerAnswer else {
                response.next = place
                break
            }
            response.records.append(record)
        }
        return .reads(response)
    }

    /// Whether the name belongs to another principal.
    private func isTaken(_ client: ClientIdentifier, _ principal: String?) -> Bool {
        guard let principal, let owner = owners[client] else { return false }
        return owner != principal
    }

    private static let taken = Reply.problem(Problem(.clientTaken, "another principal's"), cursor: nil, retryAfter: nil)

    /// The outcomes that a sender gets under a name of another owner.
    private func ownOutcomes(_ batch: WriteBatch, _ ledger: Ledger) -> Reply {
        let own = batch.writes.prefix { write in
            write.nonce != nil && write.number <= ledger.last
                && (ledger.nonces[write.number] != nil || ledger.leftOut.contains { $0.contains(write.number) })
        }
        guard !own.isEmpty else { return Self.taken }
        let results = own.map { write in
            let verdict = ledger.isTaken(write) ? .rejected(Problem(.numberTaken, "another write")) : ledger.outcomes[write.number]
            return WriteOutcome(number: write.number, verdict: verdict ?? .settled)
        }
        return .results(WriteResults(results: results, cursor: cursor))
    }

    private mutating func write(_ batch: WriteBatch, from principal: String?) -> Reply {
        guard batch.epoch == epoch else { return .problem(Problem(.epochChanged, "another epoch"), cursor: cursor, retryAfter: nil) }
        var ledger = ledgers[batch.client] ?? Ledger()
        if isTaken(batch.client, principal) { return ownOutcomes(batch, ledger) }
        if let principal { owners[batch.client] = principal }
        defer { ledgers[batch.client] = ledger }
        if let first = batch.writes.first, first.number > ledger.last + 1 {
            guard batch.resume else {
                return .problem(Problem(.writeGap, "a gap", expected: ledger.last + 1), cursor: cursor, retryAfter: nil)
            }
            ledger.leftOut.append(ledger.last + 1...first.number - 1)
            ledger.last = first.number - 1
        }
        var results: [WriteOutcome] = []
        let isShared =
            !ignoresNonces
            && batch.writes.contains {
                $0.number <= ledger.last && ($0.nonce != nil && ledger.outcomes[$0.number] == nil || ledger.isTaken($0))
            }
        for write in batch.writes {
            let verdict: WriteOutcome.Verdict
            if isShared, write.number > ledger.last { break }
            if !ignoresNonces, write.number <= ledger.last, ledger.isTaken(write) {
                verdict = .rejected(Problem(.numberTaken, "another write"))
            } else if write.number <= ledger.last {
                verdict = ledger.outcomes[write.number] ?? .settled
            } else {
                verdict = outcomeAtOrigin(of: write) ?? apply(write, batch.client)
                ledger.last = write.number
                ledger.outcomes[write.number] = verdict
                ledger.nonces[write.number] = write.nonce
                ledger.nonces[write.number - kept] = nil
                ledger.outcomes[write.number - kept] = nil
                if decisions[batch.client]?[write.number] != nil { repeated.append(write) }
                decisions[batch.client, default: [:]][write.number] = Decision(write: write, verdict: verdict)
            }
            results.append(WriteOutcome(number: write.number, verdict: verdict))
        }
        // A rejection shows the record as the batch leaves it.
        for place in results.indices {
            guard case .rejected(var problem) = results[place].verdict, problem.code == .preconditionFailed else { continue }
            problem.current = record(batch.writes[place].key)
            results[place].verdict = .rejected(problem)
        }
        return .results(WriteResults(results: results, cursor: cursor))
    }

    private func outcomeAtOrigin(of write: Write) -> WriteOutcome.Verdict? {
        guard let origin = write.origin, let ledger = ledgers[origin.client], ledger.nonces[origin.number] == write.nonce
        else { return nil }
        return ledger.outcomes[origin.number]
    }

    private mutating func apply(_ write: Write, _ client: ClientIdentifier) -> WriteOutcome.Verdict {
        let current = record(write.key, full: true)
        if let wanted = write.ifRevision, wanted != current?.revision ?? .zero {
            return .rejected(Problem(.preconditionFailed, "changed", current: record(write.key)))
        }
        let content: Content?
        do {
            switch write.operation {
            case .put(let new): content = new
            case .delete:
                guard current != nil else { return .applied(nil) }
                content = nil
            case .patch(let patch):
                guard let old = current?.content else { return .rejected(Problem(.notFound, "nothing to patch")) }
                content = Content(checkedJSON: try JSONDocument(old.bytes).merging(JSONDocument(patch)).bytes)
            case .increment(let increment):
                let sum = try increment.applied(to: try current?.content.map { try JSONDocument($0.bytes) })
                content = Content(checkedJSON: sum.bytes)
            }
        } catch let failure as IncrementFailure {
            return .rejected(Problem(failure.code, failure.description, current: record(write.key)))
        } catch {
            return .rejected(Problem(.invalidRequest, "\(error)"))
        }
        self.write(write.key, content, author: Change.Author(client: client, write: write.number))
        return .applied(Revision(head)!)
    }
}

extension RequestDescription.Kind {
    /// The device whose last decided write the response states.
    var client: ClientIdentifier? {
        switch self {
        case .changes(_, _, _, _, let client), .record(_, _, let client): client
        case .reads(let request): request.client
        case .writes(let batch): batch.client
        case .list, .clientStatus: nil
        }
    }
}
