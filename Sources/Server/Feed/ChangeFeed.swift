package import FreshetWire

/// The feed of one namespace: its position, its recent changes, and the readers that wait for the next change.
///
/// A pure value: takes events with their time (monotonic milliseconds) and returns the deliveries to send. Whether a
/// reader waits is decided against the same ``head`` that a commit moves, so that no reader waits past a change.
/// `Waiter` is any value that the caller can answer; the feed only stores it.
package struct ChangeFeed<Waiter: Sendable>: Sendable {
    /// Waiters with the same subscription. All of them have seen everything up to the head, hence one answer fits all.
    struct Group: Sendable {
        let subscription: Subscription
        /// The position of a reader that read the store before a commit was published, and so knows a later state than
        /// the feed.
        let awaited: Cursor?
        /// The group wants no change after this revision, up to the head. A reader at this revision or later joins
        /// without a look at the changes between.
        var clearSince: Revision
        var members: [Int32] = []
        /// When the members were answered and left. The group stays for a while: they come back soon, and the group
        /// still knows that they want none of the changes written meanwhile, even if those have left memory.
        var desertedSince: Int64?
        /// The places of the current commit's changes that the group wants.
        var wanted: [Int] = []

        /// Adds a waiter in place: a copy of the group would copy its members.
        mutating func admit(
            _ waiter: Waiter, to waiters: inout WaiterTable<Waiter>, as group: Int32, _ deadline: Int64?, _ now: Int64
        ) -> WaiterTicket {
            desertedSince = nil
            return waiters.insert(waiter, group: group, members: &members, deadline: deadline, now: now)
        }
    }

    /// How long a stream may be silent, in milliseconds.
    package static var keepAliveInterval: Int64 { 15_000 }

    package internal(set) var head: Cursor
    let limits: FeedLimits
    var recent: RecentChanges
    var waiters = WaiterTable<Waiter>()
    var groups: [Group?] = []
    var freeGroups: [Int32] = []
    var groupBySubscription: [Subscription: Int32] = [:]
    /// The group of ``groupBySubscription`` that was looked up last: the next reader mostly has the same subscription.
    var latestGroup: (subscription: Subscription, group: Int32)?
    /// The page that was made last, since readers that arrive late mostly arrive together. The next commit discards it.
    var latestPage: (subscription: Subscription, revision: Revision, page: FeedPage)?
    /// The pages with which groups were last answered.
    var told = ToldPages()
    /// The groups with an ``Group/awaited`` position.
    var early: [Int32] = []
    var index = GroupIndex()
    /// The epoch before the current one. Its positions are no longer valid.
    var previousEpoch: Epoch?
    var nextKeepAlive: Int64?
    /// The latest time that a question or ``expire(now:)`` has passed; commits pass none.
    var clock: Int64 = 0
    /// When groups without members are looked for next.
    var nextSweep: Int64 = 0
    package internal(set) var isDraining = false
    /// The latest position of the store at which it returned a page that ends earlier. Such a page omits a change that
    /// a later one has replaced. Until the later change is published, no page of the feed is marked as the last: its
    /// reader would miss the record altogether.
    private var scanned: Cursor?

    /// Creates a feed that begins at `position`. The store answers for everything before it.
    package init(position: Cursor, limits: FeedLimits = FeedLimits()) {
        head = position
        self.limits = limits
        recent = RecentChanges(floor: position.revision, limits: limits)
    }

    /// The number of readers that wait, streams included.
    package var waiting: Int { waiters.count }
    /// The number of recent changes in memory.
    package var recentCount: Int { recent.count }
    /// The bytes of the recent changes, and of the pages made from them that are kept.
    package var recentBytes: Int { recent.bytes + told.bytes }
    /// Everything after this revision is in memory.
    package var floor: Revision { recent.floor }
    /// The number of recent changes that were examined for readers' questions.
    package private(set) var looks = 0

    /// Answers a reader that asks for the changes after its position, or lets it wait.
    /// - Parameters:
    ///   - isVerified: whether the position was just read from the store, which found nothing before it.
    ///   - deadline: when the reader is to be answered that nothing happened; `nil` for never.
    package mutating func ask(
        _ since: Since, _ subscription: Subscription, waiter: Waiter, isVerified: Bool = false, deadline: Int64?, now: Int64
    ) -> FeedVerdict {
        clock = max(clock, now)
        switch since {
        case .start: return .scan(.start)
        case .now:
            let encoder = PageEncoder(limit: 0, pageBytes: 0)
            return .reply(.page(encoder.page(at: head, upToDate: true)))
        case .after(let cursor):
            if cursor.epoch == previousEpoch { return .reply(.gone(Self.epochChanged(cursor, head), head)) }
            // A reader that starts from nothing gets the records as they are at its origin or later, without earlier
            // deletes. Changes in memory from before the origin would take it back, so the store answers until the
            // reader has reached the origin.
            if let origin = cursor.origin, origin > cursor.revision { return .scan(since) }
            guard cursor.epoch == head.epoch, cursor.revision <= head.revision else {
                guard isVerified else { return .scan(since) }
                return park(waiter, subscription, at: cursor, awaited: cursor, clearSince: head.revision, deadline, now)
            }
            guard cursor.revision >= recent.floor || isClear(since: cursor.revision, subscription, now) else {
                let clearSince = present(subscription).flatMap { groups[Int($0)]?.clearSince }
                let isUpToDate = isUpToDate
                let page = told.page(after: cursor.revision, subscription, now: now) { last in
                    isUpToDate && clearSince.map { $0 <= last } ?? false
                }
                return page.map { .reply(.page($0)) } ?? .scan(since)
            }
            if cursor.revision < head.revision, let page = page(after: cursor.revision, subscription) { return .reply(.page(page)) }
            // A page of the store may have omitted a change whose replacement is not published yet. A reader that waits
            // gets the replacement. One that does not wait must not be answered that there is nothing.
            if !isVerified, !isDraining, let deadline, deadline <= now { return .scan(since) }
            return park(waiter, subscription, at: head, awaited: nil, clearSince: cursor.revision, deadline, now)
        }
    }

    /// Records that a reader gets a page of the store that ends before `position`, the store's position.
    package mutating func noteScan(at position: Cursor) {
        guard position.epoch != previousEpoch else { return }
        if let scanned, scanned.epoch == position.epoch, scanned.revision >= position.revision { return }
        scanned = position
        latestPage = nil
    }

    /// Whether all changes that the store's pages were made from have been published.
    private var isUpToDate: Bool {
        guard let scanned, scanned.epoch == head.epoch else { return true }
        return scanned.revision <= head.revision
    }

    /// Removes a waiter that has gone. O(1). The ticket of a waiter that was answered already has no effect.
    ///
    /// - Returns: the answer for the waiter, in case it is still connected.
    @discardableResult
    package mutating func cancel(_ ticket: WaiterTicket) -> FeedDelivery<Waiter>? {
        guard let group = waiters.group(of: ticket), let present = groups[Int(group)] else { return nil }
        return remove(ticket.slot, from: group).map { end([$0], present.subscription, .idle(present.awaited ?? head)) }
    }

    private mutating func park(
        _ waiter: Waiter, _ subscription: Subscription, at position: Cursor, awaited: Cursor?, clearSince: Revision,
        _ deadline: Int64?, _ now: Int64
    ) -> FeedVerdict {
        if isDraining { return .reply(.idle(position)) }
        if let deadline, deadline <= now { return .reply(.idle(position)) }
        let group = group(for: subscription, awaited, clearSince: clearSince)
        guard let ticket = groups[Int(group)]?.admit(waiter, to: &waiters, as: group, deadline, now) else {
            return .reply(.idle(position))
        }
        return .parked(ticket)
    }

    /// The page of the wanted changes after a revision that is in memory; `nil` if none is wanted.
    ///
    /// O(1) for a reader that asks the same as the previous one, and for one at or after its group's
    /// ``Group/clearSince``; otherwise O(recent changes after the revision, up to `clearSince`).
    private mutating func page(after revision: Revision, _ subscription: Subscription) -> FeedPage? {
        if let latestPage, latestPage.revision == revision, latestPage.subscription == subscription { return latestPage.page }
        let group = present(subscription)
        let end = group.flatMap { groups[Int($0)]?.clearSince } ?? head.revision
        guard revision < end else { return nil }
        let wanted = wanted(after: revision, upTo: end, subscription.filter)
        guard wanted.isEmpty else {
            let page = page(of: wanted, subscription)
            latestPage = (subscription, revision, page)
            return page
        }
        if let group { groups[Int(group)]?.clearSince = revision }
        return nil
    }

    /// Whether the subscription's group wanted none of the changes after a revision, which may have left memory since.
    private mutating func isClear(since revision: Revision, _ subscription: Subscription, _ now: Int64) -> Bool {
        guard let group = present(subscription), let present = groups[Int(group)] else { return false }
        return present.clearSince <= revision && (present.desertedSince.map { now - $0 < ToldPages.lifetime } ?? true)
    }

    /// The places of the changes after a revision, up to another, that the filter wants.
    mutating func wanted(after revision: Revision, upTo end: Revision, _ filter: ChangeFilter) -> [Int] {
        let places = recent.places(after: revision).lowerBound..<recent.places(after: end).lowerBound
        looks += places.count
        return places.filter { place in recent.scope(at: place).map(filter.matches) ?? false }
    }

    /// The first page of the changes at these places, of which there is one at least. The page does not end within an
    /// atomic batch, unless its limit is 1.
    mutating func page(of places: [Int], _ subscription: Subscription) -> FeedPage {
        var encoder = PageEncoder(limit: subscription.limit, pageBytes: limits.pageBytes(for: subscription.delivery))
        for (number, place) in places.enumerated() {
            if encoder.isFull, !(encoder.keepsBatches && recent.isOneBatch(places[number - 1], place)) {
                return encoder.page(
                    at: Cursor(epoch: head.epoch, revision: recent.revision(at: places[number - 1])), upToDate: false)
            }
            if let json = recent.json(at: place, values: subscription.values) { encoder.append(json) }
        }
        return encoder.page(at: head, upToDate: isUpToDate)
    }

    static func epochChanged(_ cursor: Cursor, _ head: Cursor) -> Problem {
        Problem(
            .epochChanged,
            "'since' is \(cursor), but the namespace has begun the history \(head.epoch): start again from a list, or with since=0")
    }
}
