import FreshetWire
import Testing

@testable import FreshetServer

/// Many polls that continue together must not each examine the changes between, nor each read the store: with busy
/// writers of other records that was all that the server did.
@Suite("Change feed: polls that continue together") struct FeedMemoryTests {
    private typealias Support = FeedSupport
    private static let writes: Int64 = 2_000

    /// A feed at 2,000. All its changes but those named are of the collection `other`.
    private static func feed(wanted: Set<Int64> = []) throws -> ChangeFeed<Int> {
        var feed = ChangeFeed<Int>(position: Support.cursor(0))
        for number in 1...writes {
            let key = wanted.contains(number) ? "a/\(number)" : "other/\(number)"
            _ = feed.commit([try Support.put(number, key)], at: Support.cursor(number))
        }
        return feed
    }

    private static func ask(_ feed: inout ChangeFeed<Int>, after revision: Int64, _ waiter: Int, stream: Bool = false) throws
        -> PollDecision
    {
        let subscription = try Support.subscription(["a"], stream: stream)
        return feed.ask(.after(Support.cursor(revision)), subscription, waiter: waiter, deadline: 25_000, now: 0)
    }

    @Test("Of many polls from one position, the first examines the changes since then for all") func examinesOnce() throws {
        // Given
        var feed = try Self.feed()
        // When
        for waiter in 0..<1_000 { #expect(try Self.ask(&feed, after: 5, waiter).waiterID != nil) }
        // Then
        #expect(feed.scannedChanges == Int(Self.writes - 5))
        // When others come from somewhat earlier, the first of them looks at the changes between
        for waiter in 0..<10 { #expect(try Self.ask(&feed, after: 2, waiter).waiterID != nil) }
        // Then
        #expect(feed.scannedChanges == Int(Self.writes - 2))
        // When nothing that they want happens, and then more come from the group's position or later
        for number in Self.writes + 1...Self.writes + 50 {
            #expect(feed.commit([try Support.put(number, "other/\(number)")], at: Support.cursor(number)).isEmpty)
        }
        for revision in [2, 3, 5, Self.writes, Self.writes + 7] { #expect(try Self.ask(&feed, after: revision, 1).waiterID != nil) }
        // Then
        #expect(feed.scannedChanges == Int(Self.writes - 2))
    }

    @Test("Of many late polls from one position, the first examines the changes since then for all") func examinesOnceForLatePolls() throws
    {
        // Given a change that all readers have missed
        var feed = try Self.feed(wanted: [1_500])
        let page = ChangePage(changes: [try Support.put(1_500, "a/1500")], cursor: Support.cursor(Self.writes), upToDate: true)
        // When
        for waiter in 0..<1_000 { #expect(try Self.ask(&feed, after: 5, waiter).page == page) }
        // Then
        #expect(feed.scannedChanges == Int(Self.writes - 5))
        // When there is more
        _ = feed.commit([try Support.put(Self.writes + 1, "a/1500")], at: Support.cursor(Self.writes + 1))
        // Then no reader gets the earlier page
        let later = try #require(try Self.ask(&feed, after: 5, 1).page)
        #expect(later.changes == [try Support.put(Self.writes + 1, "a/1500")])
        #expect(later.cursor == Support.cursor(Self.writes + 1))
    }

    @Test("A poll from before a change that the group has seen gets the change") func fromBeforeTheGroup() throws {
        // Given a group of readers that have seen 1,500
        var feed = try Self.feed(wanted: [1_500])
        #expect(try Self.ask(&feed, after: 1_500, 1).waiterID != nil)
        #expect(try Self.ask(&feed, after: 1_700, 2).waiterID != nil)
        // When
        let late = try Self.ask(&feed, after: 1_499, 3)
        // Then
        #expect(late.page?.changes == [try Support.put(1_500, "a/1500")])
        #expect(feed.waiting == 2)
        // When the group has got one more change and has left
        let deliveries = feed.commit([try Support.put(Self.writes + 1, "a/2")], at: Support.cursor(Self.writes + 1))
        #expect(deliveries.compactMap(\.pages).map(\.waiters) == [[1, 2]])
        // Then a reader from before the change gets it, and one from after the change waits
        #expect(try Self.ask(&feed, after: Self.writes, 4).page?.changes.count == 1)
        #expect(try Self.ask(&feed, after: Self.writes + 1, 5).waiterID != nil)
    }

    @Test("A stream stays after a change, and a stream from before the change gets it too") func streams() throws {
        // Given a stream that came from 0, and gets a change
        var feed = try Self.feed()
        #expect(try Self.ask(&feed, after: 0, 1, stream: true).waiterID != nil)
        let deliveries = feed.commit([try Support.put(Self.writes + 1, "a/1")], at: Support.cursor(Self.writes + 1))
        #expect(deliveries.compactMap(\.pages).map(\.waiters) == [[1]])
        // Then the group is still there, a reader from before the change gets it, and one from after the change waits
        #expect(try Self.ask(&feed, after: Self.writes, 2, stream: true).page?.changes.count == 1)
        #expect(try Self.ask(&feed, after: Self.writes + 1, 3, stream: true).waiterID != nil)
        #expect(feed.waiting == 2)
    }

    @Test("A poll from a group's previous position is answered without a store read") func fromTheGroupsPosition() throws {
        // Given a reader that waits since 2,000, and more changes of other collections than are kept in memory
        var feed = try Self.feed()
        #expect(try Self.ask(&feed, after: Self.writes, 1).waiterID != nil)
        let head = Self.writes + 5_000
        for number in Self.writes + 1...head {
            #expect(feed.commit([try Support.put(number, "other/\(number)")], at: Support.cursor(number)).isEmpty)
        }
        #expect(feed.floor.number > Self.writes)
        // Then a reader from there on joins, and one from before has to ask the store
        #expect(try Self.ask(&feed, after: Self.writes, 2).waiterID != nil)
        #expect(try Self.ask(&feed, after: Self.writes - 1, 3) == .scan(.after(Support.cursor(Self.writes - 1))))
        // And all get the next change
        let deliveries = feed.commit([try Support.put(head + 1, "a/1")], at: Support.cursor(head + 1))
        #expect(deliveries.compactMap(\.pages).map(\.waiters) == [[1, 2]])
        #expect(try Self.ask(&feed, after: Self.writes, 4).page?.changes == [try Support.put(head + 1, "a/1")])
    }

    @Test("A group knows nothing about changes that the store has compacted") func compactedForGroups() throws {
        // Given
        var feed = try Self.feed()
        #expect(try Self.ask(&feed, after: 5, 1).waiterID != nil)
        // When
        feed.dropRecent()
        // Then
        #expect(try Self.ask(&feed, after: 5, 2) == .scan(.after(Support.cursor(5))))
        #expect(try Self.ask(&feed, after: Self.writes, 3).waiterID != nil)
    }

    @Test("A page of changes that the store has compacted is not kept") func compactedForPages() throws {
        // Given a page that was made last
        var feed = try Self.feed(wanted: [1_500])
        #expect(try Self.ask(&feed, after: 5, 1).page != nil)
        // When
        feed.dropRecent()
        // Then
        #expect(try Self.ask(&feed, after: 5, 1) == .scan(.after(Support.cursor(5))))
    }

    /// A feed that keeps four changes, with a reader of `a` at 0 that gets a change at 1, and ten writes of others
    /// after it.
    private static func flooded() throws -> ChangeFeed<Int> {
        var limits = FeedLimits()
        limits.changes = 4
        var feed = ChangeFeed<Int>(position: Support.cursor(0), limits: limits)
        #expect(try ask(&feed, after: 0, 1).waiterID != nil)
        #expect(feed.commit([try Support.put(1, "a/1")], at: Support.cursor(1)).count == 1)
        for number: Int64 in 2...11 { _ = feed.commit([try Support.put(number, "other/\(number)")], at: Support.cursor(number)) }
        return feed
    }

    @Test("A poll after a delivery is answered without a store read during a flood of other writes") func flood() throws {
        // Given a change that has left memory, and a group whose members have not come back yet
        var feed = try Self.flooded()
        #expect(feed.floor.number > 1 && feed.waiting == 0)
        // When a reader that got the change comes back, Then it waits
        #expect(try Self.ask(&feed, after: 1, 1).waiterID != nil)
        // When one comes that missed the change, Then it gets the same page
        let page = try #require(try Self.ask(&feed, after: 0, 2).page)
        #expect(page == ChangePage(changes: [try Support.put(1, "a/1")], cursor: Support.cursor(1), upToDate: true))
        // And a reader with another subscription, or from a position before the group's, asks the store
        #expect(
            feed.ask(.after(Support.cursor(0)), Subscription(), waiter: 4, deadline: 25_000, now: 0) == .scan(.after(Support.cursor(0))))
        var younger = ChangeFeed<Int>(position: Support.cursor(3))
        #expect(try Self.ask(&younger, after: 1, 1) == .scan(.after(Support.cursor(1))))
    }

    @Test("A poll that is two changes late gets one after the other") func twoChangesLate() throws {
        // Given a group that was answered with two changes, the second while it had no members, and a flood after each
        var feed = try Self.flooded()
        #expect(feed.commit([try Support.put(12, "a/2")], at: Support.cursor(12)).isEmpty)
        for number: Int64 in 13...20 { _ = feed.commit([try Support.put(number, "other/\(number)")], at: Support.cursor(number)) }
        // Then the first page is marked as having more after it
        let first = try #require(try Self.ask(&feed, after: 0, 3).page)
        #expect(first == ChangePage(changes: [try Support.put(1, "a/1")], cursor: Support.cursor(1), upToDate: false))
        let second = try #require(try Self.ask(&feed, after: 1, 3).page)
        #expect(second == ChangePage(changes: [try Support.put(12, "a/2")], cursor: Support.cursor(12), upToDate: true))
        #expect(try Self.ask(&feed, after: 12, 3).waiterID != nil)
        #expect(feed.commit([try Support.put(21, "a/3")], at: Support.cursor(21)).compactMap(\.pages).map(\.waiters) == [[3]])
    }

    @Test("A delivered page is dropped after a while and in another epoch") func expires() throws {
        // Given
        var feed = try Self.flooded()
        // When, then
        _ = feed.expire(now: 1_000)
        _ = feed.expire(now: 9_999)
        #expect(try Self.ask(&feed, after: 0, 2).page != nil)
        #expect(feed.waiting == 0)
        // The same if no tick came in between
        var idle = try Self.flooded()
        let subscription = try Support.subscription(["a"])
        for revision: Int64 in [0, 1] {
            let since = Since.after(Support.cursor(revision))
            #expect(idle.ask(since, subscription, waiter: 2, deadline: 60_000, now: 10_000) == .scan(since))
        }
        _ = feed.expire(now: 13_001)
        #expect(try Self.ask(&feed, after: 0, 2) == .scan(.after(Support.cursor(0))))
        #expect(try Self.ask(&feed, after: 1, 2) == .scan(.after(Support.cursor(1))))
        var forgetful = try Self.flooded()
        forgetful.dropRecent()
        #expect(try Self.ask(&forgetful, after: 0, 2) == .scan(.after(Support.cursor(0))))
        #expect(try Self.ask(&forgetful, after: 1, 2) == .scan(.after(Support.cursor(1))))
        var another = try Self.flooded()
        let position = Support.cursor(0, epoch: Epoch(bits: 8))
        #expect(another.reset(to: position).isEmpty)
        #expect(another.drain().isEmpty)
    }

    @Test("A group that a reader ahead of the feed has joined is not dropped") func aheadOfTheFeed() throws {
        // Given a group whose members were answered and left, and a reader of a later position from the store than the
        // feed has
        var feed = try Self.flooded()
        let subscription = try Support.subscription(["a"])
        let ahead = feed.ask(.after(Support.cursor(12)), subscription, waiter: 7, isVerified: true, deadline: 60_000, now: 0)
        #expect(ahead.waiterID != nil)
        // When the feed has reached that position, and no other reader comes for a while
        #expect(feed.commit([try Support.put(12, "other/12")], at: Support.cursor(12)).isEmpty)
        for now: Int64 in [2_000, 12_000, 14_000] { #expect(feed.expire(now: now).isEmpty) }
        // Then the reader gets the next change
        #expect(feed.waiting == 1)
        let deliveries = feed.commit([try Support.put(13, "a/2")], at: Support.cursor(13))
        #expect(deliveries.compactMap(\.pages).map(\.waiters) == [[7]])
    }
}
