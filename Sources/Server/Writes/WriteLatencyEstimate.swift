/// Estimates how long one more write would have to wait, from the time that recent groups took to commit. A pure value.
///
/// Only large groups count, and those for which a transaction had no time or room. Of a small group nearly all the time
/// is the disk's answer, which many writes share.
package struct WriteLatencyEstimate: Sendable {
    /// A group of this cost or more determines the pace.
    private let significantCost: Int
    /// Nanoseconds for each unit of cost: those of a rather slow disk, until a large group was committed.
    private var pace = 50_000.0
    /// The group that is being committed: its cost, its start, and whether a part of it was left over.
    private var current: (cost: Int, start: Int64, isCut: Bool)?

    /// - Parameter fullCost: the cost of a group with as many writes as one may have.
    package init(fullCost: Int) { significantCost = max(fullCost / 2, 1) }

    /// Records that a group is on its way to the disk.
    package mutating func begin(_ load: WriteLoad, now: Int64) { current = (load.cost, now, false) }

    /// Corrects the cost of the current group. The transaction has left this much of the group over, and has touched so
    /// many bytes of values in addition to those that the group holds.
    package mutating func correct(leftOver: WriteLoad, touched: Int) {
        guard let (cost, start, _) = current else { return }
        current = (max(cost - leftOver.cost + WriteLoad(bytes: touched).cost, 1), start, leftOver != WriteLoad())
    }

    /// Records that the group is on disk, or has failed.
    package mutating func end(now: Int64) {
        guard let (cost, start, isCut) = current else { return }
        current = nil
        guard isCut || cost >= significantCost else { return }
        let latest = Double(now - start) / Double(cost)
        // The mean of both, so that one pause of the disk is forgotten after a few groups.
        pace = (pace + latest) / 2
    }

    /// Nanoseconds until the writes that wait would be on disk.
    package func wait(for waiting: WriteLoad, now: Int64) -> Int64 {
        var wait = Double(waiting.cost) * pace
        // A group that is late is expected to take as long again as it is late already.
        if let (cost, start, _) = current { wait += abs(Double(cost) * pace - Double(now - start)) }
        return Int64(min(wait, 1e18))
    }
}
