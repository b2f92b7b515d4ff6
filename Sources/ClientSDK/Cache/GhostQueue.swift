/// Remembers the keys that were evicted lately, by their hashes: one that comes again soon deserves a better place.
///
/// A ring with an index; the oldest falls out. A collision of hashes costs a wrong guess, never a wrong value.
struct GhostQueue {
    private var ring: [Int] = []
    private var next = 0
    /// How often each hash stands in the ring.
    private var index: [Int: Int32] = [:]
    private let capacity: Int

    init(capacity: Int) { self.capacity = max(1, capacity) }

    mutating func insert(_ hash: Int) {
        if ring.count < capacity {
            ring.append(hash)
        } else {
            forget(ring[next])
            ring[next] = hash
            next = (next + 1) % capacity
        }
        index[hash, default: 0] += 1
    }

    func contains(_ hash: Int) -> Bool { index[hash] != nil }

    mutating func removeAll() {
        ring.removeAll()
        index.removeAll()
        next = 0
    }

    private mutating func forget(_ hash: Int) {
        guard let count = index[hash] else { return }
        index[hash] = count > 1 ? count - 1 : nil
    }
}
