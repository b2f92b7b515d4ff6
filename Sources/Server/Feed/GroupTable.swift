import FreshetTrust
import FreshetWire

/// The waiters of a feed by subscription, and what each group has not been interested in lately.
///
/// A group stays for ``memory`` after its waiters have been answered. They mostly poll again within this time, and the
/// group still knows that it wants none of the changes written meanwhile, even if those have left memory. Without that,
/// a flood of other writes sends all of them to the store (`docs/performance.md`, fan-out). If the store answers a
/// poll as fast as memory does, groups can end with their last waiter. Only small groups stay, and only the latest
/// ``mostEmpty``: a reader that changes its subscription with each poll would leave one behind each time.
struct GroupTable: Sendable {
    /// Waiters with the same subscription. All of them have seen everything up to the head, hence one answer fits all.
    struct Group: Sendable {
        let subscription: Subscription
        /// The position of a reader that read the store before a commit was published, and so knows a later state than
        /// the feed. Such a group has one member.
        let target: Cursor?
        /// The group wants no change after this revision, up to the head. A reader at this revision or later joins
        /// without a look at the changes between.
        var noMatchAfter: Revision
        /// The slots of the waiters.
        var members: [Int32] = []
        /// When the last waiter was answered; `nil` while there are waiters.
        fileprivate(set) var emptySince: Int64?
        /// The places of the current commit's changes that the group wants.
        var wanted: [Int] = []
    }

    /// How long a group without waiters stays, in milliseconds.
    static let memory: Int64 = 10_000
    /// The most groups without waiters that stay. Beyond that, the older half ends.
    static let mostEmpty = 256
    /// The most collections, and the most ranges of a part, that a group has which stays without waiters.
    private static let (mostCollections, mostRanges) = (8, 16)

    private var groups: [Group?] = []
    private var free: [Int32] = []
    private var bySubscription: [Subscription: Int32] = [:]
    private var index = GroupIndex()
    /// The number of groups without members.
    private(set) var emptyCount = 0
    /// The group that was looked up last: the next reader mostly has the same subscription, and a comparison is faster
    /// than a hash.
    private(set) var latest: (subscription: Subscription, group: Int32)?
    /// When groups without members are looked for next.
    private var nextSweep: Int64 = 0
    /// The groups with a ``Group/target``.
    private(set) var ahead: [Int32] = []

    /// Whether no change can match any group.
    var isEmpty: Bool { bySubscription.isEmpty && index.isEmpty }

    /// The numbers of all groups.
    var numbers: [Int32] { groups.indices.filter { groups[$0] != nil }.map(Int32.init) }

    subscript(group: Int32) -> Group? {
        get { groups[Int(group)] }
        _modify { yield &groups[Int(group)] }
    }

    /// Adds a waiter to a group in place: a copy of the group would copy its members, and ``subscript(_:)`` allocates.
    ///
    /// - Returns: `nil` if there is no such group.
    mutating func add<Waiter>(
        _ waiter: Waiter, to group: Int32, in waiters: inout WaiterTable<Waiter>, _ deadline: Int64?, _ now: Int64
    ) -> WaiterID? {
        use(group)
        return groups[Int(group)]?.add(waiter, to: &waiters, as: group, deadline, now)
    }

    /// A group gets members.
    mutating func use(_ group: Int32) {
        guard groups[Int(group)]?.emptySince != nil else { return }
        groups[Int(group)]?.emptySince = nil
        emptyCount -= 1
    }

    /// Keeps a group that has lost its last member for when readers come back, or ends it if it is not small. O(groups)
    /// once in ``mostEmpty``/2 calls.
    mutating func keepEmpty(_ group: Int32, since now: Int64) {
        guard let subscription = groups[Int(group)]?.subscription else { return }
        use(group)
        guard subscription.filter.collections.count <= Self.mostCollections,
            subscription.part.map({ $0.ranges.ranges.count <= Self.mostRanges }) ?? true
        else { return drop(group) }
        groups[Int(group)]?.emptySince = now
        emptyCount += 1
        guard emptyCount > Self.mostEmpty else { return }
        let empty = groups.indices.compactMap { number in groups[number]?.emptySince.map { (since: $0, group: Int32(number)) } }
        for old in empty.sorted(by: { $0 < $1 }).prefix(empty.count - Self.mostEmpty / 2) { drop(old.group) }
    }

    /// The group at the head with this subscription, with or without members; `nil` if there is none.
    mutating func find(_ subscription: Subscription) -> Int32? {
        if let latest, latest.subscription == subscription { return latest.group }
        guard let group = bySubscription[subscription] else { return nil }
        latest = groups[Int(group)].map { ($0.subscription, group) }
        return group
    }

    /// The subscription of the group that wants the same, else the subscription itself: readers that share its arrays are
    /// compared by the arrays' identity.
    mutating func shared(_ subscription: Subscription) -> Subscription {
        find(subscription).flatMap { groups[Int($0)]?.subscription } ?? subscription
    }

    /// Returns the group of a subscription, and makes it if there is none. A waiter with a target has a group to itself.
    ///
    /// - Parameter noMatchAfter: the group wants no change after this revision, up to the head.
    mutating func group(for subscription: Subscription, target: Cursor?, noMatchAfter: Revision) -> Int32 {
        if target == nil, let group = find(subscription) { return group }
        let group = free.popLast() ?? Int32(groups.count)
        if Int(group) == groups.count { groups.append(nil) }
        groups[Int(group)] = Group(subscription: subscription, target: target, noMatchAfter: noMatchAfter)
        if target == nil {
            bySubscription[subscription] = group
            index.insert(group, subscription)
        } else {
            ahead.append(group)
        }
        return group
    }

    /// Whether the subscription's group wanted none of the changes after a revision, up to the head.
    mutating func hasNoMatch(after revision: Revision, _ subscription: Subscription, now: Int64) -> Bool {
        guard let number = find(subscription), let group = groups[Int(number)] else { return false }
        return group.noMatchAfter <= revision && (group.emptySince.map { now - $0 < Self.memory } ?? true)
    }

    /// The groups at the head that a scope concerns, in no particular order, maybe more than once.
    func matching(_ scope: InvalidationScope) -> [Int32] { index.groups(matching: scope) }

    mutating func drop(_ group: Int32) {
        guard let gone = groups[Int(group)] else { return }
        if latest?.group == group { latest = nil }
        if gone.emptySince != nil { emptyCount -= 1 }
        if gone.target == nil {
            bySubscription[gone.subscription] = nil
            index.remove(group, gone.subscription)
        } else {
            ahead.removeAll { $0 == group }
        }
        groups[Int(group)] = nil
        free.append(group)
    }

    /// Drops the groups that have had no members for ``memory``.
    mutating func dropEmpty(now: Int64) {
        guard now >= nextSweep else { return }
        nextSweep = now + 2_000
        for group in groups.indices {
            if let since = groups[group]?.emptySince, now - since >= Self.memory { drop(Int32(group)) }
        }
    }
}

extension GroupTable.Group {
    fileprivate mutating func add<Waiter>(
        _ waiter: Waiter, to waiters: inout WaiterTable<Waiter>, as group: Int32, _ deadline: Int64?, _ now: Int64
    ) -> WaiterID {
        waiters.insert(waiter, group: group, members: &members, deadline: deadline, now: now)
    }
}
