internal import FreshetTrust
internal import FreshetWire

/// Finds the groups whose filter a change matches without looking at the others: by collection, then by the prefixes of its id.
struct GroupIndex: Sendable {
    /// The groups that name one collection, or none, by their prefixes.
    private var collections: [String: PrefixIndex] = [:]
    /// The groups that name no collection, as the collection of a name that no collection can have.
    private static let any = ""

    var isEmpty: Bool { collections.isEmpty }

    mutating func insert(_ group: Int32, _ subscription: Subscription) {
        for (name, prefix) in Self.places(of: subscription) { collections[name, default: PrefixIndex()].insert(group, prefix) }
    }

    mutating func remove(_ group: Int32, _ subscription: Subscription) {
        for (name, prefix) in Self.places(of: subscription) {
            collections[name]?.remove(group, prefix)
            if collections[name]?.isEmpty == true { collections[name] = nil }
        }
    }

    /// The groups that the scope reaches, in no particular order; those with several collections maybe more than once.
    /// For a key O(groups found + log of the prefixes + length of the id), for a collection O(its groups).
    func groups(matching scope: InvalidationScope) -> [Int32] {
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

    /// The collections and prefixes by which a group is found. A part with few ranges has a place for each: its filter
    /// covers the records between them too, such as the carts of all users beside a common collection, and each of a
    /// user's changes would find the groups of all others. The collections of a filter share the array of its prefix.
    private static func places(of subscription: Subscription) -> [(String, prefix: [UInt8])] {
        if let ranges = subscription.part?.ranges.ranges, ranges.count <= mostRanges {
            return ranges.map { range in
                let place = range.place
                return (place.collection, prefix: Array(place.text))
            }
        }
        let filter = subscription.filter
        let prefix = Array(filter.prefix.utf8)
        return (filter.collections.isEmpty ? [any] : filter.collections).map { ($0, prefix: prefix) }
    }

    /// The most ranges of a part that are places of the index.
    private static let mostRanges = 16
}
