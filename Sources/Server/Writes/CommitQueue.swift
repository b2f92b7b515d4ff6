/// The submissions that wait for the disk, and whether another may join them. A pure value: its events carry the time,
/// in nanoseconds that never go back.
///
/// Elements wait in two lanes, each in the order of their submission: short ones, and those that are large, have several
/// edits, or turned out to be large. The lanes take turns, so a short write waits for one long transaction and is not
/// part of it. If a transaction did enough before the end of its group, some element had edits of large values: what it
/// has left of that one, and the edits behind it, are long. The other elements keep their places, or else one client's
/// edits would hold them up.
package struct CommitQueue<Element> {
    /// The bounds of the queue, and of one group.
    package struct Limits: Hashable, Sendable {
        /// The most elements that may wait.
        package var waiting = 10_000
        /// The most bytes of values that may wait.
        package var waitingBytes = 256 << 20
        /// The most writes that one group takes; an element that is larger goes alone.
        package var groupWrites = 4_096
        /// The most bytes of values that one group takes.
        package var groupBytes = 16 << 20
        /// The most bytes of values of an element that waits in the lane of short ones, and of a group from the other lane unless
        /// it has one element: short ones wait until its transaction has ended.
        package var shortBytes = 256 << 10
        /// The most writes of an element that waits in the lane of short ones: a batch of a device has no more, and an invalidation may
        /// have ten times as many.
        package var shortWrites = 1_000
        /// The longest that an element may have to wait, in nanoseconds, unless no more waits than one group may have.
        package var wait: Int64 = 500_000_000

        package init() {}
    }

    private let limits: Limits
    private typealias Waiting = (element: Element, load: WriteLoad)
    private var short: [Waiting] = []
    /// Large elements, those with several edits, and those with one for which an earlier transaction had no time or room.
    private var long: [Waiting] = []
    /// Whether the latest group came from the long lane. Initially true, so that the short lane begins.
    private var wasLong = true
    private var load = WriteLoad()
    private var pace: WriteLatencyEstimate

    package init(_ limits: Limits = Limits()) {
        self.limits = limits
        pace = WriteLatencyEstimate(fullCost: limits.groupWrites)
    }

    /// The number of elements that wait.
    package var count: Int { short.count + long.count }

    /// The bytes of values that wait.
    package var waitingBytes: Int { load.bytes }

    /// Whether another element of this load is accepted.
    ///
    /// While no more waits than one group may have, every element is accepted, however slow the disk: refusing it would help
    /// nobody. One beyond that would have to wait for several groups, whose time is estimated from earlier ones.
    package func accepts(_ other: WriteLoad, now: Int64) -> Bool {
        guard count > 0 else { return true }
        let all = load + other
        if all.writes <= limits.groupWrites, all.bytes <= limits.groupBytes, count < limits.waiting { return true }
        guard count < limits.waiting, load.bytes <= limits.waitingBytes else { return false }
        return pace.wait(for: all, now: now) <= limits.wait
    }

    /// Appends an element, whether or not it would be accepted.
    package mutating func append(_ element: Element, _ other: WriteLoad) {
        let isShort = other.bytes <= limits.shortBytes && other.edits <= 1 && other.writes <= limits.shortWrites
        if isShort { short.append((element, other)) } else { long.append((element, other)) }
        load += other
    }

    /// Puts back the last elements of the previous group, in their order, for which the transaction had no time or
    /// room.
    ///
    /// - Parameters:
    ///   - isFirstBegun: whether the first is what the transaction has left of an element. It comes after the others, so
    ///     that they wait for one part of it.
    ///   - touched: how many bytes of values the transaction has touched; see ``WriteApplier/touched``.
    package mutating func putBack(_ rest: [(element: Element, load: WriteLoad)], isFirstBegun: Bool, touched: Int) {
        let left = rest.reduce(WriteLoad()) { $0 + $1.load }
        load += left
        pace.correct(leftOver: left, touched: touched)
        let untouched = rest.dropFirst(isFirstBegun ? 1 : 0)
        if wasLong {
            long.insert(contentsOf: untouched, at: 0)
        } else {
            long += untouched.filter { $0.load.edits > 0 }
            short.insert(contentsOf: untouched.filter { $0.load.edits == 0 }, at: 0)
        }
        if isFirstBegun { long += rest.prefix(1) }
    }

    /// The previous group is on disk, or has failed.
    package mutating func endGroup(now: Int64) { pace.end(now: now) }

    /// The next group, within its bounds; empty if nothing waits. By now the previous group has ended.
    package mutating func nextGroup(now: Int64) -> [Element] {
        pace.end(now: now)
        guard count > 0 else {
            wasLong = true
            return []
        }
        wasLong = short.isEmpty || !long.isEmpty && !wasLong
        let group =
            wasLong
            ? Self.takeGroup(from: &long, writes: limits.groupWrites, bytes: limits.shortBytes)
            : Self.takeGroup(from: &short, writes: limits.groupWrites, bytes: limits.groupBytes)
        load -= group.load
        pace.begin(group.load, now: now)
        return group.elements
    }

    private static func takeGroup(from waiting: inout [Waiting], writes: Int, bytes: Int) -> (elements: [Element], load: WriteLoad) {
        var group = WriteLoad()
        var count = 0
        for (_, next) in waiting {
            let sum = group + next
            if count > 0, sum.writes > writes || sum.bytes > bytes { break }
            group = sum
            count += 1
        }
        let taken = waiting[..<count].map(\.element)
        waiting.removeSubrange(..<count)
        return (taken, group)
    }
}

extension CommitQueue: Sendable where Element: Sendable {}
