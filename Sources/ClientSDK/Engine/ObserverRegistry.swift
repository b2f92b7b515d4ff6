internal import FreshetWire
internal import Synchronization

/// The observers of changes, of one key or of a whole collection.
///
/// Only the engine's queue adds and notifies observers, so each observer sees changes in their order. Any thread may
/// remove one.
final class ObserverRegistry: Sendable {
    private struct State {
        var last = 0
        var keys: [RecordKey: [Int: KeyObserver]] = [:]
        var collections: [String: [Int: CollectionObserver]] = [:]
        /// Observers with reported changes that are not visible yet.
        var notified: [ObjectIdentifier: CollectionObserver] = [:]
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

    /// Runs the closure, which notifies observers of changes that belong together. Observers of a collection see all
    /// of them at its end, observers of a key see each at once.
    func deliver(_ body: () -> Void) {
        body()
        let notified = state.withLock { state in
            defer { state.notified = [:] }
            return state.notified.values
        }
        for observer in notified { observer.commit() }
    }

    /// Notifies the key's observers, within ``deliver(_:)``. O(observers of it).
    func notify(_ value: CachedValue) {
        let key = value.view.key
        let (keys, collections) = state.withLock { state in
            let collections = state.collections[key.collection].map { Array($0.values) } ?? []
            for observer in collections { state.notified[ObjectIdentifier(observer)] = observer }
            return (state.keys[key].map { Array($0.values) } ?? [], collections)
        }
        for observer in keys { observer.notify(value) }
        for observer in collections { observer.notify(value) }
    }

    /// Whether the key has an observer, directly or through its collection. O(1).
    func watches(_ key: RecordKey) -> Bool {
        state.withLock { $0.keys[key] != nil || $0.collections[key.collection] != nil }
    }

    /// Whether the collection has an observer. O(1).
    func watches(collection: String) -> Bool { state.withLock { $0.collections[collection] != nil } }

    /// Ends the wait of first elements in the collections for which the condition holds. O(observed collections).
    func release(where isComplete: (String) -> Bool) {
        let waiting = everyone.1.filter(\.isWaiting)
        for observer in waiting where isComplete(observer.collection) { observer.release() }
    }

    /// The collections with an observer that fetches. O(observers).
    var fetchedCollections: [String] {
        state.withLock { state in state.collections.filter { $0.value.values.contains(where: \.fetches) }.map(\.key) }
    }

    /// Notifies the observers of all members that the closure changes; see ``CollectionObserver/update(_:)``. Values
    /// of keys' observers are in memory. O(observed members).
    func update(_ change: (KeyView) -> KeyView?) {
        for observer in observersToNotify.1 { observer.update(change) }
    }

    /// As ``update(_:)``, for one key. O(observers of its collection).
    func update(_ key: RecordKey, _ change: (KeyView) -> KeyView?) {
        let observers = state.withLock { state in
            let observers = state.collections[key.collection].map { Array($0.values) } ?? []
            for observer in observers { state.notified[ObjectIdentifier(observer)] = observer }
            return observers
        }
        for observer in observers { observer.update(key, change) }
    }

    /// Notifies the observers of all keys that the condition removes. O(observed keys).
    func forget(_ condition: (KeyView) -> Bool) {
        let (keys, collections) = observersToNotify
        for observer in keys { observer.forget(condition) }
        for observer in collections { observer.forget(condition) }
    }

    /// Notifies all observers that nothing is known any more, pending or not, and that no key is to be fetched again.
    func forgetAll() {
        let (keys, collections) = observersToNotify
        for observer in keys { observer.notify(CachedValue(KeyView(observer.key, nil))) }
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

    /// The observed keys that are unknown, in order: observed directly, or removed from an observed collection.
    var unknownKeys: [RecordKey] {
        let (keys, collections) = everyone
        return Set(keys.compactMap(\.unknownKey) + collections.flatMap(\.unknownKeys)).sorted()
    }

    /// All observers; those of collections are marked for the next ``CollectionObserver/commit()``.
    private var observersToNotify: ([KeyObserver], [CollectionObserver]) {
        let (keys, collections) = everyone
        state.withLock { state in for observer in collections { state.notified[ObjectIdentifier(observer)] = observer } }
        return (keys, collections)
    }

    private var everyone: ([KeyObserver], [CollectionObserver]) {
        state.withLock { state in (state.keys.values.flatMap(\.values), state.collections.values.flatMap(\.values)) }
    }
}
