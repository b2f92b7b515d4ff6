import FreshetWire
import Synchronization

/// The namespaces that the latest transaction of each lane created, until the completions of their submissions ask for
/// them.
///
/// Both calls come from the lane's writer, in this order: ``note(_:)`` for a transaction, and then its completions.
final class NamespaceCreations: Sendable {
    private let lanes: Int
    /// By lane, those without any left out.
    private let names = Mutex<[CommitLanes<Submission>.Destination: Set<Namespace>]>([:])
    private let isEmpty = Atomic(true)

    init(lanes: Int) { self.lanes = lanes }

    /// Notes the commits of a transaction, in place of those of the lane's one before. One of the whole store creates no
    /// namespace. O(commits); without a lock unless one creates a namespace.
    func note(_ commits: [NamespaceCommit]) {
        // The first change of a history has revision 1.
        let hasCreation = commits.contains { $0.changes.first?.revision.number == 1 }
        guard hasCreation || !isEmpty.load(ordering: .relaxed) else { return }
        guard let first = commits.first else { return }
        let created = commits.filter { $0.changes.first?.revision.number == 1 }.map(\.namespace)
        let place = CommitLanes<Submission>.Destination(first.namespace, of: lanes)
        names.withLock { names in
            names[place] = created.isEmpty ? nil : Set(created)
            isEmpty.store(names.isEmpty, ordering: .relaxed)
        }
    }

    /// Whether a submission has created its namespace: true for the first one that asks after its transaction.
    func take(_ namespace: Namespace) -> Bool {
        guard !isEmpty.load(ordering: .relaxed) else { return false }
        return names.withLock { $0[CommitLanes.Destination(namespace, of: lanes)]?.remove(namespace) != nil }
    }
}
