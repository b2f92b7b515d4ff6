/// The loads that must end by a time. A value type without a clock.
struct LoadDeadlines<Item: Sendable>: Sendable {
    private var items: [ObjectIdentifier: (deadline: Int64, item: Item)] = [:]
    /// When the timer fires, never after the earliest deadline; nil if it need not.
    private(set) var alarm: Int64?

    var count: Int { items.count }

    /// - Returns: whether the timer has to be set to ``alarm``. O(1).
    mutating func add(_ id: ObjectIdentifier, _ item: Item, at deadline: Int64) -> Bool {
        items[id] = (deadline, item)
        guard deadline < alarm ?? .max else { return false }
        alarm = deadline
        return true
    }

    /// Leaves ``alarm``: it then fires once in vain, which costs less than to find the next deadline for each load.
    ///
    /// - Returns: the item, to be freed without a lock. O(1).
    mutating func remove(_ id: ObjectIdentifier) -> Item? { items.removeValue(forKey: id)?.item }

    /// Removes the items whose time has come, and sets ``alarm`` to the next deadline. O(items).
    mutating func due(at now: Int64) -> [Item] {
        let due = items.filter { $0.value.deadline <= now }
        for id in due.keys { items[id] = nil }
        alarm = items.values.lazy.map(\.deadline).min()
        return due.values.map(\.item)
    }
}
