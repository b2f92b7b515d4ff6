internal import FreshetPlatform

/// The records that an invalidation reaches: one, or those of a sweep.
public enum InvalidationScope: Hashable, Sendable {
    /// One record, whether the server holds it or not.
    case key(RecordKey)
    /// All records of a collection whose ids begin with the prefix; the empty prefix means the whole collection.
    case collection(String, prefix: String)
    /// Everything in the namespace.
    case everything

    /// Compares by bytes, as keys do.
    public static func == (left: InvalidationScope, right: InvalidationScope) -> Bool {
        switch (left, right) {
        case (.key(let left), .key(let right)): left == right
        case (.collection(let left, let leftPrefix), .collection(let right, let rightPrefix)):
            left == right && ByteIdentity.areEqual(leftPrefix, rightPrefix)
        case (.everything, .everything): true
        default: false
        }
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .key(let key): hasher.combine(key)
        case .collection(let collection, let prefix):
            hasher.combine(collection)
            ByteIdentity.hash(prefix, into: &hasher)
        case .everything: hasher.combine(0)
        }
    }

    /// Whether the scope reaches `key`.
    public func contains(_ key: RecordKey) -> Bool {
        switch self {
        case .key(let own): own == key
        case .collection(let collection, let prefix): collection == key.collection && key.id.utf8.starts(with: prefix.utf8)
        case .everything: true
        }
    }
}
