internal import FreshetWire

/// Walks over rows in revision order and keeps what is wanted, within the bounds of the query: the same for every store.
struct ChangeScan {
    let query: ChangeQuery
    private let state: NamespaceState
    private let origin: Revision
    private var changes: [Change] = []
    private var bytes = 0
    private var looked = 0
    private var isComplete = true
    /// The position that has been walked to.
    private(set) var reached: Revision

    init(query: ChangeQuery, state: NamespaceState, after: Revision, origin: Revision) {
        self.query = query
        self.state = state
        self.origin = origin
        reached = after
    }

    /// Takes the next row: false, and the row is left for the next query, once a bound is reached.
    ///
    /// - Parameters:
    ///   - isRecord: whether it is a record with a value, which a reader from nothing wants too.
    ///   - effect: the row's effect and the bytes that it carries, if the filter wants it.
    ///   - details: asked for only if there is an effect.
    mutating func take(
        revision: Revision, isRecord: Bool, effect: (ChangeFilter) throws -> (Change.Effect, bytes: Int)?,
        details: () throws -> (Timestamp, Change.Author?)
    ) throws -> Bool {
        guard looked < query.scanLimit, changes.count < query.limit else { return stop() }
        if isRecord || revision > origin, let (effect, size) = try effect(query.filter) {
            guard changes.isEmpty || bytes + size <= query.byteLimit else { return stop() }
            let (modified, author) = try details()
            changes.append(Change(revision: revision, effect: effect, modified: modified, author: author))
            bytes += size
        }
        looked += 1
        reached = revision
        return true
    }

    private mutating func stop() -> Bool {
        isComplete = false
        return false
    }

    /// What was kept. Where the rows ended before a bound was reached, the position is the head.
    var result: ScannedChanges {
        let position =
            isComplete
            ? Cursor(epoch: state.epoch, revision: state.head)
            : Cursor(epoch: state.epoch, revision: reached, origin: origin > reached ? origin : nil)
        return ScannedChanges(changes: changes, reached: position, isComplete: isComplete)
    }
}
