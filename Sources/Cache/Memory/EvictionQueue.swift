/// A first-in-first-out queue of entries: a doubly linked list threaded through their records, so that any leaves it in O(1).
@usableFromInline
struct EvictionQueue: Sendable {
    /// The newest.
    @usableFromInline var head = EntryReference.none
    /// The oldest, next to go.
    @usableFromInline var tail = EntryReference.none
    /// The sum of the entries' costs.
    @usableFromInline var cost = 0
    @usableFromInline var count = 0

    @inlinable
    init() {}
}
