internal import Synchronization

extension Cache {
    /// Every change of every key from now on, in order: stored, overwritten, removed, evicted, expired and refused.
    ///
    /// It keeps the latest 1,024 that were not taken yet; a gap in ``CacheChange/number`` shows that more were missed. It ends with the cache.
    /// Where nobody listens a change costs nothing.
    public var changes: AsyncStream<CacheChange<Key, Value>> { listen(to: nil, keeping: 1_024) }

    /// The changes of one key from now on, see ``changes``.
    public func changes(for key: Key) -> AsyncStream<CacheChange<Key, Value>> { listen(to: key, keeping: 1_024) }

    /// ``changes`` with another number of changes that are kept for a slow listener, of one key or of all.
    public func changes(for key: Key? = nil, keepingLatest kept: Int) -> AsyncStream<CacheChange<Key, Value>> {
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

    /// Whether a change has to be noted. Takes the write lock to call.
    @inlinable var isObserved: Bool { state.pointee.isObserved }

    @usableFromInline
    func note(_ key: Key, _ before: Value?, _ after: Value?, _ cause: CacheChange<Key, Value>.Cause) {
        state.pointee.news.append(CacheNews(key: key, before: before, after: after, cause: cause))
    }

    /// A value whose lifetime was over was gone before the new one came.
    @usableFromInline
    func noteReplacement(_ key: Key, _ before: Value, _ after: Value, isOver: Bool) {
        guard isOver else { return note(key, before, after, .overwritten) }
        note(key, before, nil, .expired)
        note(key, nil, after, .inserted)
    }

    /// Tells listeners what was noted, in order: one thread at a time does it for all. No lock may be held.
    @usableFromInline
    func deliverChanges() {
        typealias Delivery = (CacheChange<Key, Value>, AsyncStream<CacheChange<Key, Value>>.Continuation)
        var isFirst = true
        while true {
            let news = writeLock.withLock { _ -> [CacheNews<Key, Value>]? in
                if isFirst, state.pointee.isDelivering { return nil }
                state.pointee.isDelivering = !state.pointee.news.isEmpty
                guard state.pointee.isDelivering else { return nil }
                let news = state.pointee.news
                state.pointee.news = []
                return news
            }
            guard let news else { return }
            isFirst = false
            for new in news {
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
