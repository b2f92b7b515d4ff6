internal import Synchronization

/// A ``Load`` of any value.
protocol AnyLoad: AnyObject, Sendable {
    /// The key that the load's own code loads; nil for a step that only waits for other loads.
    var key: (any Sendable)? { get }
    /// Whether the result is known.
    var hasEnded: Bool { get }
}

/// The waits of loads for other loads, in all caches of the process: a cycle may pass through several.
///
/// Callers outside of any load are not listed, since nothing waits for them. The lock is taken after no other lock, and
/// only a load's own lock after it; no code of keys or values runs under it.
enum LoadWaits {
    /// The load whose code runs in this task. Child tasks and `Task { }` inherit it, `Task.detached` does not.
    @TaskLocal static var current: (any AnyLoad)?

    private static let graph = Mutex(WaitGraph<Node>())

    private struct Node: Hashable {
        let load: any AnyLoad

        static func == (left: Node, right: Node) -> Bool { left.load === right.load }

        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(load)) }
    }

    /// Notes that a load waits for another one.
    ///
    /// - Throws: ``LoadError/cyclic(keys:)`` if the awaited load would then wait for itself.
    static func begin(_ waiting: any AnyLoad, for awaited: any AnyLoad) throws(LoadError) {
        let cycle = graph.withLock { graph in graph.add(Node(load: waiting), for: Node(load: awaited)) { $0.load.hasEnded } }
        if let cycle { throw .cyclic(keys: cycle.compactMap { $0.load.key.map(text) }) }
    }

    /// Both loads are still referenced by the caller, so that none is freed under the lock.
    static func end(_ waiting: any AnyLoad, for awaited: any AnyLoad) {
        graph.withLock { $0.remove(Node(load: waiting), for: Node(load: awaited)) }
        withExtendedLifetime((waiting, awaited)) {}
    }

    /// Whether no load waits for another one.
    static var isEmpty: Bool { graph.withLock { $0.isEmpty } }

    /// A key for an error, at most 100 scalars.
    static func text(_ key: any Sendable) -> String {
        let text = "\(key)"
        return text.utf8.count <= 100 ? text : String(text.unicodeScalars.prefix(100)) + "…"
    }
}
