/// Which changes a reader of the feed wants.
public struct ChangeFilter: Hashable, Sendable {
    /// The collections, sorted and each once; empty means all.
    public let collections: [String]
    /// What the ids must begin with; empty means any.
    public let prefix: String

    /// Everything.
    public static let all = ChangeFilter(checked: [], prefix: "")

    /// - Throws: ``WireError/invalidKey(_:)`` for a name that no collection can have.
    public init(collections: [String], prefix: String = "") throws(WireError) {
        for collection in collections { try RecordKey.check(collection: collection) }
        self.init(checked: Set(collections).sorted(), prefix: prefix)
    }

    private init(checked collections: [String], prefix: String) {
        self.collections = collections
        self.prefix = prefix
    }

    /// By bytes, as the prefix is compared.
    public static func == (left: ChangeFilter, right: ChangeFilter) -> Bool {
        left.collections == right.collections && ByteIdentity.areEqual(left.prefix, right.prefix)
    }

    /// By bytes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(collections)
        ByteIdentity.hash(prefix, into: &hasher)
    }

    /// Whether a record's change is wanted. O(number of collections).
    public func matches(_ key: RecordKey) -> Bool {
        (collections.isEmpty || collections.contains(key.collection)) && (prefix.isEmpty || key.id.utf8.starts(with: prefix.utf8))
    }

    /// Whether a scope reaches any key that is wanted.
    public func matches(_ scope: InvalidationScope) -> Bool {
        switch scope {
        case .key(let key): matches(key)
        case .collection(let collection, let swept):
            (collections.isEmpty || collections.contains(collection))
                && (prefix.utf8.starts(with: swept.utf8) || swept.utf8.starts(with: prefix.utf8))
        case .everything: true
        }
    }
}
