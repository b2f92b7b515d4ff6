/// A cache of recently used rows within a bound of memory, in two generations. New entries go into the younger one;
/// when it takes half of the bound, it replaces the older one, whose entries are evicted. An entry of the older
/// generation that is used is copied into the younger one. Every call takes O(1).
struct TwoGenerationCache<Place: Hashable, Row> {
    private let limit: Int
    private let price: (Place) -> Int
    private var younger: [Place: Row] = [:]
    private var older: [Place: Row] = [:]
    /// The entry that was found last, by its place in the younger generation: mostly the next to be kept.
    private var found: (place: Place, index: Dictionary<Place, Row>.Index)?
    /// The bytes that the younger generation takes.
    private var cost = 0

    /// - Parameters:
    ///   - limit: about how many bytes the cache may take.
    ///   - price: about how many bytes an entry takes.
    init(limit: Int, price: @escaping (Place) -> Int) {
        self.limit = limit
        self.price = price
    }

    /// The number of entries; one that is in both generations counts twice.
    var count: Int { younger.count + older.count }

    mutating func row(at place: Place) -> Row? {
        if let index = younger.index(forKey: place) {
            found = (place, index)
            return younger.values[index]
        }
        guard let row = older[place] else { return nil }
        keep(row, at: place)
        return row
    }

    mutating func keep(_ row: Row, at place: Place) {
        if let found, found.place == place {
            younger.values[found.index] = row
            return
        }
        // A new entry may move the others.
        found = nil
        guard younger.updateValue(row, forKey: place) == nil else { return }
        cost += price(place)
        guard cost > limit / 2 else { return }
        older = younger
        younger = [:]
        cost = 0
    }

    mutating func forget(_ place: Place) {
        found = nil
        if younger.removeValue(forKey: place) != nil { cost -= price(place) }
        older.removeValue(forKey: place)
    }

    mutating func forgetAll() {
        found = nil
        younger.removeAll()
        older.removeAll()
        cost = 0
    }
}
