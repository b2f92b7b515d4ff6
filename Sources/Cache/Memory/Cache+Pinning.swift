internal import Synchronization

extension Cache {
    /// Protects a key from eviction until ``unpin(_:)`` was called as often, whether or not it holds a value yet. Its
    /// lifetime goes on. O(1).
    ///
    /// Pinned values are never refused, and may exceed the limits by themselves; then no other value is held. Their
    /// total cost is capped at `Int.max`.
    public func pin(_ key: Key) {
        let hash = key.hashValue
        write { _ in
            state.pointee.pins[key, default: 0] += 1
            let entry = find(key, hash)
            guard state.pointee.pins[key] == 1, !entry.isNone else { return }
            unlink(entry)
            link(entry, .pinned)
        }
    }

    /// Removes one pin. A value without pins may be evicted like others, and is evicted at once if it exceeds a limit.
    /// O(1).
    public func unpin(_ key: Key) {
        let (hash, reading) = (key.hashValue, readClock())
        write { released in
            guard let count = state.pointee.pins[key] else { return }
            if count > 1 {
                state.pointee.pins[key] = count - 1
            } else if let index = state.pointee.pins.index(forKey: key) {
                released.keep(state.pointee.pins.remove(at: index).key)
            }
            let entry = find(key, hash)
            guard count == 1, !entry.isNone else { return }
            unlink(entry)
            link(entry, .main)
            makeRoom(cost: 0, count: 0, reading, &released)
        }
    }

    /// Whether a key is pinned, with or without a value. O(1).
    public func isPinned(_ key: Key) -> Bool { writeLock.withLock { _ in state.pointee.pins[key] != nil } }
}
