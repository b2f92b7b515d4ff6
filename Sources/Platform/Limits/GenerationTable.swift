/// A table of bounded size that keeps the entries that were used recently: a full generation becomes the older one, and
/// the older one is dropped. An entry that is used moves to the recent generation. Each operation is O(1) on average.
package struct GenerationTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        var value: Value
        let weight: Int
    }

    /// The most weight of one generation; the table holds twice as much.
    private let limit: Int
    private var recent: [Key: Entry] = [:]
    private var older: [Key: Entry] = [:]
    private var weight = 0

    /// - Parameter limit: the sum of the weights of a generation, at least 1.
    package init(limit: Int) { self.limit = max(1, limit) }

    package var count: Int { recent.count + older.count }

    package mutating func removeAll() { (recent, older, weight) = ([:], [:], 0) }

    package mutating func value(for key: Key) -> Value? {
        if let entry = recent[key] { return entry.value }
        guard let entry = older.removeValue(forKey: key) else { return nil }
        insert(entry, for: key)
        return entry.value
    }

    /// - Parameter weight: how much of the limit the entry takes.
    package mutating func set(_ value: Value, for key: Key, weight: Int = 1) {
        remove(key)
        insert(Entry(value: value, weight: max(1, weight)), for: key)
    }

    package mutating func remove(_ key: Key) {
        if let entry = recent.removeValue(forKey: key) { weight -= entry.weight } else { older[key] = nil }
    }

    private mutating func insert(_ entry: Entry, for key: Key) {
        if weight + entry.weight > limit, !recent.isEmpty {
            older = recent
            recent = [:]
            weight = 0
        }
        recent[key] = entry
        weight += entry.weight
    }
}
