/// Which entries were used since this was last written to the disk.
struct AccessLog {
    /// The most uses that wait; beyond it the oldest are forgotten.
    static let limit = 65_536

    /// In order; an entry may come several times.
    private var order: [KeyHash] = []
    /// When those that each use prolongs were last used.
    private var sliding: [KeyHash: Int64] = [:]
    /// Whether their writing is arranged.
    var isScheduled = false

    var isEmpty: Bool { order.isEmpty }

    mutating func append(_ numbers: [KeyHash]) {
        order += numbers
        if order.count > Self.limit { order.removeFirst(order.count - Self.limit / 2) }
    }

    mutating func append(sliding number: KeyHash, at now: Int64) {
        order.append(number)
        sliding[number] = now
    }

    func used(_ number: KeyHash) -> Int64? { sliding[number] }

    /// Takes all, each entry once, at its last place; and when those that slide were used.
    mutating func take() -> (order: [KeyHash], sliding: [KeyHash: Int64]) {
        var seen: Set<KeyHash> = []
        let last = order.reversed().filter { seen.insert($0).inserted }
        defer {
            order = []
            sliding = [:]
        }
        return (last.reversed(), sliding)
    }
}
