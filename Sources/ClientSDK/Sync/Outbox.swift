import FreshetWire

/// All writes of this device that are not part of the confirmed records yet.
struct Outbox: Hashable, Sendable {
    /// Where a write without an outcome stands in the queue.
    struct QueueEntry: Hashable, Sendable {
        var number: Int64
        var writeID: LocalWriteID
        var key: RecordKey
    }

    /// Never iterated where the order could be visible.
    private(set) var keys: [RecordKey: PendingKey] = [:]
    /// The writes that are to be sent or wait for their answer, in the order of their numbers.
    private(set) var queue: [QueueEntry] = []
    /// The keys with writes that wait only for the base.
    private var awaitingBase: Set<RecordKey> = []
    /// The keys with writes that wait for the user's closure.
    private var merging: Set<RecordKey> = []
    /// The keys with writes that are to be sent under another name of the device.
    private var displaced: Set<RecordKey> = []
    /// The lowest number of those writes.
    private var firstDisplaced: Int64?

    init() {}

    init(_ persisted: PersistedState) {
        let bases = Dictionary(persisted.bases.map { ($0.key, $0) }) { first, _ in first }
        for (key, rows) in Dictionary(grouping: persisted.outbox, by: \.key) {
            put(PendingKey(key: key, base: bases[key], watermark: persisted.watermarks[key], rows: rows), enqueues: false)
        }
        renumber()
    }

    /// Returns the view of a key, given the disk's row.
    func view(of key: RecordKey, stored: Entry?) -> KeyView { keys[key]?.view ?? KeyView(key, stored) }

    /// The keys, in order.
    var sortedKeys: [RecordKey] { keys.keys.sorted() }

    /// Writes without an outcome.
    var pendingCount: Int {
        queue.count + merging.reduce(0) { $0 + (keys[$1].map { $0.rows.counts.merging + $0.rows.counts.held } ?? 0) }
            + displaced.reduce(0) { $0 + (keys[$1]?.rows.counts.displaced ?? 0) }
    }

    /// The keys with writes that wait only for the base, in order.
    var keysAwaitingBase: [RecordKey] { awaitingBase.sorted() }

    /// Whether there are writes that are to be merged.
    var isMerging: Bool { !merging.isEmpty }

    /// The keys with writes that are to be merged, in order.
    var mergingKeys: [RecordKey] { merging.sorted() }

    /// Returns the place of the write with this number, if it has no outcome yet. O(log n).
    func entry(ofNumber number: Int64) -> QueueEntry? {
        let index = index(ofNumber: number)
        return index < queue.count && queue[index].number == number ? queue[index] : nil
    }

    /// Returns the row of a queued write. O(log n).
    func row(at entry: QueueEntry) -> OutboxRow? { keys[entry.key]?.rows.row(number: entry.number, writeID: entry.writeID) }

    /// Whether a write stays until its record contains it or is read.
    var awaitsBase: Bool { !awaitingBase.isEmpty }

    /// Whether the write was made after one that is to be sent under another name, and so goes with it: sent before, it
    /// would be overwritten by the earlier one.
    func followsDisplaced(_ row: OutboxRow) -> Bool { firstDisplaced.map { row.number > $0 } ?? false }

    /// Stores the new state of a key, and removes a key without rows.
    mutating func put(_ pending: PendingKey) { put(pending, enqueues: true) }

    private mutating func put(_ pending: PendingKey, enqueues: Bool) {
        let (key, rows) = (pending.key, pending.rows)
        if enqueues { updateQueue(rows.changes(since: keys[key]?.rows ?? OutboxRows())) }
        var pending = pending
        pending.replay()
        keys[key] = rows.isEmpty ? nil : pending
        set(&displaced, key, rows.counts.displaced > 0)
        if displaced.isEmpty {
            firstDisplaced = nil
        } else if rows.counts.displaced > 0, let first = rows.first(where: \.isDisplaced)?.number {
            // They leave all together, when the device has its other name.
            firstDisplaced = min(first, firstDisplaced ?? first)
        }
        set(&awaitingBase, key, rows.counts.applied + rows.counts.settled > 0)
        set(&merging, key, rows.counts.merging > 0)
    }

    private mutating func updateQueue(_ rows: (before: [OutboxRow], after: [OutboxRow])) {
        let (before, after) = (rows.before.filter(\.isQueued), rows.after.filter(\.isQueued))
        let staying = Set(after.map(\.number))
        remove(before.map(\.number).filter { !staying.contains($0) })
        let known = Set(before.map(\.number))
        for row in after where !known.contains(row.number) {
            queue.insert(QueueEntry(number: row.number, writeID: row.writeID, key: row.key), at: index(ofNumber: row.number))
        }
    }

    private func set(_ keys: inout Set<RecordKey>, _ key: RecordKey, _ isMember: Bool) {
        if isMember { keys.insert(key) } else { keys.remove(key) }
    }

    /// Orders the queue again after the numbers of the writes have changed. O(writes log writes).
    mutating func renumber() {
        let rows = keys.values.flatMap { $0.rows.filter(\.isQueued) }.sorted { $0.number < $1.number }
        queue = rows.map { QueueEntry(number: $0.number, writeID: $0.writeID, key: $0.key) }
    }

    /// - Parameter numbers: in order. Numbers that are adjacent in the queue are removed together.
    private mutating func remove(_ numbers: [Int64]) {
        var rest = numbers[...]
        while let number = rest.first {
            let start = index(ofNumber: number)
            var end = start
            while end < queue.count, let next = rest.first, queue[end].number == next {
                end += 1
                rest.removeFirst()
            }
            if start == end { rest.removeFirst() } else { queue.removeSubrange(start..<end) }
        }
    }

    /// Returns the present or future index of the number.
    private func index(ofNumber number: Int64) -> Int {
        if let last = queue.last, last.number < number { return queue.count }
        var low = 0
        var high = queue.count
        while low < high {
            let middle = (low + high) / 2
            if queue[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
