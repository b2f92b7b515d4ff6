/// The submissions that wait for the disk, and whether another may join them. A pure value: time comes in with the events, in nanoseconds
/// that never go back.
///
/// They wait in two lanes, each in the order of its submissions: short ones, and those that are large or that a transaction has left over.
/// The lanes take turns, so a short write waits for one long transaction and does not share it.
package struct CommitQueue<Element> {
    /// What may wait, and what one group takes.
    package struct Limits: Hashable, Sendable {
        /// The most elements that may wait.
        package var waiting = 10_000
        /// The most bytes of values that may wait.
        package var waitingBytes = 256 << 20
        /// The most writes that one group takes; an element that is larger goes alone.
        package var groupWrites = 4_096
        /// The most bytes of values that one group takes.
        package var groupBytes = 16 << 20
        /// The most bytes of values of an element that waits in the lane of short ones.
        package var shortBytes = 256 << 10
        /// The longest that an element may have to wait, in nanoseconds, unless the very next group can take it.
        package var wait: Int64 = 500_000_000

        package init() {}
    }

    private let limits: Limits
    private typealias Waiting = (element: Element, load: WriteLoad)
    private var short: [Waiting] = []
    /// Large elements, and those that a transaction had taken and had no room for.
    private var long: [Waiting] = []
    /// Whether the latest group was of the long ones. The short ones begin.
    private var wasLong = true
    private var load = WriteLoad()
    private var pace: WritePace
    /// Whether whoever takes groups is at it, and will look again.
    private(set) var isDraining = false

    package init(_ limits: Limits = Limits()) {
        self.limits = limits
        pace = WritePace(fullCost: limits.groupWrites)
    }

    /// How many wait.
    package var count: Int { short.count + long.count }

    /// Whether one more of this load would be let in.
    ///
    /// What the very next group can take always is, however slow the disk: refusing it would help nobody. What is beyond that would
    /// have to wait for several, so their time is estimated by those before.
    package func accepts(_ other: WriteLoad, now: Int64) -> Bool {
        guard count > 0 else { return true }
        let all = load + other
        if all.writes <= limits.groupWrites, all.bytes <= limits.groupBytes, count < limits.waiting { return true }
        guard count < limits.waiting, load.bytes <= limits.waitingBytes else { return false }
        return pace.wait(for: all, now: now) <= limits.wait
    }

    /// Takes an element in, whether or not it would be accepted.
    ///
    /// - Returns: whether somebody has to begin to take groups.
    package mutating func append(_ element: Element, _ other: WriteLoad) -> Bool {
        if other.bytes <= limits.shortBytes { short.append((element, other)) } else { long.append((element, other)) }
        load += other
        defer { isDraining = true }
        return !isDraining
    }

    /// Takes back the last of the group that was taken before, in their order, which the transaction had no time or room for.
    ///
    /// - Parameter touched: how many bytes of values the transaction has touched; see ``WriteApplier/touched``.
    package mutating func putBack(_ rest: [(element: Element, load: WriteLoad)], touched: Int) {
        let left = rest.reduce(WriteLoad()) { $0 + $1.load }
        load += left
        pace.correct(leftOver: left, touched: touched)
        long.insert(contentsOf: rest, at: wasLong ? 0 : long.count)
    }

    /// The next group, within its bounds; empty when nothing waits, and then whoever took it stops. The group before is on disk by now,
    /// or has failed.
    package mutating func nextGroup(now: Int64) -> [Element] {
        pace.end(now: now)
        guard count > 0 else {
            (isDraining, wasLong) = (false, true)
            return []
        }
        wasLong = short.isEmpty || !long.isEmpty && !wasLong
        let group = wasLong ? Self.takeGroup(from: &long, limits) : Self.takeGroup(from: &short, limits)
        load -= group.load
        pace.begin(group.load, now: now)
        return group.elements
    }

    private static func takeGroup(from waiting: inout [Waiting], _ limits: Limits) -> (elements: [Element], load: WriteLoad) {
        var group = WriteLoad()
        var count = 0
        for (_, next) in waiting {
            let sum = group + next
            if count > 0, sum.writes > limits.groupWrites || sum.bytes > limits.groupBytes { break }
            group = sum
            count += 1
        }
        let taken = waiting[..<count].map(\.element)
        waiting.removeSubrange(..<count)
        return (taken, group)
    }
}

extension CommitQueue: Sendable where Element: Sendable {}
