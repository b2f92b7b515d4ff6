import FreshetWire

/// Why a value is what it is: the latest notes about the sources of values and about dropped responses. Bounded; the
/// oldest are dropped first.
struct KeyHistory: Sendable {
    private var notes: [HistoryEvent] = []
    private var next = 0
    private let capacity: Int

    init(capacity: Int) { self.capacity = capacity }

    /// O(1).
    mutating func add(_ note: HistoryEvent) {
        guard capacity > 0 else { return }
        if notes.count < capacity {
            notes.append(note)
        } else {
            notes[next] = note
            next = (next + 1) % capacity
        }
    }

    mutating func clear() {
        notes = []
        next = 0
    }

    /// Returns the notes that concern `key`, oldest first. O(number of notes).
    func notes(of key: RecordKey) -> [HistoryEvent] {
        (notes[next...] + notes[..<next]).filter { $0.scope.contains(key) }
    }
}
