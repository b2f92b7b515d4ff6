package import FreshetWire

/// The result of a scan of a stretch of the store's feed.
package enum ScanResult: Sendable {
    case refused(Problem, Cursor)
    case page(FeedPage)
    case nothing(Cursor, isComplete: Bool)
}

extension RecordStore {
    /// Reads one page of the feed from the store, and encodes it. May block on the disk.
    package func scan(_ query: ChangeQuery, in namespace: Namespace) throws(StoreError) -> Snapshot<ScanResult> {
        let snapshot = try changes(query, in: namespace)
        return Snapshot(try Self.encoded(snapshot, query), snapshot.state, lastWrite: snapshot.lastWrite)
    }

    private static func encoded(_ snapshot: Snapshot<ChangeQueryResult>, _ query: ChangeQuery) throws(StoreError) -> ScanResult {
        switch snapshot.value {
        case .refused(let refusal):
            guard case .after(let cursor) = query.since else {
                throw .failed(path: "", reason: "the store refused a position that nobody gave")
            }
            return .refused(refusal.problem(for: cursor, in: snapshot.state), snapshot.cursor)
        case .changes(let scanned):
            guard !scanned.changes.isEmpty else { return .nothing(scanned.reached, isComplete: scanned.isComplete) }
            var encoder = PageEncoder(limit: .max, pageBytes: .max)
            let readable = query.part.map { part in scanned.changes.filter { part.matches($0.scope) }.flatMap { $0.restricted(to: part) } }
            let changes = readable ?? scanned.changes
            guard !changes.isEmpty else { return .nothing(scanned.reached, isComplete: scanned.isComplete) }
            for change in changes { encoder.append(change.json) }
            return .page(encoder.page(at: scanned.reached.issued(to: query.part), upToDate: scanned.isComplete))
        }
    }
}
