package import FreshetWire
import SocketHTTP

extension ServerCore {
    /// `GET /v1/{ns}/changes`
    @Sendable func getChanges(_ call: Call) throws {
        let changes = try ChangesRequest(call, hold: settings.hold)
        switch changes.subscription.delivery {
        case .stream: EventStream.open(call, changes)
        case .answer:
            let deadline = environment.now() + Int64(changes.wait) * 1_000
            try poll(call, changes, since: changes.since, deadline: deadline)
        }
    }

    private func poll(_ call: Call, _ changes: ChangesRequest, since: Since, isVerified: Bool = false, deadline: Int64) throws {
        let (verdict, entry) = try hub.ask(
            since, changes.subscription, in: changes.namespace, .poll(call.exchange), isVerified: isVerified, deadline: deadline,
            now: environment.now())
        switch verdict {
        case .reply(let reply): call.respond(Response(reply))
        case .parked(let ticket):
            // One that has only ended its input still reads, so it gets its answer: nothing yet.
            call.exchange.onHangUp { [hub] in hub.cancel(ticket, in: entry) }
        case .scan(let since):
            call.later(isContinuation: isVerified) { [self] in
                try scan(call, changes, since: since, deadline: deadline)
            }
        }
    }

    /// Looks into the store, on the read queue; goes back to the feed with the position that it has reached if there was nothing.
    private func scan(_ call: Call, _ changes: ChangesRequest, since: Since, deadline: Int64) throws {
        let found = try store.scan(changes.query(since: since, settings.feed), in: changes.namespace)
        switch found {
        case .refused(let problem, let position):
            metrics.feed.gone.add()
            call.fail(problem, at: position)
        case .page(let page): call.respond(Response(.page(page)))
        case .nothing(let reached, isComplete: true):
            try poll(call, changes, since: .after(reached), isVerified: true, deadline: deadline)
        case .nothing(let reached, isComplete: false):
            // Others have their turn before the next stretch.
            call.later(isContinuation: true) { [self] in
                try scan(call, changes, since: .after(reached), deadline: deadline)
            }
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
