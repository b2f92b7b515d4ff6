import FreshetClient
import FreshetWire

/// A server in a few lines that forgets nothing: what the protocol promises, as a value.
struct SmallServer: Hashable {
    var history: SmallHistory
    /// The histories that are over.
    var past: [SmallHistory] = []
    /// What a restore goes back to.
    var backup: SmallHistory?
    /// What it did that no server may do.
    var failure: SmallFailure?

    func history(of epoch: Epoch) -> SmallHistory? {
        epoch == history.epoch ? history : past.first { $0.epoch == epoch }
    }

    var histories: [SmallHistory] { past + [history] }

    // MARK: Epochs

    enum Begin: Hashable { case empty, backup, same }

    mutating func begin(_ begin: Begin) {
        let epoch = Epoch("e\(past.count + 1)") ?? history.epoch
        past.append(history)
        var next: SmallHistory
        switch begin {
        case .empty: next = SmallHistory(epoch: epoch, keys: history.versions.count)
        case .backup: next = backup ?? history
        case .same: next = history
        }
        // A back-up that is restored stands for a promoted standby too, which was that far behind.
        next.lineage = begin == .backup && next.epoch == history.epoch ? SmallHistory.Lineage(previous: next.epoch, fork: next.head) : nil
        next.epoch = epoch
        history = next
    }

    // MARK: Requests

    /// The response; `nil` for a poll for which nothing has changed yet.
    mutating func answer(_ kind: RequestDescription.Kind, _ setup: SmallSetup) -> SmallResponse? {
        let reply: Reply?
        let client: ClientIdentifier?
        switch kind {
        case .changes(let since, _, let wait, let limit, let writer): (reply, client) = (changes(since, wait, limit, setup), writer)
        case .writes(let batch): (reply, client) = (write(batch, setup), batch.client)
        case .reads(let request): (reply, client) = (.reads(reads(request, setup)), request.client)
        case .record(let key, let known, let writer):
            client = writer
            if let record = record(key, setup) {
                let isKnown = known == history.cursor(at: record.revision.number)
                reply = isKnown ? .notModified(history.cursor) : .record(record, history.cursor)
            } else {
                reply = .missing(history.cursor)
            }
        case .list: (reply, client) = (.garbage("no device of a small world lists"), nil)
        case .clientStatus(let asker):
            (reply, client) = (.client(ClientStatus(client: asker, last: history.ledgers[asker]?.last ?? 0), history.cursor), nil)
        }
        guard let reply else { return nil }
        var last = client.map { history.ledgers[$0]?.last ?? 0 }
        switch setup.bug {
        case .overstateLastWrite: last = last.map { $0 + 1 }
        case .understateLastWrite: last = last.map { max(0, $0 - 1) }
        default: break
        }
        return SmallResponse(reply: reply, lastWrite: last)
    }

    private func record(_ key: RecordKey, _ setup: SmallSetup) -> Record? {
        guard let number = setup.numbers[key], let version = history.current(number), let content = version.content,
            let revision = Revision(version.revision)
        else { return nil }
        return Record(key: key, revision: revision, content: content, modified: Timestamp(milliseconds: 0))
    }

    private func problem(_ code: ProblemCode) -> Reply { .problem(Problem(code, ""), cursor: history.cursor, retryAfter: nil) }

    private func epochChanged(_ position: Cursor, _ setup: SmallSetup) -> Reply {
        var problem = Problem(.epochChanged, "")
        if let lineage = history.lineage, lineage.previous == position.epoch {
            let fork = Revision(setup.bug == .overstateFork ? lineage.fork + 1 : lineage.fork) ?? .zero
            let cursor = Cursor(epoch: history.epoch, revision: min(position.revision, fork))
            problem.continuation = Problem.Continuation(fork: fork, cursor: cursor)
        }
        return .problem(problem, cursor: history.cursor, retryAfter: nil)
    }

    private func changes(_ since: Since, _ wait: Int, _ limit: Int, _ setup: SmallSetup) -> Reply? {
        var start: Int64 = 0
        switch since {
        case .now: return .page(ChangePage(changes: [], cursor: history.cursor, upToDate: true))
        case .start: break
        case .after(let position):
            guard position.epoch == history.epoch else { return epochChanged(position, setup) }
            guard position.revision.number <= history.head else { return problem(.cursorAhead) }
            start = position.revision.number
        }
        var all: [Change] = []
        for (number, key) in setup.keys.enumerated() {
            guard let version = history.current(number), version.revision > start, let revision = Revision(version.revision) else {
                continue
            }
            let modified = Timestamp(milliseconds: 0)
            if let content = version.content {
                let effect = Change.Effect.put(key, content: content, contentType: content.type, size: content.bytes.count)
                all.append(Change(revision: revision, effect: effect, modified: modified, author: version.author))
            } else if since != .start {
                all.append(Change(revision: revision, effect: .delete(key), modified: modified, author: version.author))
            }
        }
        if since != .start {
            for invalidation in history.invalidations where invalidation.revision > start {
                let scope = invalidation.key.map { InvalidationScope.key(setup.keys[$0]) } ?? .everything
                guard let revision = Revision(invalidation.revision) else { continue }
                all.append(Change(revision: revision, effect: .invalidate(scope)))
            }
        }
        all.sort { $0.revision < $1.revision }
        if wait > 0, start == history.head || setup.bug == .loseWakeUp { return nil }
        let page = Array(all.prefix(limit))
        let isLast = page.count == all.count
        let cursor = isLast ? history.cursor : history.cursor(at: page.last?.revision.number ?? start)
        return .page(ChangePage(changes: page, cursor: cursor, upToDate: isLast))
    }

    private func reads(_ request: ReadsRequest, _ setup: SmallSetup) -> ReadsResponse {
        var response = ReadsResponse(records: [], missing: [], cursor: history.cursor)
        for item in request.items {
            guard let record = record(item.key, setup) else {
                response.missing.append(item.key)
                continue
            }
            if record.revision != item.revision { response.records.append(record) }
        }
        return response
    }
}

/// A response on its way: made of what the server had when it took the request.
struct SmallResponse: Hashable {
    var reply: Reply
    /// What `Freshet-Last-Write` says.
    var lastWrite: Int64?
}
