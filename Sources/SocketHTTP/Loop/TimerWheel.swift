/// A timer wheel: deadlines in slots of one tick, so that setting one is an append and time passing is a walk.
///
/// Entries are added and never removed. The receiver of an expired entry checks whether it still applies, and inserts
/// it again if it is only due later. So a connection has at most one entry however often its deadline moves. The wheel
/// knows no clock; ticks are passed in.
struct TimerWheel {
    /// The token that the wheel returns; the wheel does not interpret it.
    typealias Entry = UInt64

    private var slots: [[Entry]]
    private var current: UInt32
    /// The number of entries in the wheel.
    private(set) var count = 0

    init(slots: Int = 512, now: UInt32 = 0) {
        self.slots = Array(repeating: [], count: slots)
        current = now
    }

    /// Adds an entry that is due at `tick`. An entry beyond the wheel's reach comes early, one in the past at the next
    /// tick.
    ///
    /// - Returns: the tick at which the entry will come.
    @discardableResult
    mutating func insert(_ entry: Entry, at tick: UInt32) -> UInt32 {
        let distance = Int(Int32(bitPattern: tick &- current))
        let reached = current &+ UInt32(min(max(distance, 1), slots.count - 1))
        slots[index(reached)].append(entry)
        count += 1
        return reached
    }

    /// Moves to `tick`; removes and returns the entries that have become due.
    mutating func advance(to tick: UInt32) -> [Entry] {
        var due: [Entry] = []
        var steps = Int(Int32(bitPattern: tick &- current))
        guard steps > 0 else { return due }
        if count > 0 {
            // One turn of the wheel visits every slot, however long the pause was.
            steps = min(steps, slots.count)
            for step in 1...steps {
                let slot = index(current &+ UInt32(step))
                guard !slots[slot].isEmpty else { continue }
                due.append(contentsOf: slots[slot])
                slots[slot] = []
            }
            count -= due.count
        }
        current = tick
        return due
    }

    /// The tick of the earliest entry, or nil where there is none. Complexity: O(slots).
    func next() -> UInt32? {
        guard count > 0 else { return nil }
        for step in 1...UInt32(slots.count) where !slots[index(current &+ step)].isEmpty { return current &+ step }
        return nil
    }

    private func index(_ tick: UInt32) -> Int {
        Int(tick % UInt32(slots.count))
    }
}
