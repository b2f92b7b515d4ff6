import FreshetWire
import Testing

@testable import FreshetServer

/// A feed whose store others write to: readers that wait across a gap.
@Suite("Feed across a gap") struct FollowingFeedTests {
    private typealias Support = FeedSupport

    private let all = Subscription()
    private let namespace: Namespace

    init() throws { namespace = try Namespace("shop") }

    private func feed(changes: Int = 100) -> ChangeFeed<Int> {
        var limits = FeedLimits()
        limits.changes = changes
        return ChangeFeed(position: Support.cursor(3), limits: limits)
    }

    private func wait(_ feed: inout ChangeFeed<Int>, _ waiter: Int, after revision: Int64, _ subscription: Subscription? = nil)
        -> PollDecision
    {
        feed.ask(
            .after(Support.cursor(revision)), subscription ?? all, waiter: waiter, isVerified: revision > feed.head.revision.number,
            deadline: 1_000, now: 0)
    }

    private func commit(_ revisions: ClosedRange<Int64>) throws -> NamespaceCommit {
        NamespaceCommit(
            namespace: namespace, base: Support.cursor(revisions.lowerBound - 1), cursor: Support.cursor(revisions.upperBound),
            changes: try revisions.map { try Support.put($0, "a/\($0)") })
    }

    private func read(_ revisions: ClosedRange<Int64>, isComplete: Bool = true) throws -> FeedRead {
        FeedRead(
            after: Support.cursor(revisions.lowerBound - 1), position: Support.cursor(revisions.upperBound),
            changes: try revisions.map { try Support.put($0, "a/\($0)") }, isComplete: isComplete)
    }

    @Test func nothingBeyondAGapIsPublishedUntilItIsClosed() throws {
        // Given a waiter at 3, and one that has seen 5 at another server
        var feed = feed()
        #expect(wait(&feed, 1, after: 3).waiterID != nil)
        #expect(wait(&feed, 2, after: 5).waiterID != nil)
        // When this server commits 6, based on the 4 and 5 of others, and then 7
        let first = feed.publish(try commit(6...6))
        let second = feed.publish(try commit(7...7))
        // Then
        #expect(first.deliveries.isEmpty && second.deliveries.isEmpty)
        #expect(first.read == Support.cursor(3) && second.read == nil)
        #expect(feed.head == Support.cursor(3))
        // When the store returns all of it
        let closed = feed.finish(try read(4...7))
        // Then each gets what it lacks, in order
        #expect(closed.read == nil)
        let pages = closed.deliveries.compactMap(\.pages)
        #expect(pages.map(\.waiters) == [[1], [2]])
        #expect(pages.map { $0.pages.flatMap(\.changes).map(\.revision.number) } == [[4, 5, 6, 7], [6, 7]])
        #expect(feed.floor == Support.revision(3))
        // And its own commits follow without a read
        #expect(feed.publish(try commit(8...8)).read == nil)
        #expect(feed.head == Support.cursor(8))
    }

    @Test func aReadThatAnOwnCommitHasOvertakenPublishesTheRest() throws {
        // Given a read for an announcement of 5
        var feed = feed()
        #expect(feed.note(announced: Support.cursor(5)) == Support.cursor(3))
        // When the feed publishes 4, its own, from memory meanwhile
        #expect(feed.publish(try commit(4...4)).read == nil)
        #expect(wait(&feed, 1, after: 4).waiterID != nil)
        // Then
        let pages = feed.finish(try read(4...5)).deliveries.compactMap(\.pages)
        #expect(pages.flatMap(\.pages).flatMap(\.changes).map(\.revision.number) == [5])
    }

    @Test func aFeedMoreThanAPageBehindLetsItsReadersAskTheStore() throws {
        // Given
        var feed = feed(changes: 2)
        let stream = try Support.subscription(stream: true)
        #expect(wait(&feed, 1, after: 3).waiterID != nil)
        #expect(wait(&feed, 2, after: 3, stream).waiterID != nil)
        #expect(wait(&feed, 3, after: 8).waiterID != nil)
        #expect(wait(&feed, 4, after: 10).waiterID != nil)
        // When
        #expect(feed.note(announced: Support.cursor(9)) != nil)
        var incomplete = try read(4...5, isComplete: false)
        incomplete.position = Support.cursor(9)
        let update = feed.finish(incomplete)
        // Then no reader skips a change: each asks again with its own position
        #expect(update.deliveries == [.response([1], .idle(Support.cursor(3))), .close([2]), .response([3], .idle(Support.cursor(8)))])
        #expect(feed.head == Support.cursor(9))
        #expect(feed.recentCount == 0)
        for revision: Int64 in 3...8 { #expect(wait(&feed, 5, after: revision) == .scan(.after(Support.cursor(revision)))) }
        #expect(wait(&feed, 6, after: 9).waiterID != nil)
        #expect(feed.publish(try commit(10...10)).deliveries.compactMap(\.pages).map(\.waiters) == [[6]])
        #expect(feed.waiting == 1)
    }

    @Test func anotherServersNewEpochEndsTheWaits() throws {
        // Given
        let other = try #require(Epoch("other"))
        var feed = feed()
        #expect(wait(&feed, 1, after: 3).waiterID != nil)
        // When
        let read = feed.note(announced: Support.cursor(0, epoch: other))
        let after = try #require(read)
        let update = feed.finish(FeedRead(after: after, position: Support.cursor(2, epoch: other), isComplete: false))
        // Then
        guard case .response([1], .gone(let problem, Support.cursor(2, epoch: other)))? = update.deliveries.first else {
            Issue.record("\(update.deliveries)")
            return
        }
        #expect(problem.code == .epochChanged)
        // And a late commit of the old history, or an announcement of it, has no effect
        #expect(feed.publish(try commit(4...4)) == FeedUpdate(deliveries: [], read: nil))
        #expect(feed.note(announced: Support.cursor(9)) == nil)
        #expect(feed.head == Support.cursor(2, epoch: other))
    }

    @Test(arguments: StoreKind.allCases) func aReadOfTheStoreKeepsAtomicBatchesTogether(_ kind: StoreKind) throws {
        // Given a batch of three between single writes, and an empty feed at 1
        let fixture = try StoreFixture(kind)
        try fixture.put("a/1", "1")
        _ = try fixture.batch((1...3).map { try Write($0, "b/\($0)", .put(json: "2")) }, atomic: true)
        try fixture.put("a/2", "3")
        // When
        let read = try fixture.store.feedRead(after: fixture.cursor(1), in: fixture.namespace, FeedLimits())
        // Then
        #expect(read.batches.map { $0.lowerBound.number...$0.upperBound.number } == [2...4])
        #expect(read.changes.map(\.revision.number) == [2, 3, 4, 5])
        #expect(read.isComplete)
        #expect(read.position == (try fixture.cursor(5)))
        var feed = ChangeFeed<Int>(position: try fixture.cursor(1))
        #expect(feed.note(announced: read.position) != nil)
        _ = feed.finish(read)
        let page = feed.ask(
            .after(try fixture.cursor(1)), try FeedSupport.subscription(limit: 2), waiter: 1, deadline: 0, now: 0
        ).page
        #expect(page?.changes.count == 3)
        // And more than a page is stated as such
        var limits = FeedLimits()
        limits.changes = 2
        #expect(try !fixture.store.feedRead(after: fixture.cursor(0), in: fixture.namespace, limits).isComplete)
        let foreign = Cursor(epoch: Epoch(bits: 1), revision: .zero)
        #expect(
            try fixture.store.feedRead(after: foreign, in: fixture.namespace, limits)
                == FeedRead(after: foreign, position: try fixture.cursor(5), isComplete: false))
    }
}
