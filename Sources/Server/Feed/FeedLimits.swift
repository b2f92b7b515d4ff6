/// How much a feed keeps in memory and puts into one answer.
package struct FeedLimits: Hashable, Sendable {
    /// The most recent changes kept, each of another record.
    package var changes = 4_096
    /// The most bytes that the kept changes may take.
    package var bytes = 8 << 20
    /// The most bytes that the kept changes of all namespaces may take.
    package var totalBytes = 64 << 20
    /// Values longer than this are left out of changes.
    package var inlineBytes = 64 << 10
    /// An answer ends after the change that passes this size.
    package var pageBytes = 1 << 20
    /// Once the pages that a commit makes for its readers have this size, the other readers ask again, each for its own.
    package var commitBytes = 16 << 20
    /// Once a commit has been compared with this many groups of readers, over all of its changes, all others ask again. A group of readers
    /// of a part counts ``ReadablePart/matchCost(of:)`` more.
    package var commitMatches = 200_000

    package init() {}

    /// A page of a stream stays well below what a slow reader may leave unread, so that one page alone never drops it.
    package func pageBytes(for delivery: Subscription.Delivery) -> Int {
        delivery == .stream ? min(pageBytes, 64 << 10) : pageBytes
    }
}
