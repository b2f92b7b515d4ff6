#if PostgreSQL
internal import FreshetPostgreSQL
internal import FreshetWire
internal import Synchronization

/// The namespaces whose locks were not granted in time: for a while no transaction waits for them again.
///
/// Their holder is a server that has stopped within a transaction, or whose network has: PostgreSQL ends its session after
/// `idle_in_transaction_session_timeout`, and until then each group of writes with such a namespace would wait for the whole
/// `lock_timeout`, and with it the other namespaces of its lane. Thread-safe.
final class HeldNamespaces: Sendable {
    /// How long a namespace is not waited for. Its lock is taken as soon as it is free, so this may be long.
    private static let memory = Duration.seconds(30)
    /// The most namespaces that are remembered. Others are waited for again.
    private static let limit = 1_024

    private let ends = Mutex<[Namespace: Deadline]>([:])

    func has(anyOf namespaces: [Namespace]) -> Bool {
        ends.withLock { ends in !ends.isEmpty && namespaces.contains { ends[$0].map { !$0.hasPassed } ?? false } }
    }

    /// The locks of these were not granted.
    func note(_ namespaces: some Collection<Namespace>) {
        let end = Deadline(after: Self.memory)
        ends.withLock { ends in
            if ends.count + namespaces.count > Self.limit { ends = ends.filter { !$0.value.hasPassed } }
            for namespace in namespaces where ends.count < Self.limit { ends[namespace] = end }
        }
    }

    /// Of these namespaces some are held, and the locks of the others were granted.
    func note(_ namespaces: [Namespace], held: Set<Namespace>) {
        ends.withLock { ends in
            if !ends.isEmpty { for namespace in namespaces where !held.contains(namespace) { ends[namespace] = nil } }
        }
        if !held.isEmpty { note(held) }
    }
}
#endif
