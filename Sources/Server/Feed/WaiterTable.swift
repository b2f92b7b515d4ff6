/// Names one waiter for cancelling it; it is never used again for another.
package struct WaiterTicket: Hashable, Sendable {
    let slot: Int32
    let generation: UInt32

    init(slot: Int32, generation: UInt32) {
        self.slot = slot
        self.generation = generation
    }

    /// The ticket as one number, and back.
    init(number: UInt64) {
        self.init(slot: Int32(truncatingIfNeeded: number), generation: UInt32(truncatingIfNeeded: number >> 32))
    }

    var number: UInt64 { UInt64(generation) << 32 | UInt64(UInt32(bitPattern: slot)) }
}

/// All waiters of a feed in one array, some forty bytes each, members of a group and of a deadline's bucket.
///
/// Removal is O(1): a member knows its places, and the last of a list takes the place of the one that leaves.
/// Deadlines are kept in a wheel of 256 buckets of 256 ms: a waiter leaves at most that much after its time, never before.
package struct WaiterTable<Waiter: Sendable>: Sendable {
    /// The width of a bucket in milliseconds.
    package static var bucketWidth: Int64 { 256 }
    private static var bucketCount: Int64 { 256 }

    private struct Slot: Sendable {
        var waiter: Waiter?
        var generation: UInt32 = 0
        var group: Int32 = 0
        var groupPlace: Int32 = 0
        /// -1 without a deadline.
        var bucket: Int32 = -1
        var bucketPlace: Int32 = 0
    }

    private var slots: [Slot] = []
    private var free: [Int32] = []
    private var buckets: [[Int32]] = []
    /// All buckets before this one are empty.
    private var due: Int64 = 0

    /// How many wait.
    package private(set) var count = 0

    package init() {}

    /// Takes a waiter in; `members` are its group's. A deadline beyond the wheel is brought forward to its end.
    package mutating func insert(
        _ waiter: consuming Waiter, group: Int32, members: inout [Int32], deadline: Int64?, now: Int64
    ) -> WaiterTicket {
        if count == 0 { due = now / Self.bucketWidth }
        let index = free.popLast() ?? Int32(slots.count)
        if Int(index) == slots.count { slots.append(Slot()) }
        slots[Int(index)].waiter = waiter
        slots[Int(index)].group = group
        slots[Int(index)].groupPlace = Int32(members.count)
        members.append(index)
        slots[Int(index)].bucket = -1
        if let deadline {
            if buckets.isEmpty { buckets = Array(repeating: [], count: Int(Self.bucketCount)) }
            let turn = min(max(deadline / Self.bucketWidth + 1, due), due + Self.bucketCount - 1)
            let bucket = Int(turn % Self.bucketCount)
            slots[Int(index)].bucket = Int32(bucket)
            slots[Int(index)].bucketPlace = Int32(buckets[bucket].count)
            buckets[bucket].append(index)
        }
        count += 1
        return WaiterTicket(slot: index, generation: slots[Int(index)].generation)
    }

    /// The waiter of a ticket and the group that it is in; `nil` if it has gone.
    package func group(of ticket: WaiterTicket) -> Int32? {
        guard slots.indices.contains(Int(ticket.slot)) else { return nil }
        let slot = slots[Int(ticket.slot)]
        return slot.waiter != nil && slot.generation == ticket.generation ? slot.group : nil
    }

    package func group(at index: Int32) -> Int32 { slots[Int(index)].group }

    package func waiter(at index: Int32) -> Waiter? { slots[Int(index)].waiter }

    /// Takes one waiter out of everything. O(1).
    @discardableResult
    package mutating func remove(_ index: Int32, members: inout [Int32]) -> Waiter? {
        let place = Int(slots[Int(index)].groupPlace)
        members.swapAt(place, members.count - 1)
        members.removeLast()
        if place < members.count { slots[Int(members[place])].groupPlace = Int32(place) }
        return release(index)
    }

    /// Notes that these members now stand at the end of another group.
    package mutating func move(_ members: ArraySlice<Int32>, to group: Int32) {
        for (place, index) in zip(members.indices, members) {
            slots[Int(index)].group = group
            slots[Int(index)].groupPlace = Int32(place)
        }
    }

    /// Takes a whole group's waiters out, in the order in which they came (but for places taken over).
    package mutating func removeAll(_ members: [Int32]) -> [Waiter] {
        var waiters: [Waiter] = []
        waiters.reserveCapacity(members.count)
        for index in members { if let waiter = release(index) { waiters.append(waiter) } }
        return waiters
    }

    /// The slots whose deadline has passed at `now`, still in their groups.
    package mutating func takeDue(now: Int64) -> [Int32] {
        let turn = now / Self.bucketWidth
        guard turn >= due else { return [] }
        defer { due = turn + 1 }
        guard !buckets.isEmpty, count > 0 else { return [] }
        var result: [Int32] = []
        for passed in due...min(turn, due + Self.bucketCount - 1) {
            let bucket = Int(passed % Self.bucketCount)
            for index in buckets[bucket] { slots[Int(index)].bucket = -1 }
            result.append(contentsOf: buckets[bucket])
            buckets[bucket] = []
        }
        return result
    }

    private mutating func release(_ index: Int32) -> Waiter? {
        // In place: a copy of the slot would be a second owner of the waiter for a moment.
        let waiter = slots[Int(index)].waiter.take()
        let bucket = Int(slots[Int(index)].bucket)
        if bucket >= 0 {
            let place = Int(slots[Int(index)].bucketPlace)
            buckets[bucket].swapAt(place, buckets[bucket].count - 1)
            buckets[bucket].removeLast()
            if place < buckets[bucket].count { slots[Int(buckets[bucket][place])].bucketPlace = Int32(place) }
        }
        slots[Int(index)].generation &+= 1
        slots[Int(index)].bucket = -1
        free.append(index)
        count -= 1
        return waiter
    }
}
