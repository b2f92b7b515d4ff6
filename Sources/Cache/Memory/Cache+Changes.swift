internal import Synchronization

extension Cache {
    /// Every change of every key from now on, in order: stored, overwritten, removed, evicted, expired and refused.
    ///
    /// The stream buffers the latest 1,024 changes; a gap in ``CacheChange/number`` shows that a slow listener missed
    /// some. The stream ends with the cache. Without listeners a change costs nothing.
    public var changes: AsyncStream<CacheChange<Key, Value>> { listen(to: nil, keeping: 1_024) }

    /// The changes of one key from now on; see ``changes``.
    public func changes(forKey key: Key) -> AsyncStream<CacheChange<Key, Value>> { listen(to: key, keeping: 1_024) }

    /// ``changes`` of one key or of all, with another number of changes that the stream buffers.
    public func changes(forKey key: Key? = nil, keepingLatest kept: Int) -> AsyncStream<CacheChange<Key, Value>> {
        listen(to: key, keeping: max(1, kept))
    }

    private func listen(to key: Key?, keeping kept: Int) -> AsyncStream<CacheChange<Key, Value>> {
        let (stream, continuation) = AsyncStream<CacheChange<Key, Value>>.makeStream(bufferingPolicy: .bufferingNewest(kept))
        let listener = writeLock.withLock { _ in
            state.pointee.lastListener += 1
            state.pointee.listeners[state.pointee.lastListener] = CacheListener(key: key, continuation: continuation)
            state.pointee.isObserved = true
            return state.pointee.lastListener
        }
        continuation.onTermination = { [weak self] _ in self?.stopTelling(listener) }
        return stream
    }

    private func stopTelling(_ listener: UInt64) {
        let gone = writeLock.withLock { _ in
            let gone = state.pointee.listeners.removeValue(forKey: listener)
            state.pointee.isObserved = !state.pointee.listeners.isEmpty
            return gone
        }
        withExtendedLifetime(gone) {}
    }

    /// Whether changes have to be noted. Requires the write lock.
    @inlinable var isObserved: Bool { state.pointee.isObserved }

    @usableFromInline
    func note(_ key: Key, _ before: Value?, _ after: Value?, _ cause: CacheChange<Key, Value>.Cause) {
        state.pointee.undelivered.append(UndeliveredChange(key: key, before: before, after: after, cause: cause))
    }

    /// Notes that a value was replaced. A value whose lifetime was over counts as expired before the new one was
    /// inserted.
    @usableFromInline
    func noteReplacement(_ key: Key, _ before: Value, _ after: Value, isExpired: Bool) {
        guard isExpired else { return note(key, before, after, .overwritten) }
        note(key, before, nil, .expired)
        note(key, nil, after, .inserted)
    }

    /// Delivers the noted changes to the listeners, in order. One thread at a time delivers for all. Requires that no
    /// lock is held.
    @usableFromInline
    func deliverChanges() {
        typealias Delivery = (CacheChange<Key, Value>, AsyncStream<CacheChange<Key, Value>>.Continuation)
        var isFirst = true
        while true {
            let undelivered = writeLock.withLock { _ -> [UndeliveredChange<Key, Value>]? in
                if isFirst, state.pointee.isDelivering { return nil }
                state.pointee.isDelivering = !state.pointee.undelivered.isEmpty
                guard state.pointee.isDelivering else { return nil }
                let undelivered = state.pointee.undelivered
                state.pointee.undelivered = []
                return undelivered
            }
            guard let undelivered else { return }
            isFirst = false
            for new in undelivered {
                let deliveries: [Delivery] = writeLock.withLock { _ in
                    state.pointee.listeners.keys.compactMap { id in
                        guard var listener = state.pointee.listeners[id], listener.key == nil || listener.key == new.key else { return nil }
                        listener.heard += 1
                        state.pointee.listeners[id] = listener
                        return (
                            CacheChange(number: listener.heard, key: new.key, before: new.before, after: new.after, cause: new.cause),
                            listener.continuation
                        )
                    }
                }
                for (change, continuation) in deliveries { continuation.yield(change) }
            }
        }
    }
}
