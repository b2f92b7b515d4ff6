package import FreshetWire

/// A query to the feed.
package struct ChangeQuery: Hashable, Sendable {
    package var since: Since
    package var filter: ChangeFilter
    /// The most changes in the answer, at least 1. Unless it is 1, the answer continues beyond all bounds to the end of
    /// an atomic batch.
    package var limit: Int
    /// The most bytes of values in the answer; the first change comes whatever its size.
    package var byteLimit: Int
    /// Values above this many bytes are left out; a negative limit leaves out all.
    package var inlineLimit: Int
    /// The most rows to look at, so that a filter which matches little reads no whole table at once.
    package var scanLimit: Int
    /// The device whose last decided write the answer states.
    package var client: ClientIdentifier?
    /// The part of the feed that the reader may read; `nil` for everything. Then ``filter`` covers it.
    package var part: ReadablePart?
    /// Whether the answer states which changes are of one atomic batch.
    package var statesBatches = false

    package init(
        since: Since, filter: ChangeFilter = .all, limit: Int = 1_000, byteLimit: Int = 4 << 20,
        inlineLimit: Int = 64 << 10, scanLimit: Int = 10_000, client: ClientIdentifier? = nil
    ) {
        self.since = since
        self.filter = filter
        self.limit = max(limit, 1)
        self.byteLimit = byteLimit
        self.inlineLimit = inlineLimit
        self.scanLimit = max(scanLimit, 1)
        self.client = client
    }
}

/// The feed's answer: changes, or the reason why there can be none.
package enum ChangeQueryResult: Hashable, Sendable {
    case changes(ScannedChanges)
    case refused(CursorRefusal)
}

/// A stretch of the feed.
package struct ScannedChanges: Hashable, Sendable {
    /// In revision order.
    package var changes: [Change]
    /// The position that the stretch reaches, even if its end matched nothing. It has a goal unless ``isComplete``.
    package var reached: Cursor
    /// Whether nothing remains after the stretch.
    package var isComplete: Bool
    /// For each atomic batch, if the query asks for them: its first revision, and the last one that the stretch has of
    /// it, in order.
    package var batches: [ClosedRange<Revision>]

    package init(changes: [Change], reached: Cursor, isComplete: Bool, batches: [ClosedRange<Revision>] = []) {
        self.changes = changes
        self.batches = batches
        self.reached = reached
        self.isComplete = isComplete
    }
}

/// Why a cursor cannot be followed. The reader starts again from a list.
package enum CursorRefusal: Hashable, Sendable {
    /// Deletes after it have been forgotten.
    case expired
    /// It belongs to another history.
    case epochChanged
    /// It is past the newest change, so it is not of this history's past.
    case ahead

    package func problem(for cursor: Cursor, in state: NamespaceState) -> Problem {
        switch self {
        case .expired:
            Problem(
                .cursorExpired,
                "Deletes up to revision \(state.forgotten) have been forgotten, and \(cursor) is older. Start again from a list or since=0."
            )
        case .epochChanged:
            epochChanged(cursor, state)
        case .ahead:
            Problem(.cursorAhead, "The newest revision is \(state.head), and \(cursor) is past it. Start again from a list or since=0.")
        }
    }

    private func epochChanged(_ cursor: Cursor, _ state: NamespaceState) -> Problem {
        let text = "The namespace has the epoch \(state.epoch), not that of \(cursor). Start again from a list or since=0"
        guard let continuation = state.lineage?.continuation(of: cursor, in: state.epoch) else { return Problem(.epochChanged, text + ".") }
        var problem = Problem(
            .epochChanged, text + ", or continue from 'cursor': all up to 'fork' is as it was, and what you know beyond it was lost.")
        problem.continuation = continuation
        return problem
    }
}

extension NamespaceState {
    /// Why the cursor cannot be followed in this state; `nil` if it can.
    package func refusal(of cursor: Cursor) -> CursorRefusal? {
        if cursor.epoch != epoch { return .epochChanged }
        if max(cursor.revision, cursor.goal?.revision ?? .zero) > head { return .ahead }
        return max(cursor.revision, cursor.origin ?? .zero) < forgotten ? .expired : nil
    }

    /// Where a query begins to read, and the revision up to which its reader needs no deletes and invalidations.
    package func start(of query: ChangeQuery) -> FeedStart {
        switch query.since {
        case .start: .read(after: .zero, origin: head)
        case .now: .read(after: head, origin: .zero)
        case .after(let cursor):
            if let refusal = refusal(of: cursor) {
                .refused(refusal)
            } else {
                .read(after: cursor.revision, origin: cursor.origin ?? .zero)
            }
        }
    }
}

package enum FeedStart {
    case read(after: Revision, origin: Revision)
    case refused(CursorRefusal)
}
