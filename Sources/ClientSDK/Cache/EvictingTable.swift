/// A table bounded by the cost of its values, with S3-FIFO eviction (Yang et al., SOSP '23, <https://doi.org/10.1145/3600006.3613147>).
///
/// New keys enter a small queue, a tenth of the space; those that are hit there move to the main queue, the others leave, and are
/// remembered by a ghost queue: what comes again soon enters the main queue at once. A hit raises a two-bit counter and moves
/// nothing, so reads are cheap. Pinned keys are in no queue and never evicted.
///
/// A value type without locks, clocks or randomness: the same calls give the same evictions.
struct EvictingTable<Key: Hashable, Value> {
    /// The most that all values may cost together. Pinned ones alone may exceed it.
    let costLimit: Int
    private(set) var totalCost = 0
    private(set) var evictions = 0
    private var slots: [EvictionSlot<Key, Value>] = []
    private var freeSlots: [Int32] = []
    private var places: [Key: Int32] = [:]
    private var pins: [Key: Int] = [:]
    private var small = EvictionQueue()
    private var main = EvictionQueue()
    private var ghost: GhostQueue
    private let smallLimit: Int

    /// - Parameter ghostCapacity: how many evicted keys are remembered.
    init(costLimit: Int, ghostCapacity: Int = 4_096) {
        self.costLimit = max(0, costLimit)
        smallLimit = max(1, costLimit / 10)
        ghost = GhostQueue(capacity: ghostCapacity)
    }

    var count: Int { places.count }
    var keys: Dictionary<Key, Int32>.Keys { places.keys }

    /// Looks without counting a hit. O(1).
    func peek(_ key: Key) -> Value? { places[key].flatMap { slots[Int($0)].value } }

    /// Reads and counts a hit. O(1).
    mutating func value(_ key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        if slots[Int(place)].frequency < 3 { slots[Int(place)].frequency += 1 }
        return slots[Int(place)].value
    }

    /// Stores a value, and evicts others until all fits. O(1) amortised.
    ///
    /// - Returns: false if the value alone is above the limit and its key not pinned: then the key holds nothing.
    @discardableResult
    mutating func insert(_ key: Key, _ value: Value, cost: Int) -> Bool {
        let cost = max(1, cost)
        guard cost <= costLimit || pins[key] != nil else {
            remove(key)
            return false
        }
        if let place = places[key] {
            replace(place, value, cost)
        } else {
            add(key, value, cost)
        }
        evictWhileOver()
        return places[key] != nil
    }

    /// Removes and forgets a key; its pins stay. O(1).
    @discardableResult
    mutating func remove(_ key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        unlink(place)
        return release(place)
    }

    /// Removes all; pins stay.
    mutating func removeAll() {
        slots.removeAll()
        freeSlots.removeAll()
        places.removeAll()
        small = EvictionQueue()
        main = EvictionQueue()
        ghost.removeAll()
        totalCost = 0
    }

    /// Keeps the key, if it is there or once it comes, until ``unpin(_:)`` was called as often.
    mutating func pin(_ key: Key) {
        pins[key, default: 0] += 1
        guard pins[key] == 1, let place = places[key] else { return }
        unlink(place)
        slots[Int(place)].place = .pinned
    }

    mutating func unpin(_ key: Key) {
        guard let count = pins[key] else { return }
        pins[key] = count > 1 ? count - 1 : nil
        guard count == 1, let place = places[key] else { return }
        link(place, .main)
        evictWhileOver()
    }

    // MARK: Slots

    private mutating func add(_ key: Key, _ value: Value, _ cost: Int) {
        let slot = EvictionSlot(key: key, value: value, cost: cost)
        let place: Int32
        if let free = freeSlots.popLast() {
            place = free
            slots[Int(free)] = slot
        } else {
            place = Int32(slots.count)
            slots.append(slot)
        }
        places[key] = place
        totalCost += cost
        if pins[key] != nil {
            slots[Int(place)].place = .pinned
        } else {
            link(place, ghost.contains(key.hashValue) ? .main : .small)
        }
    }

    private mutating func replace(_ place: Int32, _ value: Value, _ cost: Int) {
        let difference = cost - slots[Int(place)].cost
        slots[Int(place)].value = value
        slots[Int(place)].cost = cost
        totalCost += difference
        switch slots[Int(place)].place {
        case .small: small.cost += difference
        case .main: main.cost += difference
        case .pinned, .free: break
        }
    }

    private mutating func release(_ place: Int32) -> Value? {
        let slot = slots[Int(place)]
        slots[Int(place)].value = nil
        slots[Int(place)].place = .free
        freeSlots.append(place)
        places[slot.key] = nil
        totalCost -= slot.cost
        return slot.value
    }
}

extension EvictingTable {
    // MARK: Queues

    private mutating func link(_ place: Int32, _ target: EvictionSlot<Key, Value>.Place) {
        let head = target == .small ? small.head : main.head
        slots[Int(place)].place = target
        slots[Int(place)].newer = -1
        slots[Int(place)].older = head
        if head >= 0 { slots[Int(head)].newer = place }
        let cost = slots[Int(place)].cost
        if target == .small { small.push(place, cost) } else { main.push(place, cost) }
    }

    private mutating func unlink(_ place: Int32) {
        let slot = slots[Int(place)]
        if slot.newer >= 0 { slots[Int(slot.newer)].older = slot.older }
        if slot.older >= 0 { slots[Int(slot.older)].newer = slot.newer }
        if slot.place == .small { small.take(place, slot.newer, slot.older, slot.cost) }
        if slot.place == .main { main.take(place, slot.newer, slot.older, slot.cost) }
        slots[Int(place)].place = .free
    }

    /// Ends: each turn removes a slot, moves one from small to main, or lowers one's counter.
    private mutating func evictWhileOver() {
        while totalCost > costLimit {
            if small.cost >= smallLimit || main.count == 0, small.count > 0 {
                evictFromSmall()
            } else if main.count > 0 {
                evictFromMain()
            } else {
                return
            }
        }
    }

    private mutating func evictFromSmall() {
        let place = small.tail
        let slot = slots[Int(place)]
        unlink(place)
        // Hit more than once since it came, as in the authors' own code: a single hit is often the second half of one use.
        if slot.frequency > 1 {
            slots[Int(place)].frequency = 0
            link(place, .main)
        } else {
            ghost.insert(slot.key.hashValue)
            _ = release(place)
            evictions += 1
        }
    }

    private mutating func evictFromMain() {
        let place = main.tail
        let slot = slots[Int(place)]
        unlink(place)
        if slot.frequency > 0 {
            slots[Int(place)].frequency = slot.frequency - 1
            link(place, .main)
        } else {
            _ = release(place)
            evictions += 1
        }
    }
}

extension EvictionQueue {
    fileprivate mutating func push(_ place: Int32, _ slotCost: Int) {
        head = place
        if tail < 0 { tail = place }
        cost += slotCost
        count += 1
    }

    fileprivate mutating func take(_ place: Int32, _ newer: Int32, _ older: Int32, _ slotCost: Int) {
        if head == place { head = older }
        if tail == place { tail = newer }
        cost -= slotCost
        count -= 1
    }
}

extension EvictingTable {
    /// Whether lists, sums and counts agree: for tests. O(count).
    var isConsistent: Bool {
        func walk(_ queue: EvictionQueue, _ kind: EvictionSlot<Key, Value>.Place) -> Int? {
            var (place, newer, cost, count) = (queue.head, Int32(-1), 0, 0)
            while place >= 0 {
                let slot = slots[Int(place)]
                guard slot.place == kind, slot.newer == newer, slot.value != nil, places[slot.key] == place else { return nil }
                (newer, place, cost, count) = (place, slot.older, cost + slot.cost, count + 1)
            }
            return newer == queue.tail && cost == queue.cost && count == queue.count ? cost : nil
        }
        let pinned = slots.filter { $0.place == .pinned }
        guard let small = walk(small, .small), let main = walk(main, .main) else { return false }
        return small + main + pinned.reduce(0) { $0 + $1.cost } == totalCost
    }
}
