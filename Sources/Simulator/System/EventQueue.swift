/// The events to come, in the order of their times; events of one time in the order in which they were added.
struct EventQueue<Element> {
    private struct Entry {
        var time: Int64
        var serial: Int64
        var slot: Int

        static func precedes(_ left: Entry, _ right: Entry) -> Bool {
            left.time == right.time ? left.serial < right.serial : left.time < right.time
        }
    }

    /// A binary heap of places in ``slots``, so that large elements need not move.
    private var entries: [Entry] = []
    private var slots: [Element?] = []
    private var freeSlots: [Int] = []
    private var lastSerial: Int64 = 0

    /// When the next one comes.
    var nextTime: Int64? { entries.first?.time }

    /// O(log n).
    mutating func push(_ element: Element, at time: Int64) {
        lastSerial += 1
        let slot = freeSlots.popLast() ?? slots.count
        if slot == slots.count { slots.append(element) } else { slots[slot] = element }
        entries.append(Entry(time: time, serial: lastSerial, slot: slot))
        var place = entries.count - 1
        while place > 0 {
            let parent = (place - 1) / 2
            guard Entry.precedes(entries[place], entries[parent]) else { return }
            entries.swapAt(place, parent)
            place = parent
        }
    }

    /// O(log n).
    mutating func pop() -> (time: Int64, element: Element)? {
        guard let last = entries.popLast() else { return nil }
        let first = entries.first ?? last
        if !entries.isEmpty {
            entries[0] = last
            sink()
        }
        freeSlots.append(first.slot)
        return slots[first.slot].take().map { (first.time, $0) }
    }

    private mutating func sink() {
        var place = 0
        while true {
            var least = place
            let left = 2 * place + 1
            if left < entries.count, Entry.precedes(entries[left], entries[least]) { least = left }
            if left + 1 < entries.count, Entry.precedes(entries[left + 1], entries[least]) { least = left + 1 }
            if least == place { return }
            entries.swapAt(place, least)
            place = least
        }
    }
}
