/// A listener to changes.
struct CacheListener<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The only key whose changes the listener gets; nil for all.
    let key: Key?
    let continuation: AsyncStream<CacheChange<Key, Value>>.Continuation
    var heard: UInt64 = 0
}
