/// One thing that happened to one key of a cache.
public struct CacheChange<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// Why a key's value is another than before.
    public enum Cause: String, Hashable, Sendable, CaseIterable {
        /// A value was stored under a key that held none.
        case inserted
        /// A value was stored in place of another.
        case overwritten
        /// A call removed it.
        case removed
        /// It left to make room.
        case evicted
        /// It left since memory was short, see ``MemoryPressure``.
        case evictedUnderPressure
        /// Its lifetime was over.
        case expired
        /// A value was too big to be stored; what the key held before is gone too.
        case refused
    }

    /// Counts the changes of one stream from 1, in the order in which they happened: a gap shows that a slow listener missed some.
    public let number: UInt64
    /// The key.
    public let key: Key
    /// What it held before.
    public let before: Value?
    /// What it holds now.
    public let after: Value?
    /// Why.
    public let cause: Cause
}

/// A change before it is known who hears of it.
@usableFromInline
struct CacheNews<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline let key: Key
    @usableFromInline let before: Value?
    @usableFromInline let after: Value?
    @usableFromInline let cause: CacheChange<Key, Value>.Cause

    @inlinable
    init(key: Key, before: Value?, after: Value?, cause: CacheChange<Key, Value>.Cause) {
        self.key = key
        self.before = before
        self.after = after
        self.cause = cause
    }
}

/// One who hears of changes.
struct CacheListener<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The only key it cares for; nil for all.
    let key: Key?
    let continuation: AsyncStream<CacheChange<Key, Value>>.Continuation
    var heard: UInt64 = 0
}
