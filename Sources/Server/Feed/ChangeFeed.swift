package import FreshetWire

/// The feed of one namespace: its position, its recent changes, and the readers that wait for the next change.
///
/// A pure value: takes events with their time (monotonic milliseconds) and returns the deliveries to send. Whether a
/// reader waits is decided against the same ``head`` that a commit moves, so that no reader waits past a change.
/// `Waiter` is any value that the caller can answer; the feed only stores it.
package struct ChangeFeed<Waiter: Sendable>: Sendable {
    /// How long a stream may be silent, in milliseconds.
    package static var keepAliveInterval: Int64 { 15_000 }

    package internal(set) var head: Cursor
    let limits: FeedLimits
    /// Whether other servers write to the store, so that it may be ahead of the feed although every writer of this
    /// server has been answered.
    private let isShared: Bool
    var recent: RecentChanges
    var waiters = WaiterTable<Waiter>()
    var groups = GroupTable()
    var pages = RecentPages()
    var sequencer = CommitSequencer()
    /// The epoch before the current one. Its positions are no longer valid.
    var previousEpoch: Epoch?
    var nextKeepAlive: Int64?
    /// The latest time that a call of ``ask(_:_:waiter:isVerified:deadline:now:)`` or ``expire(now:)`` has passed; commits pass none.
    var clock: Int64 = 0
    package internal(set) var isDraining = false

    /// Creates a feed that begins at `position`. The store answers for everything before it.
    package init(position: Cursor, limits: FeedLimits = FeedLimits(), isShared: Bool = false) {
        head = position
        self.isShared = isShared
        self.limits = limits
        recent = RecentChanges(floor: position.revision, limits: limits)
    }

    /// The number of readers that wait, streams included.
    package var waiting: Int { waiters.count }
    /// The number of recent changes in memory.
    package var recentCount: Int { recent.count }
    /// The bytes of the recent changes, and of the pages made from them that are kept.
    package var recentBytes: Int { recent.bytes + pages.bytes }
    /// Everything after this revision is in memory.
    package var floor: Revision { recent.floor }
    /// The number of recent changes that were examined for readers.
    package private(set) var scannedChanges = 0

    /// Answers a reader that asks for the changes after its position, or lets it wait.
    /// - Parameters:
    ///   - isVerified: whether the position was just read from the store, which found nothing before it.
    ///   - deadline: when the reader is to be answered that nothing happened; `nil` for never.
    package mutating func ask(
        _ since: Since, _ subscription: Subscription, waiter: Waiter, isVerified: Bool = false, deadline: Int64?, now: Int64
    ) -> PollDecision {
        clock = max(clock, now)
        switch since {
        case .start: return .scan(.start)
        // A client that has written at another server must not be sent back to before its write.
        case .now where isShared: return .scan(.now)
        case .now:
            let encoder = PageEncoder(limit: 0, pageBytes: 0)
            return .reply(.page(encoder.page(at: head.issued(to: subscription.part), upToDate: true)))
        case .after(let cursor):
            // The store states where the reader can continue.
            if cursor.epoch == previousEpoch { return .scan(since) }
            switch cursor.goal {
            // A reader that starts from nothing gets the records as they are at its origin or later, without earlier
            // deletes. Changes in memory from before the origin would take it back, so the store answers until the
            // reader has reached the origin.
            case .origin(let origin) where origin > cursor.revision: return .scan(since)
            // The reader's last page left out changes whose replacements the feed does not have yet.
            case .head(let seen) where seen > head.revision: return .scan(since)
            case nil, .origin, .head: break
            }
            guard cursor.epoch == head.epoch, cursor.revision <= head.revision else {
                guard isVerified else { return .scan(since) }
                return enqueue(waiter, subscription, at: cursor, target: cursor, noMatchAfter: head.revision, deadline, now)
            }
            switch lookUp(after: cursor.revision, subscription, now) {
            case .page(let page): return .reply(.page(page))
            case .unknown: return .scan(since)
            // A reader that does not wait asks for the present state, which the store may have before the feed.
            case .noChange where !isVerified && !isDraining && deadline.map { $0 <= now } ?? false: return .scan(since)
            case .noChange: return enqueue(waiter, subscription, at: head, target: nil, noMatchAfter: cursor.revision, deadline, now)
            }
        }
    }

    /// Removes a waiter whose client has disconnected. O(1). Without effect if the waiter was answered already.
    ///
    /// - Returns: the answer for the waiter, in case it is still connected.
    @discardableResult
    package mutating func cancel(_ waiter: WaiterID) -> FeedDelivery<Waiter>? {
        guard let group = waiters.group(of: waiter), let present = groups[group] else { return nil }
        return remove(waiter.slot, from: group).map { end([$0], present.subscription, .idle(present.target ?? head)) }
    }

    private mutating func enqueue(
        _ waiter: Waiter, _ subscription: Subscription, at position: Cursor, target: Cursor?, noMatchAfter: Revision, _ deadline: Int64?,
        _ now: Int64
    ) -> PollDecision {
        // Made only where it is returned, since a reply is an allocation.
        func idle() -> PollDecision { .reply(.idle(position.issued(to: subscription.part))) }
        if isDraining { return idle() }
        if let deadline, deadline <= now { return idle() }
        let group = groups.group(for: subscription, target: target, noMatchAfter: noMatchAfter)
        guard let id = groups.add(waiter, to: group, in: &waiters, deadline, now) else { return idle() }
        return .waiting(id)
    }

    /// The changes after a position, as far as memory knows.
    private enum Lookup {
        case page(FeedPage)
        case noChange
        case unknown
    }

    private mutating func lookUp(after revision: Revision, _ subscription: Subscription, _ now: Int64) -> Lookup {
        guard revision < head.revision else { return .noChange }
        if revision >= recent.floor { return page(after: revision, subscription).map(Lookup.page) ?? .noChange }
        if groups.hasNoMatch(after: revision, subscription, now: now) { return .noChange }
        let noMatchAfter = groups.find(subscription).flatMap { groups[$0]?.noMatchAfter }
        let page = pages.delivered(after: revision, subscription, now: now) { last in noMatchAfter.map { $0 <= last } ?? false }
        return page.map(Lookup.page) ?? .unknown
    }

    /// The page of the wanted changes after a revision that is in memory; `nil` if none is wanted.
    ///
    /// O(1) for a reader that asks the same as the previous one, and for one at or after its group's
    /// ``GroupTable/Group/noMatchAfter``; otherwise O(recent changes after the revision, up to `noMatchAfter`).
    private mutating func page(after revision: Revision, _ subscription: Subscription) -> FeedPage? {
        if let page = pages.latest(after: revision, subscription) { return page }
        let group = groups.find(subscription)
        let end = group.flatMap { groups[$0]?.noMatchAfter } ?? head.revision
        guard revision < end else { return nil }
        let wanted = wanted(after: revision, upTo: end, subscription)
        guard wanted.isEmpty else {
            let page = page(of: wanted, subscription)
            pages.keepLatest(page, after: revision, subscription)
            return page
        }
        if let group { groups[group]?.noMatchAfter = revision }
        return nil
    }

    /// The places of the changes after a revision, up to another, that the reader wants.
    mutating func wanted(after revision: Revision, upTo end: Revision, _ subscription: Subscription) -> [Int] {
        let places = recent.places(after: revision).lowerBound..<recent.places(after: end).lowerBound
        scannedChanges += places.count
        return places.filter { place in recent.scope(at: place).map(subscription.matches) ?? false }
    }

    /// The first page of the changes at these places, of which there is one at least. The page does not end within an
    /// atomic batch, unless its limit is 1.
    mutating func page(of places: [Int], _ subscription: Subscription) -> FeedPage {
        var encoder = PageEncoder(limit: subscription.limit, pageBytes: limits.pageBytes(for: subscription.delivery))
        for (number, place) in places.enumerated() {
            if encoder.isFull, !(encoder.keepsBatches && recent.isOneBatch(places[number - 1], place)) {
                let reached = Cursor(epoch: head.epoch, revision: recent.revision(at: places[number - 1]), goal: .head(head.revision))
                return encoder.page(at: reached.issued(to: subscription.part), upToDate: false)
            }
            for json in recent.json(at: place, values: subscription.values, for: subscription.part) { encoder.append(json) }
        }
        return encoder.page(at: head.issued(to: subscription.part), upToDate: true)
    }

    static func epochChanged(_ cursor: Cursor, _ head: Cursor) -> Problem {
        Problem(
            .epochChanged,
            "'since' is \(cursor), but the namespace has begun the history \(head.epoch): start again from a list, or with since=0")
    }
}
