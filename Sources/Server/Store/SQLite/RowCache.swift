internal import FreshetWire

/// The records under keys that were written or looked up recently, so that the next write to one need not read the
/// file.
///
/// The cache belongs to the writer, which alone changes records. It has records only, neither tombstones nor free keys.
/// So compaction, which removes tombstones, never makes it wrong, and neither does a drop, since the number of a
/// namespace is never used again. Every call takes O(1).
final class RowCache {
    private struct Key: Hashable {
        var namespace: Int64
        var key: RecordKey
    }

    private var rows: TwoGenerationCache<Key, ExistingRow>

    /// - Parameter limit: about how many bytes the cache may take.
    init(limit: Int) {
        // An entry's share of a dictionary that is half full, and the texts.
        rows = TwoGenerationCache(limit: limit) { 200 + $0.key.collection.utf8.count + $0.key.id.utf8.count }
    }

    /// The number of entries; one that was used again recently counts twice.
    var count: Int { rows.count }

    /// The record that holds the key; `nil` if it is not cached.
    func existingRow(of key: RecordKey, in namespace: Int64) -> ExistingRow? { rows.row(forKey: Key(namespace: namespace, key: key)) }

    /// Remembers the record that holds the key now, or forgets the earlier one if `existing` is a tombstone.
    func keep(_ existing: ExistingRow, of key: RecordKey, in namespace: Int64) {
        let key = Key(namespace: namespace, key: key)
        if existing.size == nil { rows.forget(key) } else { rows.keep(existing, forKey: key) }
    }

    func forget(_ key: RecordKey, in namespace: Int64) { rows.forget(Key(namespace: namespace, key: key)) }

    func forgetAll() { rows.forgetAll() }
}
