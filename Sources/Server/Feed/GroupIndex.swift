package import FreshetWire

/// Finds the groups whose filter a change matches without looking at the others: by collection, then by the prefixes of its id.
package struct GroupIndex: Sendable {
    /// The groups that name one collection, or none, by their prefixes.
    private var collections: [String: PrefixIndex] = [:]
    /// The groups that name no collection, as the collection of a name that no collection can have.
    private static let any = ""

    package init() {}

    package var isEmpty: Bool { collections.isEmpty }

    package mutating func insert(_ group: Int32, _ filter: ChangeFilter) {
        for name in Self.names(filter) { collections[name, default: PrefixIndex()].insert(group, filter.prefix) }
    }

    package mutating func remove(_ group: Int32, _ filter: ChangeFilter) {
        for name in Self.names(filter) {
            collections[name]?.remove(group, filter.prefix)
            if collections[name]?.isEmpty == true { collections[name] = nil }
        }
    }

    /// The groups that the scope reaches, in no particular order; those with several collections maybe more than once.
    /// For a key O(groups found + log of the prefixes + length of the id), for a collection O(its groups).
    package func groups(matching scope: InvalidationScope) -> [Int32] {
        var found: [Int32] = []
        switch scope {
        case .key(let key):
            for name in [key.collection, Self.any] { collections[name]?.find(prefixesOf: key.id, into: &found) }
        case .collection(let collection, let prefix):
            for name in [collection, Self.any] {
                collections[name]?.find(prefixesOf: prefix, into: &found)
                collections[name]?.find(longerThan: prefix, into: &found)
            }
        case .everything:
            for collection in collections.values {
                collection.find(prefixesOf: "", into: &found)
                collection.find(longerThan: "", into: &found)
            }
        }
        return found
    }

    private static func names(_ filter: ChangeFilter) -> [String] { filter.collections.isEmpty ? [any] : filter.collections }
}
