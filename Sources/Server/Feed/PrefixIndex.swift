/// Groups by prefixes of ids. Finds those whose prefix an id begins with.
///
/// A compressed trie: each prefix is a node, and so is each text at which prefixes part. The parent of a node is the
/// longest other node that it begins with. The prefixes of an id are the greatest prefix that is not after the id, and its
/// ancestors, as far as they are not longer than the part that it has in common with the id: each text between a text
/// and a longer one that begins with it begins with it too.
///
/// Paths have at most as many nodes as an id has bytes. A new prefix changes the parent of one node at most, however many
/// prefixes begin with it: where these part, there is a node already. Without such nodes, readers with prefixes that
/// begin with one another would make each insertion and removal as long as all of them. A search by hash for each length
/// in use would let readers of 512 lengths slow down all writes.
struct PrefixIndex: Sendable {
    /// A node other than the root has groups, or two children at least.
    private struct Node: Sendable {
        /// The text of a node with groups; empty for a node where prefixes part.
        var prefix: [UInt8] = []
        /// The bytes of the node's text.
        let length: Int
        /// The place of the parent in ``nodes``; that of the root is the root.
        var parent: Int
        var childCount = 0
        /// The exclusive or of the places of all children, and so the place of an only child.
        var children = 0
        var groups: [Int32] = []
    }

    /// Where a text is among the prefixes, or would be.
    private struct Position {
        /// The number of prefixes before the text.
        let place: Int
        /// The number of bytes that the text has in common with the prefix before the place.
        let commonBefore: Int
        /// The number of bytes that the text has in common with the prefix at the place.
        let commonAfter: Int
        /// The node whose prefix is the text.
        let node: Int?
    }

    /// The node of the empty prefix, which every id begins with.
    private static let root = 0

    private var nodes = [Node(length: 0, parent: PrefixIndex.root)]
    private var free: [Int] = []
    /// The places in ``nodes`` of the prefixes in use, in the order of their bytes, without the empty one.
    private var order: [Int] = []
    /// The number of nodes that insertions and removals have passed or moved, for tests.
    private(set) var steps = 0

    var isEmpty: Bool { nodes[Self.root].groups.isEmpty && order.isEmpty }

    /// The number of nodes without the root, less than twice the number of prefixes.
    var nodeCount: Int { nodes.count - free.count - 1 }

    /// O(log of the prefixes) comparisons, and O(length of the prefix) steps to the ancestors of a neighbor.
    mutating func insert(_ group: Int32, _ prefix: [UInt8]) {
        guard !prefix.isEmpty else { return nodes[Self.root].groups.append(group) }
        let position = search(prefix)
        if let number = position.node { return nodes[number].groups.append(group) }
        let number = makeNode(for: prefix, at: position)
        nodes[number].prefix = prefix
        nodes[number].groups.append(group)
        order.insert(number, at: position.place)
    }

    /// O(log of the prefixes) comparisons, and O(groups of the prefix).
    mutating func remove(_ group: Int32, _ prefix: [UInt8]) {
        guard !prefix.isEmpty else { return Self.remove(group, from: &nodes[Self.root].groups) }
        let position = search(prefix)
        guard let number = position.node else { return }
        Self.remove(group, from: &nodes[number].groups)
        guard nodes[number].groups.isEmpty else { return }
        order.remove(at: position.place)
        nodes[number].prefix = []
        removeUnused(number)
    }

    /// Adds the groups whose prefix the text begins with. O(log of the prefixes) comparisons, O(length of an id) steps to
    /// ancestors, and O(groups found).
    func find(prefixesOf text: String, into found: inout [Int32]) {
        var number = order.isEmpty ? Self.root : nearestPrefix(of: Array(text.utf8))
        while number != Self.root {
            found += nodes[number].groups
            number = nodes[number].parent
        }
        found += nodes[Self.root].groups
    }

    /// Adds the groups whose prefix begins with the text and is longer. O(log of the prefixes + groups found).
    func find(longerThan text: String, into found: inout [Int32]) {
        guard !order.isEmpty else { return }
        let text = Array(text.utf8)
        for number in order[search(text).place...] {
            guard Self.commonLength(nodes[number].prefix, text, from: 0) == text.count else { return }
            if nodes[number].length > text.count { found += nodes[number].groups }
        }
    }

    /// The longest node that the text begins with.
    private func nearestPrefix(of text: [UInt8]) -> Int {
        let position = search(text)
        if let number = position.node { return number }
        guard position.place > 0 else { return Self.root }
        var number = order[position.place - 1]
        while nodes[number].length > position.commonBefore { number = nodes[number].parent }
        return number
    }

    /// Finds the place of a text by binary search. The prefixes between the bounds have in common with the text what both
    /// bounds have, so no comparison looks at these bytes again.
    private func search(_ text: [UInt8]) -> Position {
        var (low, high) = (0, order.count)
        var (commonBefore, commonAfter) = (0, 0)
        while low < high {
            let middle = (low + high) / 2
            let prefix = nodes[order[middle]].prefix
            let common = Self.commonLength(prefix, text, from: min(commonBefore, commonAfter))
            if common < text.count, common == prefix.count || prefix[common] < text[common] {
                low = middle + 1
                commonBefore = common
            } else {
                high = middle
                commonAfter = common
            }
        }
        let isPresent = low < order.count && commonAfter == text.count && nodes[order[low]].length == text.count
        return Position(place: low, commonBefore: commonBefore, commonAfter: commonAfter, node: isPresent ? order[low] : nil)
    }

    // MARK: - Nodes

    /// Returns the node for a prefix that is not in use: the one where others part, or a new one.
    private mutating func makeNode(for prefix: [UInt8], at position: Position) -> Int {
        // No prefix has more in common with the new one than one of its neighbors has.
        let common = max(position.commonBefore, position.commonAfter)
        guard common > 0 else { return makeNode(length: prefix.count, parent: Self.root) }
        var branch = order[position.commonAfter == common ? position.place : position.place - 1]
        while nodes[nodes[branch].parent].length >= common {
            branch = nodes[branch].parent
            steps += 1
        }
        if nodes[branch].length > common {
            let middle = makeNode(length: common, parent: nodes[branch].parent)
            move(branch, to: middle)
            branch = middle
        }
        return common == prefix.count ? branch : makeNode(length: prefix.count, parent: branch)
    }

    private mutating func makeNode(length: Int, parent: Int) -> Int {
        let number = free.popLast() ?? nodes.count
        let node = Node(length: length, parent: parent)
        if number == nodes.count { nodes.append(node) } else { nodes[number] = node }
        nodes[parent].childCount += 1
        nodes[parent].children ^= number
        return number
    }

    /// Removes a node that has no groups and fewer than two children, and then its parent if that has become such a node.
    private mutating func removeUnused(_ number: Int) {
        guard number != Self.root, nodes[number].groups.isEmpty, nodes[number].childCount < 2 else { return }
        let parent = nodes[number].parent
        if nodes[number].childCount == 1 {
            let child = nodes[number].children
            move(child, to: parent)
        }
        nodes[parent].childCount -= 1
        nodes[parent].children ^= number
        free.append(number)
        removeUnused(parent)
    }

    /// Gives a node another parent.
    private mutating func move(_ number: Int, to parent: Int) {
        let old = nodes[number].parent
        nodes[old].childCount -= 1
        nodes[old].children ^= number
        nodes[number].parent = parent
        nodes[parent].childCount += 1
        nodes[parent].children ^= number
        steps += 1
    }

    /// Groups have no order, so the last one takes the place of the removed one.
    private static func remove(_ group: Int32, from groups: inout [Int32]) {
        guard let place = groups.firstIndex(of: group) else { return }
        groups.swapAt(place, groups.count - 1)
        groups.removeLast()
    }

    // MARK: - Bytes

    /// The number of bytes that both texts begin with, `start` at least.
    private static func commonLength(_ first: [UInt8], _ second: [UInt8], from start: Int) -> Int {
        let end = min(first.count, second.count)
        return first.withUnsafeBytes { (first: UnsafeRawBufferPointer) -> Int in
            second.withUnsafeBytes { (second: UnsafeRawBufferPointer) -> Int in
                var length = start
                while length + 8 <= end {
                    let difference = word(first, length) ^ word(second, length)
                    guard difference == 0 else { return length + difference.trailingZeroBitCount / 8 }
                    length += 8
                }
                while length < end, first[length] == second[length] { length += 1 }
                return length
            }
        }
    }

    /// Eight bytes, of which the first is the lowest.
    private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
}
