/// The collections whose lists, read for observers, got a wrong response: one that is no list, or that has a record which is too
/// large for the client.
///
/// Such a list is read again a few times, since a proxy may have cut the response. The reason may last too, and a list of
/// many records costs many requests: after that it waits until the client is live again.
struct WrongLists {
    /// The most times that a list is read again in a row while the client stays live.
    static let mostRepeats = 8

    private var counts: [String: Int] = [:]

    /// Counts a wrong response. Returns whether the list is to be read again while the client stays live.
    mutating func note(_ collection: String) -> Bool {
        let count = counts[collection, default: 0] + 1
        counts[collection] = count
        return count <= Self.mostRepeats
    }

    /// Forgets a collection whose list was read.
    mutating func forget(_ collection: String) { counts[collection] = nil }

    /// Forgets all collections, and returns those whose lists wait until the client is live again.
    mutating func takeAbandoned() -> [String] {
        defer { counts = [:] }
        return counts.filter { $0.value > Self.mostRepeats }.map(\.key)
    }
}
