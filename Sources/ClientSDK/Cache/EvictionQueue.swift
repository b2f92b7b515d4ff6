/// A first-in-first-out queue of slots: a doubly linked list threaded through the slots of an ``EvictingTable``, so that any slot leaves it in O(1).
struct EvictionQueue {
    /// The newest.
    var head: Int32 = -1
    /// The oldest, next to go.
    var tail: Int32 = -1
    /// The sum of the slots' costs.
    var cost = 0
    var count = 0
}

/// A value with its place in a queue.
struct EvictionSlot<Key: Hashable, Value> {
    /// Which queue a slot is in; pinned ones are in none, so that eviction never meets them.
    enum Place {
        case free, small, main, pinned
    }

    var key: Key
    /// None in a free slot, which keeps its last key until it is used again.
    var value: Value?
    var cost: Int
    /// Hits since it came in or was spared, 0 … 3.
    var frequency: UInt8 = 0
    var place = Place.free
    /// Towards the head, newer.
    var newer: Int32 = -1
    /// Towards the tail, older.
    var older: Int32 = -1
}
