package import FreshetWire

/// Finds the groups whose filter a change matches without looking at the others: by collection, then by the prefixes of its id.
package struct GroupIndex: Sendable {
    /// The groups that name one collection, or none.
    private struct CollectionIndex: Sendable {
        var byPrefix: [[UInt8]: [Int32]] = [:]
        /// The lengths of the prefixes in use and how many prefixes have each; few in practice.
        var lengths: [(length: Int, count: Int)] = []
    }

    private var collections: [String: CollectionIndex] = [:]
    /// The groups that name no collection, as the collection of a name that no collection can have.
    private static let any = ""

    package init() {}

    package var isEmpty: Bool { collections.isEmpty }

    package mutating func insert(_ group: Int32, _ filter: ChangeFilter) {
        let prefix = Array(filter.prefix.utf8)
        for name in Self.names(filter) {
            var collection = collections.removeValue(forKey: name) ?? CollectionIndex()
            if collection.byPrefix[prefix, default: []].isEmpty {
                if let place = collection.lengths.firstIndex(where: { $0.length == prefix.count }) {
                    collection.lengths[place].count += 1
                } else {
                    collection.lengths.append((prefix.count, 1))
                }
            }
            collection.byPrefix[prefix, default: []].append(group)
            collections[name] = collection
        }
    }

    package mutating func remove(_ group: Int32, _ filter: ChangeFilter) {
        let prefix = Array(filter.prefix.utf8)
        for name in Self.names(filter) {
            guard var collection = collections.removeValue(forKey: name) else { continue }
            collection.byPrefix[prefix]?.removeAll { $0 == group }
            if collection.byPrefix[prefix]?.isEmpty == true {
                collection.byPrefix[prefix] = nil
                if let place = collection.lengths.firstIndex(where: { $0.length == prefix.count }) {
                    collection.lengths[place].count -= 1
                    if collection.lengths[place].count == 0 { collection.lengths.remove(at: place) }
                }
            }
            if !collection.byPrefix.isEmpty { collections[name] = collection }
        }
    }

    /// The groups that the scope reaches, in no particular order; those with several collections maybe more than once.
    /// For a key O(groups found + lengths of prefixes in use), for a collection O(its groups).
    package func groups(matching scope: InvalidationScope) -> [Int32] {
        var found: [Int32] = []
        switch scope {
        case .key(let key):
            for name in [key.collection, Self.any] {
                guard let collection = collections[name] else { continue }
                for (length, _) in collection.lengths where length <= key.id.utf8.count {
                    if let groups = collection.byPrefix[Array(key.id.utf8.prefix(length))] { found.append(contentsOf: groups) }
                }
            }
        case .collection(let collection, let scope):
            for name in [collection, Self.any] {
                for (prefix, groups) in collections[name]?.byPrefix ?? [:]
                where prefix.starts(with: scope.utf8) || scope.utf8.starts(with: prefix) {
                    found.append(contentsOf: groups)
                }
            }
        case .everything:
            for collection in collections.values {
                for groups in collection.byPrefix.values { found.append(contentsOf: groups) }
            }
        }
        return found
    }

    private static func names(_ filter: ChangeFilter) -> [String] { filter.collections.isEmpty ? [any] : filter.collections }
}
