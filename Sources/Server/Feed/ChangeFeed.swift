package import FreshetWire

/// The feed of one namespace: its position, the recent changes, and who waits for the next.
///
/// A pure value: events come in with the time (monotonic milliseconds), what is to be sent goes out. Whether a reader
/// waits is decided against the same ``head`` that a commit moves, so that nobody falls asleep behind a change.
/// `Waiter` is whatever the shell answers to, one reader or many that asked the same at once; the feed only keeps it.
package struct ChangeFeed<Waiter: Sendable>: Sendable {
    /// Waiters with the same subscription. All of them have seen everything up to the head, hence one answer fits all.
    struct Group: Sendable {
        let subscription: Subscription
        /// Set for readers that know a later state than the feed, from a look at the store before the commit was published.
        let awaited: Cursor?
        /// Nothing after this revision is wanted, up to the head: whoever has come so far joins without a look at the changes between.
        var clearSince: Revision
        var members: [Int32] = []
        /// When its members were told and left. It stays for a while: they come back soon, and what was written meanwhile is known to be
        /// nothing to them, though that has left memory.
        var desertedSince: Int64?
        /// The places of the changes of the present commit that the group wants.
        var wanted: [Int] = []

        /// Takes a waiter in, in place: a copy of the group would be a copy of its members.
        mutating func admit(
            _ waiter: Waiter, _ weight: Int32, to waiters: inout WaiterTable<Waiter>, as group: Int32, _ deadline: Int64?, _ now: Int64
        ) -> WaiterTicket {
            desertedSince = nil
            return waiters.insert(waiter, weight: weight, group: group, members: &members, deadline: deadline, now: now)
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
    /// The group that was asked for last, among those of ``groupBySubscription``: the next reader mostly wants the same.
    var latestGroup: (subscription: Subscription, group: Int32)?
    /// The page that was made last: those who come late come in crowds too. Gone with the next commit.
    var latestPage: (subscription: Subscription, revision: Revision, page: FeedPage)?
    /// What groups were told last.
    var told = ToldPages()
    /// The groups with an ``Group/awaited`` position.
    var early: [Int32] = []
    var index = GroupIndex()
    /// The history before this one: positions in it are of no use any more.
    var previousEpoch: Epoch?
    var nextKeepAlive: Int64?
    /// The latest time that a question or ``expire(now:)`` brought; commits bring none.
    var clock: Int64 = 0
    /// When groups without members are looked for next.
    var nextSweep: Int64 = 0
    package internal(set) var isDraining = false
    /// Through where pages of the store were made that end before there. Such a page passes over a change that a later one has replaced. As long as the
    /// later one is not published, no page of the feed says that it is the last: its reader would miss the record altogether.
    private var scanned: Cursor?

    /// A feed that begins at `position`: what is before, the store knows.
    package init(position: Cursor, limits: FeedLimits = FeedLimits()) {
        head = position
        self.limits = limits
        recent = RecentChanges(floor: position.revision, limits: limits)
    }

    /// How many wait, streams included.
    package var waiting: Int { waiters.count }
    /// How many recent changes are in memory.
    package var recentCount: Int { recent.count }
    /// The bytes that they take, with the pages that were made of them and are kept.
    package var recentBytes: Int { recent.bytes + told.bytes }
    /// Everything after this revision is in memory.
    package var floor: Revision { recent.floor }
    /// How many recent changes were looked at for readers who asked.
    package private(set) var looks = 0

    /// A reader asks for what comes after its position.
    /// - Parameters:
    ///   - weight: how many readers the waiter stands for.
    ///   - isVerified: the position was just read from the store, where nothing was found before it.
    ///   - deadline: when it wants to be told that nothing happened; `nil` for never.
    package mutating func ask(
        _ since: Since, _ subscription: Subscription, waiter: Waiter, weight: Int32 = 1, isVerified: Bool = false, deadline: Int64?,
        now: Int64
    ) -> FeedVerdict {
        clock = max(clock, now)
        switch since {
        case .start: return .scan(.start)
        case .now:
            let encoder = PageEncoder(limit: 0, pageBytes: 0)
            return .reply(.page(encoder.page(at: head, upToDate: true)))
        case .after(let cursor):
            if cursor.epoch == previousEpoch { return .reply(.gone(Self.epochChanged(cursor, head), head)) }
            // A reading from nothing shows the records as they are at its origin or later, without what was deleted before. What is in
            // memory of the time before its origin would take the reader back, so the store answers until the reading has come through.
            if let origin = cursor.origin, origin > cursor.revision { return .scan(since) }
            guard cursor.epoch == head.epoch, cursor.revision <= head.revision else {
                guard isVerified else { return .scan(since) }
                return park(waiter, weight, subscription, at: cursor, awaited: cursor, clearSince: head.revision, deadline, now)
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
            // A page of the store may have passed over a change that a later one has replaced, which is not published yet: whoever
            // waits will hear of it, and who does not must not be told that there is nothing.
            if !isVerified, !isDraining, let deadline, deadline <= now { return .scan(since) }
            return park(waiter, weight, subscription, at: head, awaited: nil, clearSince: cursor.revision, deadline, now)
        }
    }

    /// A reader gets a page of the store that ends before `position`, where the store is.
    package mutating func noteScan(at position: Cursor) {
        guard position.epoch != previousEpoch else { return }
        if let scanned, scanned.epoch == position.epoch, scanned.revision >= position.revision { return }
        scanned = position
        latestPage = nil
    }

    /// Whether nothing that a page of the store was made of is still to be published.
    private var isUpToDate: Bool {
        guard let scanned, scanned.epoch == head.epoch else { return true }
        return scanned.revision <= head.revision
    }

    /// A waiter has gone. O(1); a ticket of one that was answered already does nothing.
    ///
    /// - Returns: what to tell it, should it be there after all.
    @discardableResult
    package mutating func cancel(_ ticket: WaiterTicket) -> FeedDelivery<Waiter>? {
        guard let group = waiters.group(of: ticket), let present = groups[Int(group)] else { return nil }
        return remove(ticket.slot, from: group).map { end([$0], present.subscription, .idle(present.awaited ?? head)) }
    }

    /// Another reader, who asks the same as a waiter did, waits with it. O(1).
    ///
    /// - Returns: the waiter; `nil` where it was answered already.
    package mutating func join(_ ticket: WaiterTicket) -> Waiter? {
        guard waiters.group(of: ticket) != nil else { return nil }
        waiters.burden(ticket.slot)
        return waiters.waiter(at: ticket.slot)
    }

    /// One of the readers that a waiter stands for has gone. O(1).
    ///
    /// - Returns: the waiter, and what to tell that reader, should it be there after all; `nil` where the waiter was answered already.
    package mutating func leave(_ ticket: WaiterTicket) -> (Waiter, FeedReply)? {
        guard let group = waiters.group(of: ticket), let present = groups[Int(group)], let waiter = waiters.waiter(at: ticket.slot) else {
            return nil
        }
        if !waiters.lighten(ticket.slot) { remove(ticket.slot, from: group) }
        return (waiter, .idle(present.awaited ?? head))
    }

    private mutating func park(
        _ waiter: Waiter, _ weight: Int32, _ subscription: Subscription, at position: Cursor, awaited: Cursor?, clearSince: Revision,
        _ deadline: Int64?, _ now: Int64
    ) -> FeedVerdict {
        if isDraining { return .reply(.idle(position)) }
        if let deadline, deadline <= now { return .reply(.idle(position)) }
        let group = group(for: subscription, awaited, clearSince: clearSince)
        guard let ticket = groups[Int(group)]?.admit(waiter, weight, to: &waiters, as: group, deadline, now) else {
            return .reply(.idle(position))
        }
        return .parked(ticket)
    }

    /// The changes after a revision that is in reach; `nil` if none is wanted.
    ///
    /// O(1) for those who ask what the one before them asked, and for those who come from where their group came; otherwise
    /// O(recent changes after the revision, up to where the group is known to want none).
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

    /// Whether those who wait have passed over all that came after a revision, which may have left memory since.
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

    /// The first page of the changes at these places, of which there is one at least. It does not end within an atomic batch.
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
