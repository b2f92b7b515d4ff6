/// What waits for the disk, and who may join it: first come, first served, and no longer than a writer should wait. A pure value: time
/// comes in with the events, in nanoseconds that never go back.
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
        /// The longest that an element may have to wait, in nanoseconds, unless the very next group can take it.
        package var wait: Int64 = 500_000_000

        package init() {}
    }

    private let limits: Limits
    private typealias Waiting = (element: Element, load: WriteLoad)
    private var elements: [Waiting] = []
    /// What a transaction had taken and had no room for.
    private var leftOver: [Waiting] = []
    /// Whether the group before was of what is left over: the two take turns.
    private var wasLeftOver = false
    private var load = WriteLoad()
    private var pace: WritePace
    /// Whether whoever takes groups is at it, and will look again.
    private(set) var isDraining = false

    package init(_ limits: Limits = Limits()) {
        self.limits = limits
        pace = WritePace(fullCost: limits.groupWrites)
    }

    /// How many wait.
    package var count: Int { elements.count + leftOver.count }

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
        elements.append((element, other))
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
        leftOver.insert(contentsOf: rest, at: wasLeftOver ? 0 : leftOver.count)
    }

    /// The next group, within its bounds; empty when nothing waits, and then whoever took it stops. The group before is on disk by now,
    /// or has failed.
    ///
    /// What is left over and what has come meanwhile take turns, so that neither waits for all of the other.
    package mutating func nextGroup(now: Int64) -> [Element] {
        pace.end(now: now)
        guard count > 0 else {
            (isDraining, wasLeftOver) = (false, false)
            return []
        }
        wasLeftOver = elements.isEmpty || !leftOver.isEmpty && !wasLeftOver
        let group = wasLeftOver ? Self.takeGroup(from: &leftOver, limits) : Self.takeGroup(from: &elements, limits)
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
