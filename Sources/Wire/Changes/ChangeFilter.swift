internal import FreshetPlatform

/// The changes that a reader of the feed wants.
package struct ChangeFilter: Hashable, Sendable {
    /// The collections, sorted and each once; empty means all.
    package let collections: [String]
    /// The beginning of the ids; empty means any.
    package let prefix: String

    /// The most collections that one request for changes may name: each is a separate range to the server, in every
    /// poll that waits.
    package static let maximumCollections = 64

    /// Everything.
    package static let all = ChangeFilter(checked: [], prefix: "")

    /// - Throws: ``WireError/invalidKey(_:)`` for a name that no collection can have.
    package init(collections: [String], prefix: String = "") throws(WireError) {
        for collection in collections { try RecordKey.check(collection: collection) }
        self.init(checked: Set(collections).sorted(), prefix: prefix)
    }

    private init(checked collections: [String], prefix: String) {
        self.collections = collections
        self.prefix = prefix
    }

    /// Compares by bytes, as the prefix is matched.
    package static func == (left: ChangeFilter, right: ChangeFilter) -> Bool {
        left.collections == right.collections && ByteIdentity.areEqual(left.prefix, right.prefix)
    }

    /// Hashes the bytes.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(collections)
        ByteIdentity.hash(prefix, into: &hasher)
    }

    /// The filter that a request may name in place of this one: the same up to ``maximumCollections``, and beyond all
    /// collections with the same prefix. The reader ignores the other changes that the latter matches.
    package var requestable: ChangeFilter {
        collections.count <= Self.maximumCollections ? self : ChangeFilter(checked: [], prefix: prefix)
    }

    /// Whether the filter matches a record's change. O(log n) for n collections.
    package func matches(_ key: RecordKey) -> Bool {
        includes(key.collection) && (prefix.isEmpty || key.id.utf8.starts(with: prefix.utf8))
    }

    private func includes(_ collection: String) -> Bool {
        guard collections.count > 8 else { return collections.isEmpty || collections.contains(collection) }
        var low = 0
        var high = collections.count
        while low < high {
            let middle = (low + high) / 2
            if collections[middle] < collection { low = middle + 1 } else { high = middle }
        }
        return low < collections.count && collections[low] == collection
    }

    /// Whether a scope reaches any key that the filter matches.
    package func matches(_ scope: InvalidationScope) -> Bool {
        switch scope {
        case .key(let key): matches(key)
        case .collection(let collection, let invalidated):
            includes(collection)
                && (prefix.utf8.starts(with: invalidated.utf8) || invalidated.utf8.starts(with: prefix.utf8))
        case .everything: true
        }
    }
}
