internal import FreshetWire

/// The rows of devices that wrote recently, so that the next batch of one need not read the file.
///
/// The cache belongs to the writer, which alone changes the rows. A drop of a namespace never makes it wrong, since the
/// namespace's number is not used again. Every call takes O(1).
final class ClientCache {
    /// A device's row.
    struct Row {
        let id: Int64
        /// The number of its last write.
        var last: Int64
        /// The day of its last write; `nil` while no outcomes of it are kept.
        var day: Int64?
        /// `nil` if the name has no owner.
        var owner: ClientOwner?
        /// Outcomes of numbers up to here were removed; 0 if unknown.
        var removed: Int64 = 0
    }

    private struct Key: Hashable {
        var namespace: Int64
        var client: ClientIdentifier
    }

    private var rows: TwoGenerationCache<Key, Row>

    /// - Parameter limit: about how many bytes the cache may take.
    init(limit: Int) { rows = TwoGenerationCache(limit: limit) { 200 + $0.client.text.utf8.count } }

    /// The device's row; `nil` if it is not cached.
    func row(of client: ClientIdentifier, in namespace: Int64) -> Row? { rows.row(forKey: Key(namespace: namespace, client: client)) }

    func keep(_ row: Row, of client: ClientIdentifier, in namespace: Int64) {
        rows.keep(row, forKey: Key(namespace: namespace, client: client))
    }

    /// Forgets the row of a client, since the changes of it were undone.
    func forget(_ client: ClientIdentifier, in namespace: Int64) { rows.forget(Key(namespace: namespace, client: client)) }

    func forgetAll() { rows.forgetAll() }
}
