/// Remembers the keys that were evicted lately, by their hashes: one that comes again soon deserves a better place.
///
/// A ring of hashes with an index of positions in it, open addressing with linear probing: at most 20 bytes for each.
/// A collision of hashes costs a wrong guess, never a wrong value.
@usableFromInline
struct GhostRing: Sendable {
    @usableFromInline var ring: [Int] = []
    /// Positions in the ring and one; zero where nothing is.
    @usableFromInline var index: [UInt32] = []
    /// How many stand in the ring, the oldest at `start`.
    @usableFromInline var count = 0
    @usableFromInline var start = 0

    @inlinable
    init() {}

    /// Whether the hash is among those remembered. O(1).
    @inlinable
    func contains(_ hash: Int) -> Bool { count > 0 && index[cell(of: hash)] != 0 }

    /// Remembers a hash, and forgets the oldest beyond the capacity. O(1) amortised.
    @inlinable
    mutating func insert(_ hash: Int, capacity: Int) {
        while count >= max(1, capacity) { forgetOldest() }
        if count == ring.count { grow() }
        let position = (start + count) & (ring.count - 1)
        ring[position] = hash
        count += 1
        // An older mention of the same hash is no longer found, and its leaving the ring changes nothing.
        index[cell(of: hash)] = UInt32(position + 1)
    }

    @inlinable
    mutating func removeAll() { self = GhostRing() }

    /// The index's cell that names the hash, or the one where it would stand.
    @inlinable
    func cell(of hash: Int) -> Int {
        let mask = index.count - 1
        var cell = home(of: hash)
        while index[cell] != 0, ring[Int(index[cell]) - 1] != hash { cell = (cell + 1) & mask }
        return cell
    }

    /// Of the upper bits: the lower ones chose the shard.
    @inlinable
    func home(of hash: Int) -> Int { (hash >> 16) & (index.count - 1) }

    @inlinable
    mutating func forgetOldest() {
        let cell = cell(of: ring[start])
        if Int(index[cell]) == start + 1 { removeCell(cell) }
        start = (start + 1) & (ring.count - 1)
        count -= 1
    }

    @inlinable
    mutating func removeCell(_ cell: Int) {
        let mask = index.count - 1
        var (gap, next) = (cell, (cell + 1) & mask)
        while index[next] != 0 {
            if (next &- home(of: ring[Int(index[next]) - 1])) & mask >= (next &- gap) & mask {
                index[gap] = index[next]
                gap = next
            }
            next = (next + 1) & mask
        }
        index[gap] = 0
    }

    @usableFromInline
    mutating func grow() {
        let hashes = (0..<count).map { ring[(start + $0) & (ring.count - 1)] }
        let size = max(16, ring.count * 2)
        ring = hashes + Array(repeating: 0, count: size - count)
        index = Array(repeating: 0, count: size * 2)
        start = 0
        for position in 0..<count { index[cell(of: ring[position])] = UInt32(position + 1) }
    }
}
