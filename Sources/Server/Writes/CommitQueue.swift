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
    private var elements: [(element: Element, load: WriteLoad)] = []
    private var load = WriteLoad()
    private var pace: WritePace
    /// Whether whoever takes groups is at it, and will look again.
    private(set) var isDraining = false

    package init(_ limits: Limits = Limits()) {
        self.limits = limits
        pace = WritePace(fullCost: limits.groupWrites)
    }

    /// How many wait.
    package var count: Int { elements.count }

    /// Whether one more of this load would be let in.
    ///
    /// What the very next group can take always is, however slow the disk: refusing it would help nobody. What is beyond that would
    /// have to wait for several, so their time is estimated by those before.
    package func accepts(_ other: WriteLoad, now: Int64) -> Bool {
        guard !elements.isEmpty else { return true }
        let all = load + other
        if all.writes <= limits.groupWrites, all.bytes <= limits.groupBytes, elements.count < limits.waiting { return true }
        guard elements.count < limits.waiting, load.bytes <= limits.waitingBytes else { return false }
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

    /// The next group, within its bounds; empty when nothing waits, and then whoever took it stops. The group before is on disk by now,
    /// or has failed.
    package mutating func nextGroup(now: Int64) -> [Element] {
        pace.end(now: now)
        guard !elements.isEmpty else {
            isDraining = false
            return []
        }
        var group = WriteLoad()
        var count = 0
        for (_, next) in elements {
            let sum = group + next
            if count > 0, sum.writes > limits.groupWrites || sum.bytes > limits.groupBytes { break }
            group = sum
            count += 1
        }
        let taken = elements[..<count].map(\.element)
        elements.removeSubrange(..<count)
        load -= group
        pace.begin(group, now: now)
        return taken
    }
}

extension CommitQueue: Sendable where Element: Sendable {}
