import FreshetWire
import Synchronization
import Testing

@testable import FreshetServer

/// The races of the registry: a feed is made while commits come in, and evicted when it is unused. No exchange takes part.
@Suite("Feed registry") struct FeedRegistryTests {
    private let subscription = Subscription()
    private let namespace: Namespace

    init() throws { namespace = try Namespace("shop") }

    private func commit(_ revisions: ClosedRange<Int64>) throws -> NamespaceCommit {
        let changes = try revisions.map { try FeedSupport.put($0, "a/\($0)") }
        return NamespaceCommit(
            namespace: namespace, base: FeedSupport.cursor(revisions.lowerBound - 1), cursor: FeedSupport.cursor(revisions.upperBound),
            changes: changes)
    }

    /// Holds the registry weakly for its closure: a registry whose feeds never open would otherwise retain itself.
    private final class Box: Sendable {
        struct Content {
            weak var feeds: FeedRegistry<Int>?
        }

        let content = Mutex(Content())
    }

    /// The work of the read queue, which a test performs when it wants.
    private final class Work: Sendable {
        private let waiting = Mutex<[@Sendable () -> Void]>([])
        private let reads = Mutex<[Cursor]>([])
        /// What the store returns; `nil` if it fails.
        let result = Mutex<FeedRead?>(nil)

        /// The positions after which the store was read.
        var positions: [Int64] { reads.withLock { $0.map(\.revision.number) } }
        var count: Int { waiting.withLock { $0.count } }

        func later(_ work: @escaping @Sendable () -> Void) { waiting.withLock { $0.append(work) } }

        func read(after cursor: Cursor, _: Namespace) -> FeedRead? {
            reads.withLock { $0.append(cursor) }
            return result.withLock { $0 }
        }

        func perform() {
            let work = waiting.withLock { waiting in
                defer { waiting = [] }
                return waiting
            }
            for work in work { work() }
        }
    }

    private let work = Work()

    /// Makes a registry whose feeds open at a position that was read before `meanwhile` ran.
    private func feeds(at revision: Int64, meanwhile: @escaping @Sendable (FeedRegistry<Int>) -> Void = { _ in }) -> FeedRegistry<Int> {
        let box = Box()
        let source = FeedSource { _ throws(StoreError) in
            let cursor = FeedSupport.cursor(revision)
            let opened = box.content.withLock { content in
                defer { content.feeds = nil }
                return content.feeds
            }
            if let opened { meanwhile(opened) }
            return cursor
        } positions: { _ throws(StoreError) in
            []
        } read: { [work] in
            work.read(after: $0, $1)
        } later: { [work] in
            work.later($0)
        }
        let feeds = FeedRegistry<Int>(limits: FeedLimits(), metrics: FeedMetrics(), source: source) { _ in }
        box.content.withLock { $0.feeds = feeds }
        return feeds
    }

    private func ask(_ feeds: FeedRegistry<Int>, after revision: Int64, now: Int64 = 0) throws -> PollDecision {
        // A reader that does not wait: its deadline has passed at once.
        try feeds.ask(
            .after(FeedSupport.cursor(revision)), subscription, in: namespace, 1, deadline: now, now: now
        ).0
    }

    @Test func aCommitThatCrossesTheOpeningIsNotLost() throws {
        // Given: the position 3 is read, then 4 and 5 are committed and published, and only then does the feed open.
        let crossing = try commit(4...5)
        let feeds = feeds(at: 3) { $0.publish([crossing]) }
        // Then
        #expect(try ask(feeds, after: 3).page?.changes.map(\.revision.number) == [4, 5])
        #expect(try ask(feeds, after: 5) == .scan(.after(FeedSupport.cursor(5))))
        #expect(try ask(feeds, after: 2) == .scan(.after(FeedSupport.cursor(2))))
    }

    @Test func aCommitThatTheOpeningHasSeenComesTwiceInVain() throws {
        // Given
        let feeds = feeds(at: 5)
        #expect(try ask(feeds, after: 5) == .scan(.after(FeedSupport.cursor(5))))
        // When
        feeds.publish([try commit(4...5)])
        feeds.publish([try commit(6...6)])
        // Then
        #expect(try ask(feeds, after: 5).page?.changes.map(\.revision.number) == [6])
    }

    @Test func aCommitBeyondAGapIsPublishedOnceTheStoreWasRead() throws {
        // Given a feed at 3, and a commit of 5 alone: another server has committed 4
        let feeds = feeds(at: 3)
        _ = try ask(feeds, after: 3)
        // When
        feeds.publish([try commit(5...5)])
        // Then nothing is published, and the publisher does not read the store itself
        #expect(try ask(feeds, after: 3) == .scan(.after(FeedSupport.cursor(3))))
        #expect(work.positions.isEmpty)
        // When the store fails
        work.perform()
        // Then it is read again at the next tick
        #expect(work.positions == [3])
        #expect(work.count == 0)
        feeds.expire(now: 1)
        #expect(work.count == 1)
        // When the store returns both
        work.result.withLock { $0 = read([4, 5], after: 3) }
        work.perform()
        // Then
        #expect(try ask(feeds, after: 3).page?.changes.map(\.revision.number) == [4, 5])
        #expect(work.positions == [3, 3])
        #expect(work.count == 0)
    }

    @Test func anAnnouncementThatCrossesTheOpeningIsNotLost() throws {
        // Given: the position 3 is read, then another server announces 4, and only then does the feed open
        let namespace = namespace
        work.result.withLock { $0 = read([4], after: 3) }
        let feeds = feeds(at: 3) { $0.follow(namespace, to: FeedSupport.cursor(4)) }
        _ = try ask(feeds, after: 3)
        // When
        work.perform()
        // Then
        #expect(try ask(feeds, after: 3).page?.changes.map(\.revision.number) == [4])
        #expect(feeds.followed == [namespace])
    }

    @Test func anAnnouncementForAnUnusedNamespaceReadsNothing() throws {
        let feeds = feeds(at: 3)
        feeds.follow(namespace, to: FeedSupport.cursor(4))
        #expect(work.count == 0)
        #expect(feeds.followed.isEmpty)
    }

    private func read(_ revisions: [Int64], after revision: Int64) -> FeedRead {
        FeedRead(
            after: FeedSupport.cursor(revision), position: FeedSupport.cursor(revisions.last ?? revision),
            changes: revisions.compactMap { try? FeedSupport.put($0, "a/\($0)") }, isComplete: true)
    }

    @Test func whatNobodyAskedForIsNotKept() throws {
        // Given
        let feeds = feeds(at: 5)
        // When
        feeds.publish([try commit(6...6)])
        // Then
        #expect(feeds.totals().feeds == 0)
    }

    @Test func feedsThatNobodyUsesGo() throws {
        // Given
        let feeds = feeds(at: 5)
        _ = try ask(feeds, after: 5)
        // Then: an empty feed is evicted soon
        feeds.expire(now: 5_000)
        #expect(feeds.totals().feeds == 1)
        feeds.expire(now: 5_001)
        #expect(feeds.totals().feeds == 0)
        // and one with changes later
        _ = try ask(feeds, after: 5, now: 6_000)
        feeds.publish([try commit(6...6)])
        feeds.expire(now: 306_000)
        #expect(feeds.totals().changes == 1)
        feeds.expire(now: 306_001)
        #expect(feeds.totals().feeds == 0)
    }

    @Test func whoKeptAFeedThatIsGoneLooksItUpAgain() throws {
        // Given a caller that holds a namespace's feed while the registry evicts the feed
        let feeds = feeds(at: 5)
        _ = try ask(feeds, after: 5)
        feeds.publish([try commit(6...6)])
        let kept = feeds.entry(for: namespace, now: 0)
        let since = Since.after(FeedSupport.cursor(6))
        #expect(kept.ask(since, subscription, 1, deadline: 100, now: 0) != nil)
        feeds.expire(now: 1_000)
        feeds.expire(now: 300_001)
        // Then that feed answers nothing and keeps nothing in memory
        #expect(kept.ask(since, subscription, 1, deadline: nil, now: 300_002) == nil)
        #expect(kept.state.withLock { $0.feed == nil })
        // And the registry's new feed gets the commits
        let fresh = try feeds.ask(since, subscription, in: namespace, 1, deadline: nil, now: 300_002).1
        #expect(fresh !== kept)
        feeds.publish([try commit(6...6), try commit(7...7)])
        #expect(try ask(feeds, after: 6, now: 300_003).page?.changes.map(\.revision.number) == [7])
    }
}
