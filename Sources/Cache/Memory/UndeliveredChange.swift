/// A change before it is delivered to listeners.
@usableFromInline
struct UndeliveredChange<Key: Hashable & Sendable, Value: Sendable>: Sendable {
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
