import FreshetWire

extension ChangeFilter {
    /// Whether this filter matches all keys that the other one matches.
    func includes(_ other: ChangeFilter) -> Bool {
        guard other.prefix.utf8.starts(with: prefix.utf8) else { return false }
        return collections.isEmpty || !other.collections.isEmpty && Set(collections).isSuperset(of: other.collections)
    }

    /// Whether the filter matches keys of the collection.
    func includes(_ collection: String) -> Bool { collections.isEmpty || collections.contains(collection) }

    /// Returns the filter of the keys that both match; `nil` if there are none.
    func intersection(_ other: ChangeFilter) -> ChangeFilter? {
        let (short, long) = prefix.utf8.count < other.prefix.utf8.count ? (prefix, other.prefix) : (other.prefix, prefix)
        guard long.utf8.starts(with: short.utf8) else { return nil }
        let common =
            collections.isEmpty || other.collections.isEmpty
            ? collections + other.collections : Array(Set(collections).intersection(other.collections))
        guard !common.isEmpty || collections.isEmpty && other.collections.isEmpty else { return nil }
        return try? ChangeFilter(collections: common, prefix: long)
    }

    /// The filter in a form that ``init(text:)`` reads: the collections with commas between them, a colon, and the prefix.
    var text: String { "\(collections.joined(separator: ",")):\(prefix)" }

    /// Returns `nil` for a text that is not of this form.
    init?(text: String) {
        // By bytes: a prefix may begin with a combining mark, and no name of a collection contains a comma or a colon.
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let collections = text.utf8[..<colon].split(separator: UInt8(ascii: ",")).map { String(Substring($0)) }
        let prefix = String(Substring(text.utf8[text.utf8.index(after: colon)...]))
        guard let filter = try? ChangeFilter(collections: collections, prefix: prefix) else { return nil }
        self = filter
    }
}
