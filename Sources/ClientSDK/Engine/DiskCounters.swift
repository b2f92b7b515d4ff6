internal import Synchronization

/// Counts of the disk tier's reads and evictions, updated from any thread.
final class DiskCounters: Sendable {
    let hits = Atomic(0)
    let misses = Atomic(0)
    let evictions = Atomic(0)

    /// Counts a read of one key.
    func note(isHit: Bool) {
        if isHit { hits.add(1, ordering: .relaxed) } else { misses.add(1, ordering: .relaxed) }
    }
}
