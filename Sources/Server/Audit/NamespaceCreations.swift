import FreshetWire
import Synchronization

/// The namespaces that the latest transaction created, until the completions of their submissions ask for them.
///
/// Both calls come from the commit queue, in this order: ``note(_:)`` for a transaction, and then its completions.
final class NamespaceCreations: Sendable {
    private let names = Mutex<Set<Namespace>>([])
    private let isEmpty = Atomic(true)

    /// Notes the commits of a transaction, in place of those of the one before. O(commits); without a lock unless one
    /// creates a namespace.
    func note(_ commits: [NamespaceCommit]) {
        // The first change of a history has revision 1.
        let hasCreation = commits.contains { $0.changes.first?.revision.number == 1 }
        guard hasCreation || !isEmpty.load(ordering: .relaxed) else { return }
        let created = commits.filter { $0.changes.first?.revision.number == 1 }.map(\.namespace)
        names.withLock { $0 = Set(created) }
        isEmpty.store(!hasCreation, ordering: .relaxed)
    }

    /// Whether a submission has created its namespace: true for the first one that asks after its transaction.
    func take(_ namespace: Namespace) -> Bool {
        guard !isEmpty.load(ordering: .relaxed) else { return false }
        return names.withLock { $0.remove(namespace) != nil }
    }
}
