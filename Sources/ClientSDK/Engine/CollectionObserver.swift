internal import FreshetWire
internal import Synchronization

/// One who looks at a whole collection: keeps what there is of it, and is woken when that has changed.
final class CollectionObserver: Sendable {
    private struct State {
        var members: [String: CachedValue]
        /// Members that were taken away and are to be fetched again.
        var unknown: Set<RecordKey> = []
    }

    let collection: String
    private let fetches: Bool
    private let continuation: AsyncStream<Void>.Continuation
    private let state: Mutex<State>

    init(_ collection: String, _ members: [CachedValue], fetches: Bool, _ continuation: AsyncStream<Void>.Continuation) {
        self.collection = collection
        self.fetches = fetches
        self.continuation = continuation
        state = Mutex(State(members: Dictionary(members.map { ($0.view.key.id, $0) }) { _, last in last }))
        continuation.yield()
    }

    func tell(_ value: CachedValue) {
        state.withLock { state in
            let view = value.view
            if view.value != .unknown { state.unknown.remove(view.key) }
            switch view.value {
            case .content: state.members[view.key.id] = value
            // A removal that is pending is shown, as any other pending write.
            case .absent: state.members[view.key.id] = view.isPending ? value : nil
            case .unknown:
                if state.members.removeValue(forKey: view.key.id) != nil { state.unknown.insert(view.key) }
                if view.isPending { state.members[view.key.id] = value }
            }
        }
        continuation.yield()
    }

    func forget(_ condition: (KeyView) -> Bool) {
        let changed = state.withLock { state in
            let doomed = state.members.values.map(\.view).filter { !$0.isPending && condition($0) }
            for view in doomed {
                state.members[view.key.id] = nil
                state.unknown.insert(view.key)
            }
            return !doomed.isEmpty
        }
        if changed { continuation.yield() }
    }

    func forgetAll() {
        state.withLock { state in
            state.members = [:]
            state.unknown = []
        }
        continuation.yield()
    }

    func finish() { continuation.finish() }

    /// The members by id. O(n log n).
    func snapshots<Value: Sendable>(_ memory: MemoryTier, _ codec: ValueCodec<Value>) -> [Snapshot<Value>] {
        let (members, rule) = memory.during { state.withLock { Array($0.members.values) } }
        return members.sorted { $0.view.key < $1.view.key }.map { Snapshot(MemoryTier.Hit(value: $0, freshness: rule.of($0.view)), codec) }
    }

    var unknownKeys: [RecordKey] { fetches ? state.withLock { Array($0.unknown) } : [] }
}
