/// A change of one key of a cache.
public struct CacheChange<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The reason of a change.
    public enum Cause: String, Hashable, Sendable, CaseIterable {
        /// A value was stored under a key that held none.
        case inserted
        /// A value was stored in place of another.
        case overwritten
        /// A call removed the value.
        case removed
        /// The value was evicted to make room.
        case evicted
        /// The value was evicted since memory was short, see ``MemoryPressure``.
        case evictedUnderPressure
        /// The value's lifetime was over.
        case expired
        /// A value was too large to be stored; the key's earlier value is removed too.
        case refused
    }

    /// The number of the change in its stream, from 1 and in order: a gap shows that a slow listener missed changes.
    public let number: UInt64
    /// The key.
    public let key: Key
    /// The key's value before the change.
    public let before: Value?
    /// The key's value after the change.
    public let after: Value?
    /// The reason of the change.
    public let cause: Cause
}
