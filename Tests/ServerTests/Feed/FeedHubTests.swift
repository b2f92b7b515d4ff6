import FreshetWire
import Synchronization
import Testing

@testable import FreshetServer

/// The races of the hub: a feed is made while commits come in, and retired when it is unused. No exchange takes part.
@Suite("Feed hub") struct FeedHubTests {
    private let subscription = Subscription()
    private let namespace: Namespace

    init() throws { namespace = try Namespace("shop") }

    private func commit(_ revisions: ClosedRange<Int64>) throws -> NamespaceCommit {
        let changes = try revisions.map { try FeedSupport.put($0, "a/\($0)") }
        return NamespaceCommit(namespace: namespace, cursor: FeedSupport.cursor(revisions.upperBound), changes: changes)
    }

    /// Holds the hub weakly for its closure: a hub whose feeds never open would otherwise retain itself.
    private final class Box: Sendable {
        struct Content {
            weak var hub: FeedHub<Int>?
        }

        let content = Mutex(Content())
    }

    /// Makes a hub whose feeds open at a position that was read before `meanwhile` ran.
    private func hub(at revision: Int64, meanwhile: @escaping @Sendable (FeedHub<Int>) -> Void = { _ in }) -> FeedHub<Int> {
        let box = Box()
        let hub = FeedHub<Int>(limits: FeedLimits(), metrics: FeedMetrics()) { _ throws(StoreError) in
            let cursor = FeedSupport.cursor(revision)
            let opened = box.content.withLock { content in
                defer { content.hub = nil }
                return content.hub
            }
            if let opened { meanwhile(opened) }
            return cursor
        } deliver: { _ in
        }
        box.content.withLock { $0.hub = hub }
        return hub
    }

    private func ask(_ hub: FeedHub<Int>, after revision: Int64, now: Int64 = 0) throws -> FeedVerdict {
        // A reader that does not wait: its deadline has passed at once.
        try hub.ask(
            .after(FeedSupport.cursor(revision)), subscription, in: namespace, 1, deadline: now, now: now
        ).0
    }

    @Test func aCommitThatCrossesTheOpeningIsNotLost() throws {
        // Given: the position 3 is read, then 4 and 5 are committed and published, and only then does the feed open.
        let crossing = try commit(4...5)
        let hub = hub(at: 3) { $0.publish([crossing]) }
        // Then
        #expect(try ask(hub, after: 3).page?.changes.map(\.revision.number) == [4, 5])
        #expect(try ask(hub, after: 5) == .scan(.after(FeedSupport.cursor(5))))
        #expect(try ask(hub, after: 2) == .scan(.after(FeedSupport.cursor(2))))
    }

    @Test func aCommitThatTheOpeningHasSeenComesTwiceInVain() throws {
        // Given
        let hub = hub(at: 5)
        #expect(try ask(hub, after: 5) == .scan(.after(FeedSupport.cursor(5))))
        // When
        hub.publish([try commit(4...5)])
        hub.publish([try commit(6...6)])
        // Then
        #expect(try ask(hub, after: 5).page?.changes.map(\.revision.number) == [6])
    }

    @Test func whatNobodyAskedForIsNotKept() throws {
        // Given
        let hub = hub(at: 5)
        // When
        hub.publish([try commit(6...6)])
        // Then
        #expect(hub.totals().feeds == 0)
    }

    @Test func feedsThatNobodyUsesGo() throws {
        // Given
        let hub = hub(at: 5)
        _ = try ask(hub, after: 5)
        // Then: an empty feed is retired soon
        hub.expire(now: 5_000)
        #expect(hub.totals().feeds == 1)
        hub.expire(now: 5_001)
        #expect(hub.totals().feeds == 0)
        // and one with changes later
        _ = try ask(hub, after: 5, now: 6_000)
        hub.publish([try commit(6...6)])
        hub.expire(now: 306_000)
        #expect(hub.totals().changes == 1)
        hub.expire(now: 306_001)
        #expect(hub.totals().feeds == 0)
    }

    @Test func whoKeptAFeedThatIsGoneLooksItUpAgain() throws {
        // Given a caller that holds a namespace's feed while the hub retires the feed
        let hub = hub(at: 5)
        _ = try ask(hub, after: 5)
        hub.publish([try commit(6...6)])
        let kept = hub.entry(for: namespace, now: 0)
        let since = Since.after(FeedSupport.cursor(6))
        #expect(kept.ask(since, subscription, 1, deadline: 100, now: 0) != nil)
        hub.expire(now: 1_000)
        hub.expire(now: 300_001)
        // Then that feed answers nothing and keeps nothing in memory
        #expect(kept.ask(since, subscription, 1, deadline: nil, now: 300_002) == nil)
        #expect(kept.state.withLock { $0.feed == nil })
        // And the hub's new feed gets the commits
        let fresh = try hub.ask(since, subscription, in: namespace, 1, deadline: nil, now: 300_002).1
        #expect(fresh !== kept)
        hub.publish([try commit(6...6), try commit(7...7)])
        #expect(try ask(hub, after: 6, now: 300_003).page?.changes.map(\.revision.number) == [7])
    }
}
