/// What is to come, in the order of its time; what comes at the same time, in the order in which it was put in.
struct EventQueue<Element> {
    private struct Entry {
        var time: Int64
        var serial: Int64
        var element: Element

        static func precedes(_ left: Entry, _ right: Entry) -> Bool {
            left.time == right.time ? left.serial < right.serial : left.time < right.time
        }
    }

    /// A binary heap.
    private var entries: [Entry] = []
    private var lastSerial: Int64 = 0

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }
    /// When the next one comes.
    var nextTime: Int64? { entries.first?.time }

    /// O(log n).
    mutating func push(_ element: Element, at time: Int64) {
        lastSerial += 1
        entries.append(Entry(time: time, serial: lastSerial, element: element))
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
        guard let first = entries.first else { return (last.time, last.element) }
        entries[0] = last
        var place = 0
        while true {
            var least = place
            for child in (2 * place + 1)...(2 * place + 2) where child < entries.count {
                if Entry.precedes(entries[child], entries[least]) { least = child }
            }
            if least == place { break }
            entries.swapAt(place, least)
            place = least
        }
        return (first.time, first.element)
    }
}
