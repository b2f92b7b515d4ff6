import FreshetWire

/// The pages that a feed has made lately, for readers that poll from the same position.
///
/// A feed with 2,000 newer changes examined all of them for each of 9,000 late polls; a page that is kept is examined
/// once (`docs/performance.md`, fan-out). During a flood of other writes the changes of a page may leave memory before
/// all of its readers have it. If the feed keeps more changes, and an index of them by subscription, remove this type.
///
/// A pure value that keeps a few pages for a few seconds. Removing any of them changes no answer.
struct RecentPages: Sendable {
    private struct Delivered: Sendable {
        let subscription: Subscription
        /// A reader at a revision from `first` to `last` wanted nothing before the page's changes.
        let first: Revision
        let last: Revision
        let page: FeedPage
        /// The same page, marked as having more after it; made when it is needed.
        var unfinished: FeedPage?
        /// When the page expires.
        let end: Int64
    }

    /// The most delivered pages that are kept.
    static let capacity = 8
    /// The largest page that is kept, in bytes.
    static let largest = 256 << 10

    private var delivered: [Delivered] = []
    /// The page that was made last for a reader behind the head.
    private var latest: (subscription: Subscription, revision: Revision, page: FeedPage)?

    /// The bytes of the pages that were delivered.
    var bytes: Int { delivered.reduce(0) { $0 + $1.page.body.count + ($1.unfinished?.body.count ?? 0) } }

    /// Keeps the page that was delivered to a group that wanted nothing from `first` to `last`.
    mutating func keep(_ page: FeedPage, _ subscription: Subscription, from first: Revision, to last: Revision, now: Int64) {
        guard page.body.count <= Self.largest else { return }
        if delivered.count == Self.capacity { delivered.removeFirst() }
        delivered.append(Delivered(subscription: subscription, first: first, last: last, page: page, end: now + GroupTable.memory))
    }

    /// The page that was delivered after a revision, if it is still kept. `isLast` says, by the page's revision, whether
    /// nothing more has come since; if not, the page is marked as having more after it.
    mutating func delivered(
        after revision: Revision, _ subscription: Subscription, now: Int64, isLast: (Revision) -> Bool
    ) -> FeedPage? {
        guard
            let place = delivered.lastIndex(where: {
                $0.first <= revision && revision <= $0.last && now < $0.end && $0.subscription == subscription
            })
        else { return nil }
        let page = delivered[place].page
        if !page.upToDate || isLast(page.cursor.revision) { return page }
        let unfinished = delivered[place].unfinished ?? page.unfinished
        delivered[place].unfinished = unfinished
        return unfinished
    }

    /// The page from a revision up to the head, if it was the last one that was made.
    func latest(after revision: Revision, _ subscription: Subscription) -> FeedPage? {
        guard let latest, latest.revision == revision, latest.subscription == subscription else { return nil }
        return latest.page
    }

    mutating func keepLatest(_ page: FeedPage, after revision: Revision, _ subscription: Subscription) {
        latest = (subscription, revision, page)
    }

    /// Drops the latest page: the head has moved.
    mutating func dropLatest() { latest = nil }

    /// Drops the pages that have expired at `now`, in monotonic milliseconds, and the latest page.
    mutating func expire(now: Int64) {
        latest = nil
        if !delivered.isEmpty { delivered.removeAll { $0.end <= now } }
    }
}
