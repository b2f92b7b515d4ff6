/// Identifies one waiter, to cancel it. It is never used again for another one.
package struct WaiterID: Hashable, Sendable {
    let slot: Int32
    let generation: UInt32

    init(slot: Int32, generation: UInt32) {
        self.slot = slot
        self.generation = generation
    }

    /// Makes the identifier that has this ``number``.
    init(number: UInt64) {
        self.init(slot: Int32(truncatingIfNeeded: number), generation: UInt32(truncatingIfNeeded: number >> 32))
    }

    var number: UInt64 { UInt64(generation) << 32 | UInt64(UInt32(bitPattern: slot)) }
}

/// All waiters of a feed in one array, some forty bytes each. Each is a member of a group and a link in a bucket's
/// chain.
///
/// Removal is O(1): a slot has its place in the group, which the group's last member takes over, and its neighbours in
/// the chain.
/// Deadlines are kept in a timer wheel of 256 buckets of 256 ms: a waiter leaves at most that much after its time,
/// never before.
package struct WaiterTable<Waiter: Sendable>: Sendable {
    /// The width of a bucket in milliseconds.
    package static var bucketWidth: Int64 { 256 }
    private static var bucketCount: Int64 { 256 }
    /// No slot, and no bucket.
    private static var none: Int32 { -1 }

    private struct Slot: Sendable {
        var waiter: Waiter?
        var generation: UInt32 = 0
        var group: Int32 = 0
        var groupPlace: Int32 = 0
        /// `none` without a deadline.
        var bucket = none
        /// The slots after and before this one in the bucket's chain.
        var next = none
        var previous = none

        /// Fills the slot in one call, since each access to the array from outside has a cost.
        mutating func fill(
            _ waiter: consuming Waiter, _ group: Int32, _ place: Int, _ bucket: Int32, next: Int32
        ) -> UInt32 {
            self.waiter = waiter
            self.group = group
            groupPlace = Int32(place)
            self.bucket = bucket
            self.next = next
            previous = none
            return generation
        }
    }

    private var slots: [Slot] = []
    private var free: [Int32] = []
    /// The first slot of each bucket's chain.
    private var buckets: [Int32] = []
    /// All buckets before this one are empty.
    private var due: Int64 = 0

    /// The number of waiters.
    package private(set) var count = 0

    package init() {}

    /// Inserts a waiter and appends it to `members`, those of its group. A deadline beyond the wheel is brought forward to its end.
    package mutating func insert(
        _ waiter: consuming Waiter, group: Int32, members: inout [Int32], deadline: Int64?, now: Int64
    ) -> WaiterID {
        if count == 0 { due = now / Self.bucketWidth }
        let index = free.popLast() ?? Int32(slots.count)
        if Int(index) == slots.count { slots.append(Slot()) }
        var bucket = Self.none
        var next = Self.none
        if let deadline {
            if buckets.isEmpty { buckets = Array(repeating: Self.none, count: Int(Self.bucketCount)) }
            let turn = min(max(deadline / Self.bucketWidth + 1, due), due + Self.bucketCount - 1)
            bucket = Int32(turn % Self.bucketCount)
            next = buckets[Int(bucket)]
            buckets[Int(bucket)] = index
            if next != Self.none { slots[Int(next)].previous = index }
        }
        let generation = slots[Int(index)].fill(waiter, group, members.count, bucket, next: next)
        members.append(index)
        count += 1
        return WaiterID(slot: index, generation: generation)
    }

    /// The group of a waiter; `nil` if the waiter has left.
    package func group(of waiter: WaiterID) -> Int32? {
        guard slots.indices.contains(Int(waiter.slot)) else { return nil }
        let slot = slots[Int(waiter.slot)]
        return slot.waiter != nil && slot.generation == waiter.generation ? slot.group : nil
    }

    package func group(at index: Int32) -> Int32 { slots[Int(index)].group }

    package func waiter(at index: Int32) -> Waiter? { slots[Int(index)].waiter }

    /// Removes one waiter from its group and its chain. O(1).
    @discardableResult
    package mutating func remove(_ index: Int32, members: inout [Int32]) -> Waiter? {
        let place = Int(slots[Int(index)].groupPlace)
        members.swapAt(place, members.count - 1)
        members.removeLast()
        if place < members.count { slots[Int(members[place])].groupPlace = Int32(place) }
        count -= 1
        let waiter = slots.withUnsafeMutableBufferPointer { slots in
            buckets.withUnsafeMutableBufferPointer { Self.release(index, slots, $0) }
        }
        free.append(index)
        return waiter
    }

    /// Empties a slot and unlinks it from its chain.
    private static func release(
        _ index: Int32, _ slots: UnsafeMutableBufferPointer<Slot>, _ buckets: UnsafeMutableBufferPointer<Int32>
    ) -> Waiter? {
        slots[Int(index)].generation &+= 1
        let bucket = slots[Int(index)].bucket
        if bucket != none {
            let (next, previous) = (slots[Int(index)].next, slots[Int(index)].previous)
            if next != none { slots[Int(next)].previous = previous }
            if previous != none { slots[Int(previous)].next = next } else { buckets[Int(bucket)] = next }
        }
        // In place: a copy of the slot would be a second owner of the waiter for a moment.
        return slots[Int(index)].waiter.take()
    }

    /// Records that these members now stand at the end of another group.
    package mutating func move(_ members: ArraySlice<Int32>, to group: Int32) {
        for (place, index) in zip(members.indices, members) {
            slots[Int(index)].group = group
            slots[Int(index)].groupPlace = Int32(place)
        }
    }

    /// Removes all waiters of a group, in the order in which they came (except where a removal has moved one).
    package mutating func removeAll(_ members: [Int32]) -> [Waiter] {
        var waiters: [Waiter] = []
        waiters.reserveCapacity(members.count)
        // Checks the ownership and uniqueness of both arrays once, not at each access.
        slots.withUnsafeMutableBufferPointer { slots in
            buckets.withUnsafeMutableBufferPointer { buckets in
                for index in members {
                    count -= 1
                    if let waiter = Self.release(index, slots, buckets) { waiters.append(waiter) }
                }
            }
        }
        free.append(contentsOf: members)
        return waiters
    }

    /// Takes the slots whose deadline has passed at `now` out of the wheel. They stay in their groups.
    package mutating func takeDue(now: Int64) -> [Int32] {
        let turn = now / Self.bucketWidth
        guard turn >= due else { return [] }
        defer { due = turn + 1 }
        guard !buckets.isEmpty, count > 0 else { return [] }
        var result: [Int32] = []
        for passed in due...min(turn, due + Self.bucketCount - 1) {
            let bucket = Int(passed % Self.bucketCount)
            let first = result.count
            var index = buckets[bucket]
            while index != Self.none {
                result.append(index)
                slots[Int(index)].bucket = Self.none
                index = slots[Int(index)].next
            }
            buckets[bucket] = Self.none
            // The latest waiter stands first in the chain.
            result[first...].reverse()
        }
        return result
    }
}
