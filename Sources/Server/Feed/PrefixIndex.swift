/// Groups by prefixes of ids. Finds those whose prefix an id begins with.
///
/// The prefixes are sorted by their bytes, and each knows the longest other one that it begins with, its parent. The
/// prefixes of an id are then the greatest prefix that is not after the id, and its ancestors, as far as they are not
/// longer than the part that it has in common with the id: each text between a text and a longer one that begins with it
/// begins with it too. A search by hash for each length in use would let readers of 512 lengths slow down all writes.
struct PrefixIndex: Sendable {
    private struct Node: Sendable {
        let prefix: [UInt8]
        /// The place in ``nodes`` of the longest other prefix that this one begins with.
        var parent: Int?
        var groups: [Int32]
    }

    /// The groups with the empty prefix, which every id begins with.
    private var whole: [Int32] = []
    private var nodes: [Node] = []
    private var free: [Int] = []
    /// The places in ``nodes`` of the prefixes in use, in the order of their bytes.
    private var order: [Int] = []

    var isEmpty: Bool { whole.isEmpty && order.isEmpty }

    /// O(prefixes) for a prefix that is not in use yet, else O(log of the prefixes).
    mutating func insert(_ group: Int32, _ prefix: String.UTF8View) {
        guard !prefix.isEmpty else { return whole.append(group) }
        let prefix = Array(prefix)
        let place = count(before: prefix)
        if place < order.count, nodes[order[place]].prefix == prefix { return nodes[order[place]].groups.append(group) }
        let node = Node(prefix: prefix, parent: nearestPrefix(of: prefix, at: place), groups: [group])
        let number = free.popLast() ?? nodes.count
        if number == nodes.count { nodes.append(node) } else { nodes[number] = node }
        for child in order[place...].prefix(while: { nodes[$0].prefix.starts(with: prefix) }) where nodes[child].parent == node.parent {
            nodes[child].parent = number
        }
        order.insert(number, at: place)
    }

    /// O(prefixes + groups of the prefix).
    mutating func remove(_ group: Int32, _ prefix: String.UTF8View) {
        guard !prefix.isEmpty else { return Self.remove(group, from: &whole) }
        let prefix = Array(prefix)
        let place = count(before: prefix)
        guard place < order.count, nodes[order[place]].prefix == prefix else { return }
        let number = order[place]
        Self.remove(group, from: &nodes[number].groups)
        guard nodes[number].groups.isEmpty else { return }
        order.remove(at: place)
        for child in order[place...].prefix(while: { nodes[$0].prefix.starts(with: prefix) }) where nodes[child].parent == number {
            nodes[child].parent = nodes[number].parent
        }
        free.append(number)
    }

    /// Adds the groups whose prefix the text begins with. O(log of the prefixes + prefixes within one of them + groups
    /// found).
    func find(prefixesOf text: String, into found: inout [Int32]) {
        found += whole
        guard !order.isEmpty else { return }
        let text = Array(text.utf8)
        let place = count(before: text)
        if place < order.count, nodes[order[place]].prefix == text { found += nodes[order[place]].groups }
        var next = nearestPrefix(of: text, at: place)
        while let number = next {
            found += nodes[number].groups
            next = nodes[number].parent
        }
    }

    /// Adds the groups whose prefix begins with the text and is longer. O(log of the prefixes + groups found).
    func find(longerThan text: String, into found: inout [Int32]) {
        guard !order.isEmpty else { return }
        let text = Array(text.utf8)
        for number in order[count(before: text)...] {
            let prefix = nodes[number].prefix
            guard prefix.starts(with: text) else { return }
            if prefix.count > text.count { found += nodes[number].groups }
        }
    }

    /// The node of the longest prefix that the text begins with and that is shorter; `place` is the number of prefixes
    /// before the text.
    private func nearestPrefix(of text: [UInt8], at place: Int) -> Int? {
        guard place > 0 else { return nil }
        var node: Int? = order[place - 1]
        let common = Self.commonLength(nodes[order[place - 1]].prefix, text)
        while let number = node, nodes[number].prefix.count > common { node = nodes[number].parent }
        return node
    }

    /// Groups have no order, so the last one takes the place of the removed one.
    private static func remove(_ group: Int32, from groups: inout [Int32]) {
        guard let place = groups.firstIndex(of: group) else { return }
        groups.swapAt(place, groups.count - 1)
        groups.removeLast()
    }

    private static func commonLength(_ first: [UInt8], _ second: [UInt8]) -> Int {
        var length = 0
        while length < first.count, length < second.count, first[length] == second[length] { length += 1 }
        return length
    }

    /// How many prefixes are before the text.
    private func count(before text: [UInt8]) -> Int {
        var (low, high) = (0, order.count)
        while low < high {
            let middle = (low + high) / 2
            if nodes[order[middle]].prefix.lexicographicallyPrecedes(text) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
