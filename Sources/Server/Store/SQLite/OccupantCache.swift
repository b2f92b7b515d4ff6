internal import FreshetWire

/// What holds the keys that were written or looked up lately, so that the next write to one need not ask the file.
///
/// It belongs to the writer, which alone changes records. It knows records only, neither tombstones nor keys that nothing holds: so
/// compaction, which removes tombstones, never makes it wrong, and neither does a drop, for the number of a namespace is never used
/// again. Every call takes O(1).
final class OccupantCache {
    private struct Place: Hashable {
        var namespace: Int64
        var key: RecordKey
    }

    private var rows: RecentRows<Place, Occupant>

    /// - Parameter limit: how many bytes it may take, about.
    init(limit: Int) {
        // An entry's share of a dictionary that is half full, and the texts.
        rows = RecentRows(limit: limit) { 200 + $0.key.collection.utf8.count + $0.key.id.utf8.count }
    }

    /// How many entries it has; one that was used again lately counts twice.
    var count: Int { rows.count }

    /// The record that holds the key; none if that is not known.
    func occupant(of key: RecordKey, in namespace: Int64) -> Occupant? { rows.row(at: Place(namespace: namespace, key: key)) }

    /// Remembers the record that holds the key now, or forgets what did if it is a tombstone.
    func keep(_ occupant: Occupant, of key: RecordKey, in namespace: Int64) {
        let place = Place(namespace: namespace, key: key)
        if occupant.size == nil { rows.forget(place) } else { rows.keep(occupant, at: place) }
    }

    func forget(_ key: RecordKey, in namespace: Int64) { rows.forget(Place(namespace: namespace, key: key)) }

    func forgetAll() { rows.forgetAll() }
}
