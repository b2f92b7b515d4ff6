internal import FreshetWire

/// An entry on disk that may be evicted.
struct EvictionCandidate: Hashable, Sendable {
    /// Its place in the order of arrival.
    var row: Int64
    var key: RecordKey
    /// The approximate number of bytes that its eviction frees.
    var bytes: Int
    /// Whether it was read since the last check.
    var wasUsed: Bool
    /// ``Entry/isEvictable(_:)``.
    var isEvictable: Bool
}
