internal import FreshetWire

/// Collects the changes of the submissions of one group, one entry a namespace and history, in the order of their first
/// change.
struct CommitLog {
    private(set) var commits: [NamespaceCommit] = []
    private var places: [Namespace: Int] = [:]

    /// - Parameter base: the namespace's position before these changes.
    mutating func add(
        _ changes: [Change], _ batches: [ClosedRange<Revision>], to namespace: Namespace, after base: Cursor, cursor: Cursor
    ) {
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
            commits.append(NamespaceCommit(namespace: namespace, base: base, cursor: cursor, changes: changes, batches: batches))
        }
    }

    /// Forgets the changes so far, since the histories of all namespaces have ended.
    mutating func endAll() { (commits, places) = ([], [:]) }

    mutating func reset(_ namespace: Namespace, cursor: Cursor, replaced: Epoch? = nil) {
        // No reader may see the changes that the old history had gained in this group.
        if let place = places[namespace] { (commits[place].changes, commits[place].batches) = ([], []) }
        places[namespace] = commits.count
        commits.append(
            NamespaceCommit(namespace: namespace, base: cursor, cursor: cursor, changes: [], isReset: true, replaced: replaced))
    }
}

/// Collects the changes of access rows of one group: of each row the last.
struct AccessChangeLog {
    private var rows: [AccessRow.Name: AccessRow?] = [:]

    mutating func note(_ row: AccessRow?, _ name: AccessRow.Name) { rows.updateValue(row, forKey: name) }

    /// The changes after a version; `nil` if there are none.
    func changes(after version: @autoclosure () throws -> AccessVersion) rethrows -> AccessChanges? {
        guard !rows.isEmpty else { return nil }
        let base = try version()
        return AccessChanges(
            after: base, version: base.next, rows: rows.values.compactMap(\.self), removed: rows.filter { $0.value == nil }.map(\.key))
    }
}
