/// The part of an entry that only writers need. Guarded by the cache's write lock.
@usableFromInline
struct SlotRecord {
    @usableFromInline let hash: Int
    @usableFromInline var cost: Int
    /// When the value was stored, in nanoseconds of the uptime clock.
    @usableFromInline var storedAt: Int64
    /// When the value was last known to be right, on the same clock.
    @usableFromInline var validatedAt: Int64
    /// By how long a read extends a sliding lifetime, in nanoseconds. Written under both locks.
    @usableFromInline var span: Int64
    /// The next newer entry, towards the head of the queue.
    @usableFromInline var newer = EntryReference.none
    /// The next older entry, towards the tail; in a free slot the next free one.
    @usableFromInline var older = EntryReference.none
    /// Changes with every write, so that a decision made without the lock is not applied to a newer value.
    @usableFromInline var stamp: UInt32
    @usableFromInline var queue = Queue.pinned
    @usableFromInline var isTagged = false

    /// The queue of a slot. Pinned slots are in none, so that eviction never visits them.
    @usableFromInline
    enum Queue: UInt8 {
        case free, small, main, pinned
    }

    @inlinable
    init(hash: Int, cost: Int, resolved: ResolvedLifetime, stamp: UInt32) {
        self.hash = hash
        self.cost = cost
        storedAt = resolved.start
        validatedAt = resolved.start
        span = resolved.span
        self.stamp = stamp
    }
}
