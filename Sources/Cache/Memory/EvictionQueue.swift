/// A first-in-first-out queue of entries: a doubly linked list through their records, so that removing any entry is
/// O(1).
@usableFromInline
struct EvictionQueue: Sendable {
    /// The newest entry.
    @usableFromInline var head = EntryReference.none
    /// The oldest entry, next to be evicted.
    @usableFromInline var tail = EntryReference.none
    /// The sum of the entries' costs.
    @usableFromInline var cost = 0
    @usableFromInline var count = 0

    @inlinable
    init() {}
}
