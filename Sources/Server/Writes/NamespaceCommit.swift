package import FreshetWire

/// The changes of one commit to a namespace, which the feed publishes.
package struct NamespaceCommit: Hashable, Sendable {
    package var namespace: Namespace
    /// The namespace's position after the commit.
    package var cursor: Cursor
    /// The changes in revision order; a record that was written twice comes twice.
    package var changes: [Change]
    /// The revisions of each atomic batch that made two changes or more, in order.
    package var batches: [ClosedRange<Revision>]
    /// Whether the namespace began a new history before these changes: readers that wait with an old epoch get `410`.
    package var isReset: Bool

    package init(
        namespace: Namespace, cursor: Cursor, changes: [Change], batches: [ClosedRange<Revision>] = [], isReset: Bool = false
    ) {
        self.namespace = namespace
        self.cursor = cursor
        self.changes = changes
        self.batches = batches
        self.isReset = isReset
    }
}

/// Collects the changes of the submissions of one group, one entry a namespace and history, in the order of their first
/// change.
struct CommitLog {
    private(set) var commits: [NamespaceCommit] = []
    private var places: [Namespace: Int] = [:]

    mutating func add(_ changes: [Change], _ batches: [ClosedRange<Revision>], to namespace: Namespace, cursor: Cursor) {
        guard !changes.isEmpty else { return }
        // Consecutive submissions are mostly of the same namespace, which need not be looked up.
        let last = commits.count - 1
        if last >= 0, commits[last].namespace == namespace {
            commits[last].changes.append(contentsOf: changes)
            commits[last].batches.append(contentsOf: batches)
            commits[last].cursor = cursor
        } else if let place = places[namespace] {
            commits[place].changes += changes
            commits[place].batches += batches
            commits[place].cursor = cursor
        } else {
            places[namespace] = commits.count
            commits.append(NamespaceCommit(namespace: namespace, cursor: cursor, changes: changes, batches: batches))
        }
    }

    mutating func reset(_ namespace: Namespace, cursor: Cursor) {
        // No reader may see the changes that the old history had gained in this group.
        if let place = places[namespace] { (commits[place].changes, commits[place].batches) = ([], []) }
        places[namespace] = commits.count
        commits.append(NamespaceCommit(namespace: namespace, cursor: cursor, changes: [], isReset: true))
    }
}
