/// Chooses the feeds whose recent changes are evicted when all feeds together take too many bytes: those unused for
/// longest. The store answers in their place.
struct RecentBudget: Hashable, Sendable {
    /// What one feed holds, and when it was last asked, in monotonic milliseconds.
    struct Holding: Hashable, Sendable {
        var bytes: Int
        var lastUse: Int64
    }

    /// The most bytes of all feeds.
    let bytes: Int

    /// The places of the holdings to evict, the longest unused first. They free a quarter of the budget, so that not
    /// every commit has to look again. Empty while the total is within the budget. O(n log n).
    func evicted(from holdings: [Holding]) -> [Int] {
        var total = holdings.reduce(0) { $0 + $1.bytes }
        guard total > bytes else { return [] }
        var places: [Int] = []
        for place in holdings.indices.sorted(by: { holdings[$0].lastUse < holdings[$1].lastUse }) {
            guard total > bytes / 4 * 3 else { break }
            guard holdings[place].bytes > 0 else { continue }
            total -= holdings[place].bytes
            places.append(place)
        }
        return places
    }
}
