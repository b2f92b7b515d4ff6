import FreshetWire

/// All writes of ours that are not part of the confirmed records yet.
struct Outbox: Hashable, Sendable {
    /// Where a write without a verdict stands in the queue.
    struct Place: Hashable, Sendable {
        var number: Int64
        var receipt: Receipt
        var key: RecordKey
    }

    /// Never iterated where the order could show.
    private(set) var keys: [RecordKey: PendingKey] = [:]
    /// The writes that are to be sent or wait for their answer, in the order of their numbers.
    private(set) var queue: [Place] = []
    /// The keys with writes that wait for the base only.
    private var awaitingBase: Set<RecordKey> = []
    /// The keys with writes that wait for the user's closure.
    private var merging: Set<RecordKey> = []

    init() {}

    init(_ persisted: PersistedState) {
        for row in persisted.outbox {
            var pending =
                keys[row.key]
                ?? PendingKey(
                    key: row.key, base: persisted.bases.first { $0.key == row.key }, watermark: persisted.watermarks[row.key])
            pending.rows.append(row)
            put(pending)
        }
    }

    /// The keys, in order.
    var sortedKeys: [RecordKey] { keys.keys.sorted() }

    /// Writes without a verdict.
    var pendingCount: Int { queue.count + merging.reduce(0) { $0 + (keys[$1]?.rows.count(where: \.isMerging) ?? 0) } }

    /// The keys with writes that wait for the base only, in order.
    var keysAwaitingBase: [RecordKey] { awaitingBase.sorted() }

    /// Whether there are writes that are to be merged.
    var isMerging: Bool { !merging.isEmpty }

    /// The keys with writes that are to be merged, in order.
    var mergingKeys: [RecordKey] { merging.sorted() }

    /// The write of this number that has no verdict yet. O(log n).
    func place(ofNumber number: Int64) -> Place? {
        let index = index(ofNumber: number)
        return index < queue.count && queue[index].number == number ? queue[index] : nil
    }

    /// The row of a write on its way.
    func row(at place: Place) -> OutboxRow? { keys[place.key]?.rows.first { $0.receipt == place.receipt } }

    /// Takes the new state of a key in; one without rows leaves.
    mutating func put(_ pending: PendingKey) {
        let before = keys[pending.key]?.rows.filter { $0.state == .pending } ?? []
        let after = pending.rows.filter { $0.state == .pending }
        let staying = Set(after.map(\.number))
        for row in before where !staying.contains(row.number) { remove(row.number) }
        let known = Set(before.map(\.number))
        for row in after where !known.contains(row.number) {
            queue.insert(Place(number: row.number, receipt: row.receipt, key: row.key), at: index(ofNumber: row.number))
        }
        keys[pending.key] = pending.rows.isEmpty ? nil : pending
        set(&awaitingBase, pending.key, pending.rows.contains { $0.position != nil })
        set(&merging, pending.key, pending.rows.contains(where: \.isMerging))
    }

    private func set(_ keys: inout Set<RecordKey>, _ key: RecordKey, _ isMember: Bool) {
        if isMember { keys.insert(key) } else { keys.remove(key) }
    }

    private mutating func remove(_ number: Int64) {
        let index = index(ofNumber: number)
        if index < queue.count, queue[index].number == number { queue.remove(at: index) }
    }

    /// Where the number stands or would stand.
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
