/// The hashes of recently evicted keys. A remembered key that is stored again enters the main queue.
///
/// A ring of hashes and an index of positions in it, with open addressing and linear probing: 16 bytes for each place
/// of the ring, which has at most three for each hash remembered (and at least 16). A collision of hashes costs a wrong
/// guess, never a wrong value.
@usableFromInline
struct GhostRing: Sendable {
    @usableFromInline var ring: [Int] = []
    /// Positions in the ring plus one; zero is an empty cell.
    @usableFromInline var index: [UInt32] = []
    /// The number of used places in the ring, the oldest at `start`, including removed and superseded hashes.
    @usableFromInline var filled = 0
    /// The number of hashes remembered.
    @usableFromInline var count = 0
    @usableFromInline var start = 0

    @inlinable
    init() {}

    /// Whether nothing has been evicted yet.
    @inlinable
    var isUnused: Bool { ring.isEmpty }

    /// Whether the hash is among those remembered. O(1).
    @inlinable
    func contains(_ hash: Int) -> Bool { count > 0 && index[cell(of: hash)] != 0 }

    /// Remembers a hash, and forgets the oldest beyond the capacity. O(1) amortised.
    @inlinable
    mutating func insert(_ hash: Int, capacity: Int) {
        remove(hash)
        while count >= max(1, capacity) { forgetOldest() }
        if filled == ring.count { makeRoom() }
        let position = (start + filled) & (ring.count - 1)
        ring[position] = hash
        filled += 1
        count += 1
        index[cell(of: hash)] = UInt32(position + 1)
    }

    /// Forgets a hash. Its place in the ring stays taken until it is the oldest, or room is made. O(1).
    @inlinable
    mutating func remove(_ hash: Int) {
        guard count > 0 else { return }
        let cell = cell(of: hash)
        guard index[cell] != 0 else { return }
        removeCell(cell)
        count -= 1
    }

    @inlinable
    mutating func removeAll() { self = GhostRing() }

    /// The index's cell of the hash, or the cell where it would be inserted.
    @inlinable
    func cell(of hash: Int) -> Int {
        let mask = index.count - 1
        var cell = home(of: hash)
        while index[cell] != 0, ring[Int(index[cell]) - 1] != hash { cell = (cell + 1) & mask }
        return cell
    }

    /// Uses the upper bits, since the lower ones select the shard.
    @inlinable
    func home(of hash: Int) -> Int { (hash >> 16) & (index.count - 1) }

    @inlinable
    mutating func forgetOldest() {
        let cell = cell(of: ring[start])
        if Int(index[cell]) == start + 1 {
            removeCell(cell)
            count -= 1
        }
        start = (start + 1) & (ring.count - 1)
        filled -= 1
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
    mutating func makeRoom() {
        let positions = (0..<filled).map { (start + $0) & (ring.count - 1) }
        let hashes = positions.filter { Int(index[cell(of: ring[$0])]) == $0 + 1 }.map { ring[$0] }
        // Doubles unless removals have left a quarter of it free, so each place is moved O(1) times.
        let size = hashes.count > ring.count / 4 * 3 || ring.isEmpty ? max(16, ring.count * 2) : ring.count
        ring = hashes + Array(repeating: 0, count: size - hashes.count)
        index = Array(repeating: 0, count: size * 2)
        start = 0
        filled = hashes.count
        for position in hashes.indices { index[cell(of: ring[position])] = UInt32(position + 1) }
    }
}
