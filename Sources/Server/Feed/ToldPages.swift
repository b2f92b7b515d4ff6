import FreshetWire

/// The pages that groups were told last, for those of them who came back too late for the next change: beside a flood of other writes
/// that change may have left memory by then, and each of a crowd would be sent to the store for it.
///
/// A pure value; a few pages, for a few seconds.
struct ToldPages: Sendable {
    private struct Told: Sendable {
        let subscription: Subscription
        /// Whoever stood from `first` to `last` wanted nothing before what the page holds.
        let first: Revision
        let last: Revision
        let page: FeedPage
        /// The same, with the word that there may be more; made when it is needed.
        var unfinished: FeedPage?
        /// When it goes.
        let end: Int64
    }

    private static let capacity = 8
    /// Larger pages are not kept.
    private static let largest = 256 << 10
    /// Milliseconds that a page is kept.
    static let lifetime: Int64 = 10_000

    private var pages: [Told] = []

    /// The bytes of the pages.
    var bytes: Int { pages.reduce(0) { $0 + $1.page.body.count + ($1.unfinished?.body.count ?? 0) } }

    /// Keeps the page that a group was told which wanted nothing from `first` to `last`.
    mutating func keep(_ page: FeedPage, _ subscription: Subscription, from first: Revision, to last: Revision, now: Int64) {
        guard page.body.count <= Self.largest else { return }
        if pages.count == Self.capacity { pages.removeFirst() }
        pages.append(Told(subscription: subscription, first: first, last: last, page: page, end: now + Self.lifetime))
    }

    /// What comes after a revision, where that is remembered; whether more has come since is for `isLast` to say, by the page's revision.
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

    /// Time has passed, in monotonic milliseconds.
    mutating func expire(now: Int64) {
        if !pages.isEmpty { pages.removeAll { $0.end <= now } }
    }

    mutating func removeAll() { pages = [] }
}
