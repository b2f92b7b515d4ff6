internal import FreshetWire

/// What holds the keys that were written or looked up lately, so that the next write to one need not ask the file.
///
/// It belongs to the writer, which alone changes records. It knows records only, neither tombstones nor keys that nothing holds: so
/// compaction, which removes tombstones, never makes it wrong, and neither does a drop, for the number of a namespace is never used
/// again.
///
/// Its bound is kept by two generations: new entries go into the younger, and when that has half of all, the older is let go and the
/// younger takes its place. What is used meanwhile comes over. Every call takes O(1).
final class OccupantCache {
    private struct Place: Hashable {
        var namespace: Int64
        var key: RecordKey

        /// About what an entry takes in memory: its share of a dictionary that is half full, and the texts.
        var cost: Int { 200 + key.collection.utf8.count + key.id.utf8.count }
    }

    private let limit: Int
    private var younger: [Place: Occupant] = [:]
    private var older: [Place: Occupant] = [:]
    /// The entry that was found last, by its place in the younger generation: a write keeps what it has just looked up.
    private var found: (place: Place, index: Dictionary<Place, Occupant>.Index)?
    /// What the younger generation takes, in bytes.
    private var cost = 0

    /// - Parameter limit: how many bytes it may take, about.
    init(limit: Int) { self.limit = limit }

    /// How many entries it has; one that is in both generations counts twice.
    var count: Int { younger.count + older.count }

    /// The record that holds the key; none if that is not known.
    func occupant(of key: RecordKey, in namespace: Int64) -> Occupant? {
        let place = Place(namespace: namespace, key: key)
        if let index = younger.index(forKey: place) {
            found = (place, index)
            return younger.values[index]
        }
        guard let occupant = older[place] else { return nil }
        keep(occupant, at: place)
        return occupant
    }

    /// Remembers the record that holds the key now, or forgets what did if it is a tombstone.
    func keep(_ occupant: Occupant, of key: RecordKey, in namespace: Int64) {
        let place = Place(namespace: namespace, key: key)
        if occupant.size == nil { forget(place) } else { keep(occupant, at: place) }
    }

    func forget(_ key: RecordKey, in namespace: Int64) { forget(Place(namespace: namespace, key: key)) }

    func forgetAll() {
        found = nil
        younger.removeAll()
        older.removeAll()
        cost = 0
    }

    private func keep(_ occupant: Occupant, at place: Place) {
        if let found, found.place == place {
            younger.values[found.index] = occupant
            return
        }
        // What is added may move the others.
        found = nil
        guard younger.updateValue(occupant, forKey: place) == nil else { return }
        cost += place.cost
        guard cost > limit / 2 else { return }
        older = younger
        younger = [:]
        cost = 0
    }

    private func forget(_ place: Place) {
        found = nil
        if younger.removeValue(forKey: place) != nil { cost -= place.cost }
        older.removeValue(forKey: place)
    }
}
