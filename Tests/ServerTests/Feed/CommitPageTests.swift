import FreshetTrust
import FreshetWire
import Testing

@testable import FreshetServer

/// A subscription can differ from others in its limit alone, so each of many readers can demand another page.
@Suite("The pages that one commit makes") struct CommitPageTests {
    private typealias Support = FeedSupport

    /// A feed at 1 that makes 1,000 bytes of pages in a commit.
    private static func feed() -> ChangeFeed<Int> {
        var limits = FeedLimits()
        limits.commitBytes = 1_000
        return ChangeFeed(position: Support.cursor(1), limits: limits)
    }

    private static func ask(
        _ feed: inout ChangeFeed<Int>, after revision: Int64, _ waiter: Int, isStream: Bool = false
    ) throws -> PollDecision {
        let subscription = try Support.subscription(limit: waiter + 1, stream: isStream)
        return feed.ask(.after(Support.cursor(revision)), subscription, waiter: waiter, deadline: 25_000, now: 0)
    }

    @Test("end at a size; the other readers are sent back to their position, and get their pages one by one")
    func endAtASize() throws {
        // Given three polls and a stream with different limits
        var feed = Self.feed()
        for waiter in 1...3 { #expect(try Self.ask(&feed, after: 1, waiter).waiterID != nil) }
        #expect(try Self.ask(&feed, after: 1, 4, isStream: true).waiterID != nil)
        let change = try Support.put(2, "a/1", "\"\(String(repeating: "x", count: 700))\"")
        // When
        let deliveries = feed.commit([change], at: Support.cursor(2))
        // Then two get a page, which has more bytes than a commit makes
        #expect(deliveries.compactMap(\.pages).map(\.waiters) == [[1], [2]])
        #expect(deliveries.compactMap(\.pages).allSatisfy { $0.pages.first?.changes == [change] })
        // And the others continue from where they were
        #expect(deliveries[2...] == [.response([3], .idle(Support.cursor(1))), .resume([4], Support.cursor(1))])
        #expect(feed.waiting == 0)
        #expect(try Self.ask(&feed, after: 1, 3).page?.changes == [change])
        #expect(try Self.ask(&feed, after: 1, 4, isStream: true).page?.changes == [change])
    }

    @Test("end at a size for readers that were ahead of the feed")
    func endAtASizeForReadersAhead() throws {
        // Given four readers that know 2, of a feed at 1
        var feed = Self.feed()
        for waiter in 1...4 {
            let subscription = try Support.subscription(limit: waiter + 1)
            let decision = feed.ask(
                .after(Support.cursor(2)), subscription, waiter: waiter, isVerified: true, deadline: 25_000, now: 0)
            #expect(decision.waiterID != nil)
        }
        let changes = [try Support.put(2, "a/1"), try Support.put(3, "a/2", "\"\(String(repeating: "x", count: 700))\"")]
        // When
        let deliveries = feed.commit(changes, at: Support.cursor(3))
        // Then
        #expect(deliveries.compactMap(\.pages).map(\.waiters) == [[1], [2]])
        #expect(deliveries[2...] == [.response([3], .idle(Support.cursor(2))), .response([4], .idle(Support.cursor(2)))])
    }

    @Test("go to the groups of most readers first")
    func goToLargeGroupsFirst() throws {
        // Given three readers with a limit each, and then two that share one
        var feed = Self.feed()
        for waiter in 1...3 { #expect(try Self.ask(&feed, after: 1, waiter).waiterID != nil) }
        for waiter in 4...5 {
            #expect(feed.ask(.after(Support.cursor(1)), Subscription(), waiter: waiter, deadline: 25_000, now: 0).waiterID != nil)
        }
        // When a commit makes one page
        let change = try Support.put(2, "a/1", "\"\(String(repeating: "x", count: 1_000))\"")
        let deliveries = feed.commit([change], at: Support.cursor(2))
        // Then it is for the two
        #expect(deliveries.compactMap(\.pages).map(\.waiters) == [[4, 5]])
        #expect(deliveries.count == 4)
    }

    @Test("are found for a number of groups; beyond, all readers ask again")
    func groupsAreFoundUpToANumber() throws {
        // Given five groups, one of other records of the collection, one of another collection, and a commit that is compared with eight
        var limits = FeedLimits()
        limits.commitMatches = 8
        var feed = ChangeFeed<Int>(position: Support.cursor(1), limits: limits)
        for waiter in 1...4 { #expect(try Self.ask(&feed, after: 1, waiter).waiterID != nil) }
        let other = try Support.subscription(["a"], prefix: "x")
        let far = try Support.subscription(["b"])
        #expect(feed.ask(.after(Support.cursor(1)), other, waiter: 5, deadline: 25_000, now: 0).waiterID != nil)
        #expect(feed.ask(.after(Support.cursor(1)), far, waiter: 6, deadline: 25_000, now: 0).waiterID != nil)
        // When two changes find four groups each, and then three do
        let few = feed.commit(try (2...3).map { try Support.put($0, "a/\($0)") }, at: Support.cursor(3))
        #expect(few.compactMap(\.pages).count == 4 && few.count == 4)
        for waiter in 1...4 { #expect(try Self.ask(&feed, after: 3, waiter).waiterID != nil) }
        let changes = try (4...6).map { try Support.put($0, "a/\($0)") }
        let many = feed.commit(changes, at: Support.cursor(6))
        // Then all readers of the collection are sent back to before it, and each finds what it wants
        #expect(many.count == 5 && many.allSatisfy { if case .response(_, .idle(Support.cursor(3))) = $0 { true } else { false } })
        for waiter in 1...4 { #expect(try Self.ask(&feed, after: 3, waiter).page?.changes == Array(changes.prefix(waiter + 1))) }
        #expect(feed.ask(.after(Support.cursor(3)), other, waiter: 5, deadline: 25_000, now: 0).waiterID != nil)
        #expect(feed.waiting == 2)
    }

    @Test("are found for fewer groups of readers of a part, whose ranges have to be compared")
    func groupsOfPartsCountMore() throws {
        // Given two groups of readers of a part of 20 ranges, of which each comparison counts seven
        var limits = FeedLimits()
        limits.commitMatches = 15
        var feed = ChangeFeed<Int>(position: Support.cursor(1), limits: limits)
        let ranges = RangeSet((0..<20).map { .collection($0 == 0 ? "a" : "b\($0)", prefix: "") })
        let part = ReadablePart(ranges: ranges, digest: try #require(RightsDigest(ranges.digest)))
        func ask(_ waiter: Int, after revision: Int64) throws -> PollDecision {
            var subscription = try Support.subscription(limit: waiter + 1)
            subscription.part = part
            let since = Since.after(Support.cursor(revision).issued(to: part))
            return feed.ask(since, subscription, waiter: waiter, deadline: 25_000, now: 0)
        }
        for waiter in 1...2 { #expect(try ask(waiter, after: 1).waiterID != nil) }
        // When one change is compared with both, Then both get it
        let change = try Support.put(2, "a/1")
        #expect(feed.commit([change], at: Support.cursor(2)).compactMap(\.pages).count == 2)
        // When two are, Then both readers ask again
        for waiter in 1...2 { #expect(try ask(waiter, after: 2).waiterID != nil) }
        let changes = try (3...4).map { try Support.put($0, "a/\($0)") }
        let deliveries = feed.commit(changes, at: Support.cursor(4))
        #expect(deliveries.count == 2 && deliveries.compactMap(\.pages).isEmpty)
        for waiter in 1...2 { #expect(try ask(waiter, after: 2).page?.changes == Array(changes.prefix(waiter + 1))) }
    }

    @Test("are not made for more readers that may come back than are kept")
    func areNotMadeForAbsentReaders() throws {
        // Given twenty groups whose only reader was answered
        var feed = ChangeFeed<Int>(position: Support.cursor(1))
        for waiter in 1...20 { #expect(try Self.ask(&feed, after: 1, waiter).waiterID != nil) }
        #expect(feed.commit([try Support.put(2, "a/1")], at: Support.cursor(2)).count == 20)
        let before = feed.recentBytes
        // When a long change comes that all of them want
        let change = try Support.put(3, "a/2", "\"\(String(repeating: "x", count: 10_000))\"")
        #expect(feed.commit([change], at: Support.cursor(3)).isEmpty)
        // Then a few pages of it are kept, and each reader gets the change
        #expect(feed.recentBytes - before < 12 * 10_000)
        for waiter in 1...20 { #expect(try Self.ask(&feed, after: 2, waiter).page?.changes == [change]) }
    }
}
