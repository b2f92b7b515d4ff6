/// A cache of recently used rows within a bound of memory, in two generations. New entries go into the younger one;
/// when it takes half of the bound, it replaces the older one, whose entries are evicted. An entry of the older
/// generation that is used is copied into the younger one. Every call takes O(1).
struct TwoGenerationCache<Key: Hashable, Row> {
    private let limit: Int
    private let price: (Key) -> Int
    private var younger: [Key: Row] = [:]
    private var older: [Key: Row] = [:]
    /// The entry that was found last, by its position in the younger generation: mostly the next to be kept.
    private var found: (key: Key, index: Dictionary<Key, Row>.Index)?
    /// The bytes that the younger generation takes.
    private var cost = 0

    /// - Parameters:
    ///   - limit: about how many bytes the cache may take.
    ///   - price: about how many bytes an entry takes.
    init(limit: Int, price: @escaping (Key) -> Int) {
        self.limit = limit
        self.price = price
    }

    /// The number of entries; one that is in both generations counts twice.
    var count: Int { younger.count + older.count }

    mutating func row(forKey key: Key) -> Row? {
        if let index = younger.index(forKey: key) {
            found = (key, index)
            return younger.values[index]
        }
        guard let row = older[key] else { return nil }
        keep(row, forKey: key)
        return row
    }

    mutating func keep(_ row: Row, forKey key: Key) {
        if let found, found.key == key {
            younger.values[found.index] = row
            return
        }
        // A new entry may move the others.
        found = nil
        guard younger.updateValue(row, forKey: key) == nil else { return }
        cost += price(key)
        guard cost > limit / 2 else { return }
        older = younger
        younger = [:]
        cost = 0
    }

    mutating func forget(_ key: Key) {
        found = nil
        if younger.removeValue(forKey: key) != nil { cost -= price(key) }
        older.removeValue(forKey: key)
    }

    mutating func forgetAll() {
        found = nil
        younger.removeAll()
        older.removeAll()
        cost = 0
    }
}
