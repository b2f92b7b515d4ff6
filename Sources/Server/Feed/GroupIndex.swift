package import FreshetWire

/// Finds the groups whose filter a change matches without looking at the others: by collection, then by the prefixes of its id.
package struct GroupIndex: Sendable {
    /// The groups that name one collection, or none.
    private struct Shelf: Sendable {
        var byPrefix: [[UInt8]: [Int32]] = [:]
        /// The lengths of the prefixes in use and how many prefixes have each; few in practice.
        var lengths: [(length: Int, count: Int)] = []
    }

    private var shelves: [String: Shelf] = [:]
    /// The groups that name no collection, as the shelf of a name that no collection can have.
    private static let any = ""

    package init() {}

    package var isEmpty: Bool { shelves.isEmpty }

    package mutating func insert(_ group: Int32, _ filter: ChangeFilter) {
        let prefix = Array(filter.prefix.utf8)
        for name in Self.names(filter) {
            var shelf = shelves.removeValue(forKey: name) ?? Shelf()
            if shelf.byPrefix[prefix, default: []].isEmpty {
                if let place = shelf.lengths.firstIndex(where: { $0.length == prefix.count }) {
                    shelf.lengths[place].count += 1
                } else {
                    shelf.lengths.append((prefix.count, 1))
                }
            }
            shelf.byPrefix[prefix, default: []].append(group)
            shelves[name] = shelf
        }
    }

    package mutating func remove(_ group: Int32, _ filter: ChangeFilter) {
        let prefix = Array(filter.prefix.utf8)
        for name in Self.names(filter) {
            guard var shelf = shelves.removeValue(forKey: name) else { continue }
            shelf.byPrefix[prefix]?.removeAll { $0 == group }
            if shelf.byPrefix[prefix]?.isEmpty == true {
                shelf.byPrefix[prefix] = nil
                if let place = shelf.lengths.firstIndex(where: { $0.length == prefix.count }) {
                    shelf.lengths[place].count -= 1
                    if shelf.lengths[place].count == 0 { shelf.lengths.remove(at: place) }
                }
            }
            if !shelf.byPrefix.isEmpty { shelves[name] = shelf }
        }
    }

    /// The groups that the scope reaches, in no particular order; those with several collections maybe more than once.
    /// For a key O(groups found + lengths of prefixes in use), for a sweep O(groups of the collection).
    package func groups(matching scope: InvalidationScope) -> [Int32] {
        var found: [Int32] = []
        switch scope {
        case .key(let key):
            for name in [key.collection, Self.any] {
                guard let shelf = shelves[name] else { continue }
                for (length, _) in shelf.lengths where length <= key.id.utf8.count {
                    if let groups = shelf.byPrefix[Array(key.id.utf8.prefix(length))] { found.append(contentsOf: groups) }
                }
            }
        case .collection(let collection, let swept):
            for name in [collection, Self.any] {
                for (prefix, groups) in shelves[name]?.byPrefix ?? [:]
                where prefix.starts(with: swept.utf8) || swept.utf8.starts(with: prefix) {
                    found.append(contentsOf: groups)
                }
            }
        case .everything:
            for shelf in shelves.values {
                for groups in shelf.byPrefix.values { found.append(contentsOf: groups) }
            }
        }
        return found
    }

    private static func names(_ filter: ChangeFilter) -> [String] { filter.collections.isEmpty ? [any] : filter.collections }
}
