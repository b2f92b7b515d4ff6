/// What an invalidation reaches: one record, or a sweep over many.
public enum InvalidationScope: Hashable, Sendable {
    /// One record, whether the server holds it or not.
    case key(RecordKey)
    /// All of a collection whose id begins with the prefix; the empty prefix means all of it.
    case collection(String, prefix: String)
    /// Everything in the namespace.
    case everything

    /// Whether the scope reaches `key`.
    public func contains(_ key: RecordKey) -> Bool {
        switch self {
        case .key(let own): own == key
        case .collection(let collection, let prefix): collection == key.collection && key.id.utf8.starts(with: prefix.utf8)
        case .everything: true
        }
    }
}
