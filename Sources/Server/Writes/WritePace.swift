/// How long writes take, by the groups that were committed lately; and so how long one more would have to wait. A pure value.
///
/// Only large groups count, and those that a transaction had no time or room for: of a small one nearly all the time is the disk's answer, which
/// many share.
package struct WritePace: Sendable {
    /// A group of this cost or more tells the pace.
    private let tellingCost: Int
    /// Nanoseconds for each unit of cost: those of a rather slow disk, until a large group was committed.
    private var pace = 50_000.0
    /// The group that is on its way: what it costs, since when, and whether a part of it was left over.
    private var current: (cost: Int, start: Int64, isCut: Bool)?

    /// - Parameter fullCost: what a group costs that has as many writes as one may.
    package init(fullCost: Int) { tellingCost = max(fullCost / 2, 1) }

    /// A group is on its way to the disk.
    package mutating func begin(_ load: WriteLoad, now: Int64) { current = (load.cost, now, false) }

    /// The transaction has left this much of the group over, and has touched so many bytes of values beside those that the group holds.
    package mutating func correct(leftOver: WriteLoad, touched: Int) {
        guard let (cost, start, _) = current else { return }
        current = (max(cost - leftOver.cost + WriteLoad(bytes: touched).cost, 1), start, leftOver != WriteLoad())
    }

    /// The group is on disk, or has failed.
    package mutating func end(now: Int64) {
        guard let (cost, start, isCut) = current else { return }
        current = nil
        guard isCut || cost >= tellingCost else { return }
        let latest = Double(now - start) / Double(cost)
        // Half of each, so that one pause of the disk is forgotten after a few groups.
        pace = (pace + latest) / 2
    }

    /// Nanoseconds until what waits would be on disk.
    package func wait(for waiting: WriteLoad, now: Int64) -> Int64 {
        var wait = Double(waiting.cost) * pace
        // A group that is late is expected to take as long again as it is late.
        if let (cost, start, _) = current { wait += abs(Double(cost) * pace - Double(now - start)) }
        return Int64(min(wait, 1e18))
    }
}
