/// Which node waits for which. A node may wait for several at once, and more than once for the same one.
///
/// Without a node that waits for itself, directly or through others, every wait ends once the nodes that wait for
/// nothing have ended.
struct WaitGraph<Node: Hashable & Sendable>: Sendable {
    private var waits: [Node: [Node: Int]] = [:]

    var isEmpty: Bool { waits.isEmpty }

    /// Adds a wait, unless it would close a cycle. O(waits).
    ///
    /// - Parameter hasEnded: whether a node has ended: then it waits for nothing, although its waits are still listed.
    /// - Returns: the cycle that the wait would close, each node waiting for the next one: from the awaited to the
    ///   waiting node. Nil if the wait was added.
    mutating func add(_ waiting: Node, for awaited: Node, hasEnded: (Node) -> Bool) -> [Node]? {
        if let path = path(from: awaited, to: waiting, hasEnded) { return path }
        waits[waiting, default: [:]][awaited, default: 0] += 1
        return nil
    }

    /// Removes a wait that was added.
    mutating func remove(_ waiting: Node, for awaited: Node) {
        guard let count = waits[waiting]?[awaited] else { return }
        waits[waiting]?[awaited] = count > 1 ? count - 1 : nil
        if waits[waiting]?.isEmpty == true { waits[waiting] = nil }
    }

    /// A shortest path. Without recursion, since a chain may be as long as there are loads.
    private func path(from start: Node, to end: Node, _ hasEnded: (Node) -> Bool) -> [Node]? {
        var (found, previous, next) = ([start], [start: start], 0)
        while next < found.count {
            let node = found[next]
            next += 1
            if node == end { return Self.path(back: node, to: start, previous) }
            guard let awaited = waits[node]?.keys, !hasEnded(node) else { continue }
            for other in awaited where previous[other] == nil {
                previous[other] = node
                found.append(other)
            }
        }
        return nil
    }

    private static func path(back end: Node, to start: Node, _ previous: [Node: Node]) -> [Node] {
        var path = [end]
        while let last = path.last, last != start, let node = previous[last] { path.append(node) }
        return path.reversed()
    }
}
