/// Which feeds give up their recent changes when those of all feeds together take too many bytes: the ones unused for longest. The store answers
/// what they could.
struct RecentBudget: Hashable, Sendable {
    /// What one feed holds, and when it was last asked, in monotonic milliseconds.
    struct Holding: Hashable, Sendable {
        var bytes: Int
        var lastUse: Int64
    }

    /// The most bytes of all feeds.
    let bytes: Int

    /// The places of the holdings that go, the longest unused first: enough for a quarter of the budget to be free, so that not every commit has to
    /// look again. None while the budget is kept. O(n log n).
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
