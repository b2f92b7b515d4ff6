package import FreshetWire
import SocketHTTP

extension ServerCore {
    /// `GET /v1/{ns}/changes`
    @Sendable func getChanges(_ call: Call) throws {
        let changes = try ChangesRequest(call.request, hold: settings.hold)
        switch changes.subscription.delivery {
        case .stream: EventStream.open(call, changes)
        case .answer:
            let poll = Poll(call, changes)
            // Where there are faults, each poll has to meet them.
            if faults == nil { call.request.onRepeat(poll) }
            poll.handle(.poll(call.exchange))
        }
    }
}

/// What a stretch of the store's feed holds.
package enum ScanResult: Sendable {
    case refused(Problem, Cursor)
    case page(FeedPage)
    case nothing(Cursor, isComplete: Bool)
}

extension RecordStore {
    /// One page of the feed from the store, encoded. It may block on the disk.
    package func scan(_ query: ChangeQuery, in namespace: Namespace) throws(StoreError) -> ScanResult {
        let snapshot = try changes(query, in: namespace)
        switch snapshot.value {
        case .refused(let refusal):
            guard case .after(let cursor) = query.since else {
                throw .failed(path: "", reason: "the store refused a position that nobody gave")
            }
            return .refused(refusal.problem(for: cursor, in: snapshot.state), snapshot.cursor)
        case .changes(let scanned):
            guard !scanned.changes.isEmpty else { return .nothing(scanned.reached, isComplete: scanned.isComplete) }
            var encoder = PageEncoder(limit: .max, pageBytes: .max)
            for change in scanned.changes { encoder.append(change.json) }
            return .page(encoder.page(at: scanned.reached, upToDate: scanned.isComplete))
        }
    }
}
