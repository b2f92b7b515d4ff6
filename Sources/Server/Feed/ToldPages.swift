import FreshetWire

/// The pages with which groups were last answered, for members that reconnect too late for the next change. During a
/// flood of other writes that change may have left memory by then, and each of many readers would need the store.
///
/// A pure value that keeps a few pages for a few seconds.
struct ToldPages: Sendable {
    private struct Told: Sendable {
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

    private static let capacity = 8
    /// The largest page that is kept, in bytes.
    private static let largest = 256 << 10
    /// How long a page is kept, in milliseconds.
    static let lifetime: Int64 = 10_000

    private var pages: [Told] = []

    /// The bytes of the pages.
    var bytes: Int { pages.reduce(0) { $0 + $1.page.body.count + ($1.unfinished?.body.count ?? 0) } }

    /// Keeps the page of a group that wanted nothing from `first` to `last`.
    mutating func keep(_ page: FeedPage, _ subscription: Subscription, from first: Revision, to last: Revision, now: Int64) {
        guard page.body.count <= Self.largest else { return }
        if pages.count == Self.capacity { pages.removeFirst() }
        pages.append(Told(subscription: subscription, first: first, last: last, page: page, end: now + Self.lifetime))
    }

    /// The page that follows a revision, if it is still kept. `isLast` says, by the page's revision, whether nothing
    /// more has come since; if not, the page is marked as having more after it.
    mutating func page(after revision: Revision, _ subscription: Subscription, now: Int64, isLast: (Revision) -> Bool) -> FeedPage? {
        guard
            let place = pages.lastIndex(where: {
                $0.first <= revision && revision <= $0.last && now < $0.end && $0.subscription == subscription
            })
        else { return nil }
        let page = pages[place].page
        if !page.upToDate || isLast(page.cursor.revision) { return page }
        let unfinished = pages[place].unfinished ?? page.unfinished
        pages[place].unfinished = unfinished
        return unfinished
    }

    /// Drops the pages that have expired at `now`, in monotonic milliseconds.
    mutating func expire(now: Int64) {
        if !pages.isEmpty { pages.removeAll { $0.end <= now } }
    }

    mutating func removeAll() { pages = [] }
}
