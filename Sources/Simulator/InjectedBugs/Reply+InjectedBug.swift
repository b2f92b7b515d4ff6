import FreshetClient
import FreshetWire

/// What broken implementations make of a response; see ``InjectedBug`` and ``SmallBug``.
extension Reply {
    /// The same response, where a read claims to be of this position.
    func raised(to head: Cursor) -> Reply {
        func raised(_ cursor: Cursor) -> Cursor { head.epoch == cursor.epoch ? head : cursor }
        switch self {
        case .reads(var response):
            response.cursor = raised(response.cursor)
            return .reads(response)
        case .record(let record, let cursor): return .record(record, raised(cursor))
        case .missing(let cursor): return .missing(raised(cursor))
        case .notModified(let cursor): return .notModified(raised(cursor))
        default: return self
        }
    }

    /// The same response, where a new history claims one revision of the former one too many.
    func overstatingFork() -> Reply {
        guard case .problem(var problem, let cursor, let retryAfter) = self, let continuation = problem.continuation,
            let fork = continuation.fork.next
        else { return self }
        problem.continuation = Problem.Continuation(fork: fork, cursor: continuation.cursor)
        return .problem(problem, cursor: cursor, retryAfter: retryAfter)
    }

    /// One transaction for each record in the response, which stores it although nothing waits for the response.
    func lateTransactions(pass: Int64, at time: Timestamp) -> [DiskTransaction] {
        let (records, cursor): ([Record], Cursor)
        switch self {
        case .page(let page):
            records = page.changes.compactMap { change in
                guard case .put(let key, let content?, _, _) = change.effect else { return nil }
                return Record(key: key, revision: change.revision, content: content, modified: Timestamp(milliseconds: 0))
            }
            cursor = page.cursor
        case .reads(let response): (records, cursor) = (response.records, response.cursor)
        case .record(let record, let position): (records, cursor) = ([record], position)
        default: return []
        }
        return records.compactMap { record in
            guard let content = record.content else { return nil }
            let entry = Entry(
                key: record.key, epoch: cursor.epoch, revision: record.revision, asOf: cursor.revision, pass: pass, content: content,
                verifiedAt: time, origin: .fetch)
            return DiskTransaction(id: TransactionID(0), entries: [.put(entry, onlyIfCached: false)])
        }
    }
}
