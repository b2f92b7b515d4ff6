package import FreshetWire

/// The submissions that wait for the writers of a store, in lanes: each lane commits one group at a time, in parallel
/// with the others. A namespace always has the same lane, so its writes keep their order, and two transactions in
/// progress share no namespace. A pure value, whose consumers are the lanes' threads.
///
/// Some elements concern the whole store. Their group is exclusive: it begins when no other group is in progress, and no
/// other begins before it has ended. While one waits, each lane that has work takes one more group, and then rests; so
/// neither kind keeps the other waiting for longer than one group of each lane.
///
/// With one lane every group is exclusive, and all elements keep their order in its queue.
package struct CommitLanes<Element> {
    /// Where an element belongs.
    package enum Destination: Hashable, Sendable {
        case lane(Int)
        /// The whole store.
        case everywhere
    }

    /// What a lane does next.
    package struct Turn {
        /// The lane's next group; empty if the lane stops until it is started again.
        package var group: [Element] = []
        /// The lanes that the caller has to start.
        package var starts: [Int] = []
    }

    fileprivate struct Lane {
        var queue: CommitQueue<Element>
        /// Whether a thread works for the lane: it is about to ask for its next turn, or has a group in progress.
        var isActive = false
        /// Whether the lane may take one more group although an exclusive one waits.
        var isOwed = false
    }

    private let limits: CommitQueue<Element>.Limits
    private var lanes: [Lane]
    /// Those that concern the whole store, if there are several lanes.
    private var exclusive: CommitQueue<Element>
    /// The lane that has the exclusive group in progress.
    private var exclusiveLane: Int?

    /// - Parameter limits: those of all lanes together, and of one group.
    package init(_ count: Int, _ limits: CommitQueue<Element>.Limits = .init()) {
        self.limits = limits
        lanes = Array(repeating: Lane(queue: CommitQueue(limits)), count: max(count, 1))
        exclusive = CommitQueue(limits)
    }

    /// The number of lanes.
    package var width: Int { lanes.count }

    /// The number of elements that wait.
    package var count: Int { lanes.reduce(exclusive.count) { $0 + $1.queue.count } }

    /// The number of lanes that have work.
    package var busyCount: Int { lanes.count { $0.isActive } }

    /// Whether no lane is active; then nothing waits.
    package var isIdle: Bool { lanes.allSatisfy { !$0.isActive } }

    /// Whether another element of this load is accepted; see ``CommitQueue/accepts(_:now:)``.
    package func accepts(_ load: WriteLoad, at place: Destination, now: Int64) -> Bool {
        let isAccepted =
            switch place {
            case .lane(let lane): lanes[lane].queue.accepts(load, now: now)
            case .everywhere where lanes.count == 1: lanes[0].queue.accepts(load, now: now)
            case .everywhere: exclusive.accepts(load, now: now)
            }
        guard isAccepted, lanes.count > 1 else { return isAccepted }
        guard count > 0 else { return true }
        let bytes = lanes.reduce(exclusive.waitingBytes) { $0 + $1.queue.waitingBytes }
        return count < limits.waiting && bytes <= limits.waitingBytes
    }

    /// Appends an element, whether or not it would be accepted.
    ///
    /// - Returns: the lane that the caller has to start, if any.
    package mutating func append(_ element: Element, _ load: WriteLoad, at place: Destination) -> Int? {
        let lane: Int
        switch place {
        case .lane(let named): lane = named
        case .everywhere where lanes.count == 1: lane = 0
        case .everywhere: return appendExclusive(element, load)
        }
        lanes[lane].queue.append(element, load)
        guard !lanes[lane].isActive, mayTake(lane) else { return nil }
        lanes[lane].isActive = true
        return lane
    }

    private mutating func appendExclusive(_ element: Element, _ load: WriteLoad) -> Int? {
        if exclusive.count == 0, exclusiveLane == nil { oweTurns() }
        exclusive.append(element, load)
        // An active lane takes it when it has its turn.
        guard isIdle else { return nil }
        lanes[0].isActive = true
        return 0
    }

    /// Puts back the last elements of the lane's group; see ``CommitQueue/putBack(_:isFirstBegun:touched:)``.
    package mutating func putBack(_ rest: [(element: Element, load: WriteLoad)], isFirstBegun: Bool, touched: Int, lane: Int) {
        if exclusiveLane == lane {
            exclusive.putBack(rest, isFirstBegun: isFirstBegun, touched: touched)
        } else {
            lanes[lane].queue.putBack(rest, isFirstBegun: isFirstBegun, touched: touched)
        }
    }

    /// The next turn of an active lane. By now its previous group is on disk, or has failed, and its owners know.
    package mutating func next(_ lane: Int, now: Int64) -> Turn {
        let wasExclusive = exclusiveLane == lane
        if wasExclusive {
            exclusive.endGroup(now: now)
            exclusiveLane = nil
            if exclusive.count > 0 { oweTurns() }
        }
        var turn = Turn()
        if mayTake(lane) {
            lanes[lane].isOwed = false
            turn.group = lanes[lane].queue.nextGroup(now: now)
        } else {
            lanes[lane].queue.endGroup(now: now)
        }
        if turn.group.isEmpty { turn.group = exclusiveGroup(lane, now: now) }
        lanes[lane].isActive = !turn.group.isEmpty
        // Those that have rested.
        guard wasExclusive, exclusiveLane == nil else { return turn }
        for other in lanes.indices where !lanes[other].isActive && lanes[other].queue.count > 0 && mayTake(other) {
            lanes[other].isActive = true
            turn.starts.append(other)
        }
        return turn
    }

    /// The exclusive group, if one waits and nothing else has to end or to begin before it.
    private mutating func exclusiveGroup(_ lane: Int, now: Int64) -> [Element] {
        guard exclusive.count > 0, exclusiveLane == nil,
            lanes.indices.allSatisfy({ !lanes[$0].isOwed && ($0 == lane || !lanes[$0].isActive) })
        else { return [] }
        exclusiveLane = lane
        return exclusive.nextGroup(now: now)
    }

    private func mayTake(_ lane: Int) -> Bool { exclusiveLane == nil && (exclusive.count == 0 || lanes[lane].isOwed) }

    private mutating func oweTurns() {
        for lane in lanes.indices { lanes[lane].isOwed = lanes[lane].queue.count > 0 }
    }
}

extension CommitLanes: Sendable where Element: Sendable {}
extension CommitLanes.Lane: Sendable where Element: Sendable {}

extension CommitLanes.Destination {
    /// The place of a namespace.
    package init(_ namespace: Namespace, of lanes: Int) {
        self = .lane(lanes == 1 ? 0 : Int(EpochSource.bucket(of: namespace)) % lanes)
    }
}
