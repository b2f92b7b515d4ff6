internal import FreshetWire
internal import Synchronization

/// Who wants to know of changes, of one key or of a whole collection.
///
/// Told by the engine's queue alone, so each observer sees changes in their order; entered by that queue, left from any thread.
final class ObserverRegistry: Sendable {
    private struct State {
        var last = 0
        var keys: [RecordKey: [Int: KeyObserver]] = [:]
        var collections: [String: [Int: CollectionObserver]] = [:]
    }

    private let state = Mutex(State())

    func add(_ observer: KeyObserver) -> Int {
        state.withLock { state in
            state.last += 1
            state.keys[observer.key, default: [:]][state.last] = observer
            return state.last
        }
    }

    func add(_ observer: CollectionObserver) -> Int {
        state.withLock { state in
            state.last += 1
            state.collections[observer.collection, default: [:]][state.last] = observer
            return state.last
        }
    }

    func remove(_ id: Int, of key: RecordKey) {
        state.withLock { state in
            state.keys[key]?[id] = nil
            if state.keys[key]?.isEmpty == true { state.keys[key] = nil }
        }
    }

    func remove(_ id: Int, of collection: String) {
        state.withLock { state in
            state.collections[collection]?[id] = nil
            if state.collections[collection]?.isEmpty == true { state.collections[collection] = nil }
        }
    }

    /// Tells those who look at the key. O(observers of it).
    func tell(_ value: CachedValue) {
        let key = value.view.key
        let (keys, collections) = state.withLock { state in
            (state.keys[key].map { Array($0.values) } ?? [], state.collections[key.collection].map { Array($0.values) } ?? [])
        }
        for observer in keys { observer.tell(value) }
        for observer in collections { observer.tell(value) }
    }

    /// Whether anyone looks at the key, alone or in its collection. O(1).
    func watches(_ key: RecordKey) -> Bool {
        state.withLock { $0.keys[key] != nil || $0.collections[key.collection] != nil }
    }

    /// Tells those who look at anything that the condition takes away. O(observed keys).
    func forget(_ condition: (KeyView) -> Bool) {
        let (keys, collections) = everyone
        for observer in keys { observer.forget(condition) }
        for observer in collections { observer.forget(condition) }
    }

    /// Tells everyone that nothing is known any more, pending or not, and nothing is to be fetched again.
    func forgetAll() {
        let (keys, collections) = everyone
        for observer in keys { observer.tell(CachedValue(KeyView(observer.key, nil))) }
        for observer in collections { observer.forgetAll() }
    }

    /// Ends all sequences.
    func finish() {
        let (keys, collections) = everyone
        state.withLock { state in
            state.keys = [:]
            state.collections = [:]
        }
        for observer in keys { observer.finish() }
        for observer in collections { observer.finish() }
    }

    /// The keys that are looked at and not known, in order: each alone, or as a member of a collection that was taken away.
    var unknownKeys: [RecordKey] {
        let (keys, collections) = everyone
        return Set(keys.compactMap(\.unknownKey) + collections.flatMap(\.unknownKeys)).sorted()
    }

    private var everyone: ([KeyObserver], [CollectionObserver]) {
        state.withLock { state in (state.keys.values.flatMap(\.values), state.collections.values.flatMap(\.values)) }
    }
}
