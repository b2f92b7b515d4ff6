package import FreshetWire

/// Walks over rows in revision order and keeps those that match, within the bounds of the query: the same for every
/// store.
package struct ChangeScan {
    package let query: ChangeQuery
    private let state: NamespaceState
    private let origin: Revision
    private var changes: [Change] = []
    private var batches: [ClosedRange<Revision>] = []
    private var bytes = 0
    private var scanned = 0
    private var isComplete = true
    /// The position that the walk has reached.
    package private(set) var reached: Revision

    package init(query: ChangeQuery, state: NamespaceState, after: Revision, origin: Revision) {
        self.query = query
        self.state = state
        self.origin = origin
        reached = after
    }

    /// Takes the next row. Returns false once a bound is reached: the row is then left for the next query.
    ///
    /// - Parameters:
    ///   - isRecord: whether the row is a record with a value, which a reader that starts from nothing wants too.
    ///   - firstOfBatch: the first revision of the row's atomic batch, if any; evaluated only at a bound, or if the query asks for batches.
    ///   - effect: the row's effect and the bytes that it carries, if the filter wants it.
    ///   - details: called only if there is an effect.
    package mutating func take(
        revision: Revision, isRecord: Bool, firstOfBatch: @autoclosure () -> Revision?,
        effect: (ChangeFilter) throws -> (Change.Effect, bytes: Int)?,
        details: () throws -> (Timestamp, Change.Author?)
    ) throws -> Bool {
        if scanned >= query.scanLimit || changes.count >= query.limit, !goesOn(firstOfBatch()) { return stop() }
        if isRecord || revision > origin, let (effect, size) = try effect(query.filter) {
            if !changes.isEmpty, bytes + size > query.byteLimit, !goesOn(firstOfBatch()) { return stop() }
            let (modified, author) = try details()
            changes.append(Change(revision: revision, effect: effect, modified: modified, author: author))
            bytes += size
            if query.statesBatches, let first = firstOfBatch(), first < revision { extendBatch(from: first, to: revision) }
        }
        scanned += 1
        reached = revision
        return true
    }

    /// Whether a batch with this first revision has begun at the position of the walk: then its other rows belong to
    /// the same page.
    private func goesOn(_ firstOfBatch: Revision?) -> Bool {
        guard query.limit > 1, let firstOfBatch else { return false }
        return firstOfBatch <= reached
    }

    private mutating func extendBatch(from first: Revision, to last: Revision) {
        if batches.last?.lowerBound == first { batches.removeLast() }
        batches.append(first...last)
    }

    private mutating func stop() -> Bool {
        isComplete = false
        return false
    }

    /// The changes that were kept. If the rows ended before a bound was reached, the position is the head.
    package var result: ScannedChanges {
        let position =
            isComplete
            ? Cursor(epoch: state.epoch, revision: state.head)
            : Cursor(epoch: state.epoch, revision: reached, goal: origin > reached ? .origin(origin) : .head(state.head))
        return ScannedChanges(changes: changes, reached: position, isComplete: isComplete, batches: batches)
    }
}
