import FreshetWire
import Testing

@testable import FreshetServer

@Suite("Change feed: asking, waiting, waking") struct ChangeFeedTests {
    private typealias Support = FeedSupport
    private let all = Subscription()

    private func feed(at revision: Int64 = 0, limits: FeedLimits = FeedLimits()) -> ChangeFeed<Int> {
        ChangeFeed(position: Support.cursor(revision), limits: limits)
    }

    private func ask(
        _ feed: inout ChangeFeed<Int>, after revision: Int64, _ subscription: Subscription, waiter: Int = 1,
        deadline: Int64? = 25_000, verified: Bool = false
    ) -> PollDecision {
        feed.ask(
            .after(Support.cursor(revision)), subscription, waiter: waiter, isVerified: verified, deadline: deadline, now: 0
        )
    }

    @Test func nowAnswersAtOnceWithThePosition() {
        // Given
        var feed = feed(at: 9)
        // When
        let decision = feed.ask(.now, all, waiter: 1, deadline: 25_000, now: 0)
        // Then
        #expect(decision.page == ChangePage(changes: [], cursor: Support.cursor(9), upToDate: true))
        #expect(feed.waiting == 0)
    }

    @Test("a reader that starts from nothing is answered by the store until it has reached its origin")
    func readingFromNothing() throws {
        // Given a feed with the changes 9 and 10 in memory, and a reader that started at 10 and has reached 8
        var feed = feed(at: 8)
        _ = feed.commit(try [Support.put(9, "a/1"), Support.put(10, "a/1")], at: Support.cursor(10))
        let epoch = Support.cursor(8).epoch
        func ask(_ revision: Int64, isVerified: Bool = false) -> PollDecision {
            let cursor = Cursor(epoch: epoch, revision: Support.cursor(revision).revision, goal: Revision(10).map { .origin($0) })
            return feed.ask(.after(cursor), all, waiter: 1, isVerified: isVerified, deadline: 25_000, now: 0)
        }
        // Then change 9, which 10 has overwritten, is not for a reader that may have seen 10 before
        let cursor = Cursor(epoch: epoch, revision: Support.cursor(8).revision, goal: Revision(10).map { .origin($0) })
        #expect(ask(8) == .scan(.after(cursor)) && ask(8, isVerified: true) == .scan(.after(cursor)))
        // And once it has reached its origin, memory answers
        #expect(feed.ask(.after(Support.cursor(9)), all, waiter: 1, deadline: 25_000, now: 0).page?.changes.map(\.revision.number) == [10])
        #expect(ask(10).waiterID != nil)
    }

    @Test func zeroAndWhatIsBeforeTheRingBelongToTheStore() {
        // Given
        var feed = feed(at: 9)
        // Then
        #expect(feed.ask(.start, all, waiter: 1, deadline: 25_000, now: 0) == .scan(.start))
        #expect(ask(&feed, after: 8, all) == .scan(.after(Support.cursor(8))))
    }

    @Test func oneAtTheHeadWaitsAndAMatchingCommitWakesIt() throws {
        // Given
        var feed = feed(at: 9)
        #expect(ask(&feed, after: 9, all, waiter: 4).waiterID != nil)
        // When
        let change = try Support.put(10, "a/1", #"{"n":1}"#)
        let deliveries = feed.commit([change], at: Support.cursor(10))
        // Then
        let woken = try #require(deliveries.first?.pages)
        #expect(deliveries.count == 1)
        #expect(woken.waiters == [4])
        #expect(woken.pages == [ChangePage(changes: [change], cursor: Support.cursor(10), upToDate: true)])
        #expect(feed.waiting == 0)
    }

    @Test func equalSubscriptionsShareOneAnswer() throws {
        // Given
        var feed = feed()
        for waiter in 1...3 { #expect(ask(&feed, after: 0, all, waiter: waiter).waiterID != nil) }
        #expect(ask(&feed, after: 0, try Support.subscription(values: false), waiter: 4).waiterID != nil)
        // When
        let deliveries = feed.commit([try Support.put(1, "a/1", "77")], at: Support.cursor(1))
        // Then
        #expect(deliveries.compactMap(\.pages).map(\.waiters) == [[1, 2, 3], [4]])
        #expect(deliveries.compactMap(\.pages).last?.pages.first?.changes == [try Support.put(1, "a/1", "77").withoutValue])
    }

    @Test func aCommitThatDoesNotMatchWakesNobodyYetTheAnswerMovesOn() throws {
        // Given
        var feed = feed()
        #expect(ask(&feed, after: 0, try Support.subscription(["a"]), waiter: 1).waiterID != nil)
        #expect(ask(&feed, after: 0, try Support.subscription(["b"], prefix: "eu-"), waiter: 2).waiterID != nil)
        // When
        let silent = feed.commit([try Support.put(1, "b/us-1"), try Support.put(2, "c/eu-1")], at: Support.cursor(2))
        let loud = feed.commit([try Support.put(3, "b/eu-1")], at: Support.cursor(3))
        // Then
        #expect(silent.isEmpty)
        #expect(loud.compactMap(\.pages).map(\.waiters) == [[2]])
        #expect(feed.expire(now: 30_000) == [.response([1], .idle(Support.cursor(3)))])
    }

    @Test(arguments: [
        (InvalidationScope.everything, [1, 2, 3, 4]), (.collection("a", prefix: ""), [1, 2, 4]),
        (.collection("a", prefix: "eu-7"), [1, 2, 4]),
        (.collection("a", prefix: "us"), [1, 4]), (.collection("b", prefix: ""), [1, 3, 4]), (.collection("c", prefix: "x"), [1]),
    ])
    func aSweepWakesThoseThatItReaches(scope: InvalidationScope, expected: [Int]) throws {
        // Given
        var feed = feed()
        let subscriptions = [
            Subscription(), try Support.subscription(["a"], prefix: "eu-"), try Support.subscription(["b"]),
            try Support.subscription(["a", "b"]),
        ]
        for (place, subscription) in subscriptions.enumerated() { _ = ask(&feed, after: 0, subscription, waiter: place + 1) }
        // When
        let woken = feed.commit([Support.sweep(1, scope)], at: Support.cursor(1)).compactMap(\.pages)
        // Then
        #expect(woken.flatMap(\.waiters).sorted() == expected)
        #expect(
            woken.allSatisfy { $0.pages == [ChangePage(changes: [Support.sweep(1, scope)], cursor: Support.cursor(1), upToDate: true)] })
    }

    @Test func aRecordThatChangedTwiceAppearsOnceAtItsLaterPlace() throws {
        // Given
        var feed = feed()
        _ = feed.commit(try [Support.put(1, "a/1"), try Support.put(2, "a/2")], at: Support.cursor(2))
        _ = feed.commit(try [Support.put(3, "a/1", "3"), try Support.delete(4, "a/4")], at: Support.cursor(4))
        // When
        let page = ask(&feed, after: 0, all).page
        // Then
        let expected = [try Support.put(2, "a/2"), try Support.put(3, "a/1", "3"), try Support.delete(4, "a/4")]
        #expect(page == ChangePage(changes: expected, cursor: Support.cursor(4), upToDate: true))
        #expect(ask(&feed, after: 2, all).page?.changes == Array(expected.dropFirst()))
    }

    @Test func twiceInOneCommitIsOnceInTheAnswer() throws {
        // Given
        var feed = feed()
        _ = ask(&feed, after: 0, all)
        // When
        let deliveries = feed.commit([try Support.put(1, "a/1"), try Support.put(2, "a/1", "2")], at: Support.cursor(2))
        // Then
        #expect(deliveries.first?.pages?.pages.first?.changes == [try Support.put(2, "a/1", "2")])
    }

    @Test func pagesEndAtTheLimitAndSayThatThereIsMore() throws {
        // Given
        var feed = feed()
        _ = feed.commit(try (1...5).map { try Support.put($0, "a/\($0)") }, at: Support.cursor(5))
        let two = try Support.subscription(limit: 2)
        // When
        let first = try #require(ask(&feed, after: 0, two).page)
        let last = try #require(ask(&feed, after: 4, two).page)
        // Then
        #expect(first.changes.map(\.revision.number) == [1, 2])
        #expect(first.cursor == Support.cursor(2, towards: 5) && !first.upToDate)
        #expect(last.changes.map(\.revision.number) == [5])
        #expect(last.cursor == Support.cursor(5) && last.upToDate)
    }

    @Test("a reader whose page left out a replaced change is answered by the store until the feed has the replacement")
    func readersThatHaveSeenALaterHead() throws {
        // Given a reader at 2, by a page of another server as of 4, which omitted change 1 of a record since 4 has
        // replaced it; and a feed that has not got that far
        var feed = feed()
        _ = feed.commit([try Support.put(1, "a/1"), try Support.put(2, "a/2"), try Support.put(3, "a/3")], at: Support.cursor(3))
        let cursor = Support.cursor(2, towards: 4)
        // Then it is not answered that change 3 is all, whether it waits or not
        #expect(feed.ask(.after(cursor), all, waiter: 1, deadline: 25_000, now: 0) == .scan(.after(cursor)))
        #expect(feed.ask(.after(cursor), all, waiter: 1, deadline: 0, now: 0) == .scan(.after(cursor)))
        // When the feed has the replacement
        _ = feed.commit([try Support.put(4, "a/1")], at: Support.cursor(4))
        // Then the reader gets it from memory
        let page = try #require(feed.ask(.after(cursor), all, waiter: 1, deadline: 25_000, now: 0).page)
        #expect(page.changes.map(\.revision.number) == [3, 4] && page.cursor == Support.cursor(4) && page.upToDate)
    }

    @Test func aPageIsBoundedInBytesButNeverEmpty() throws {
        // Given
        var limits = FeedLimits()
        limits.pageBytes = 10
        var feed = feed(limits: limits)
        _ = feed.commit(try [Support.put(1, "a/1"), try Support.put(2, "a/2")], at: Support.cursor(2))
        // Then
        #expect(ask(&feed, after: 0, all).page?.changes.count == 1)
        #expect(ask(&feed, after: 1, all).page?.changes.count == 1)
    }

    @Test func aLongValueIsLeftOut() throws {
        // Given
        var limits = FeedLimits()
        limits.inlineBytes = 8
        var feed = feed(limits: limits)
        let short = try Support.put(1, "a/1", "12345678")
        let long = try Support.put(2, "a/2", "123456789")
        // When
        _ = feed.commit([short, long], at: Support.cursor(2))
        // Then
        #expect(ask(&feed, after: 0, all).page?.changes == [short, long.withoutValue])
    }

    @Test func deadlinesAreKeptButNotHurried() throws {
        // Given
        var feed = feed(at: 3)
        _ = ask(&feed, after: 3, all, waiter: 1, deadline: 1_000)
        _ = ask(&feed, after: 3, try Support.subscription(["a"]), waiter: 2, deadline: 1_000)
        _ = ask(&feed, after: 3, all, waiter: 3, deadline: 60_000)
        // Then
        #expect(feed.expire(now: 999).isEmpty)
        #expect(feed.expire(now: 1_000 + WaiterTable<Int>.bucketWidth) == [.response([1, 2], .idle(Support.cursor(3)))])
        #expect(feed.waiting == 1)
        #expect(feed.expire(now: 59_999).isEmpty)
        #expect(feed.expire(now: 61_000) == [.response([3], .idle(Support.cursor(3)))])
    }

    @Test func whoeverDoesNotWaitIsToldThatThereIsNothingByTheStoreAlone() {
        // Given a feed at 3, while the store may have 4 already, because of which a page omitted 2
        var feed = feed(at: 3)
        // When a reader asks without waiting, Then the store is asked
        #expect(ask(&feed, after: 3, all, deadline: 0) == .scan(.after(Support.cursor(3))))
        // And if the store has nothing, the reader is answered at once
        #expect(ask(&feed, after: 3, all, deadline: 0, verified: true) == .reply(.idle(Support.cursor(3))))
        #expect(feed.waiting == 0)
    }

    @Test func theCancelledAreGoneAndTicketsAreNotUsedAgain() throws {
        // Given
        var feed = feed()
        let first = try #require(ask(&feed, after: 0, all, waiter: 1).waiterID)
        let second = try #require(ask(&feed, after: 0, all, waiter: 2).waiterID)
        // When
        feed.cancel(first)
        let third = try #require(ask(&feed, after: 0, all, waiter: 3).waiterID)
        feed.cancel(first)
        // Then
        #expect(Set([first, second, third]).count == 3)
        #expect(feed.waiting == 2)
        #expect(feed.commit([try Support.put(1, "a/1")], at: Support.cursor(1)).first?.pages?.waiters.sorted() == [2, 3])
        feed.cancel(second)
        #expect(feed.waiting == 0)
    }

    @Test func aNewEpochEndsEveryWait() throws {
        // Given
        var feed = feed(at: 5)
        let next = Support.cursor(0, epoch: Epoch(bits: 8))
        _ = ask(&feed, after: 5, all, waiter: 1)
        _ = ask(&feed, after: 5, try Support.subscription(stream: true), waiter: 2, deadline: nil)
        // When
        let deliveries = feed.reset(to: next)
        // Then
        guard case .response([1], .gone(let problem, next)) = deliveries.first else { return #expect(Bool(false), "\(deliveries)") }
        #expect(problem.code == .epochChanged)
        #expect(deliveries.last == .close([2]))
        // The store refuses the old position, and states how much of its history the new one continues.
        #expect(ask(&feed, after: 5, all) == .scan(.after(Support.cursor(5))))
        #expect(feed.ask(.after(next), all, waiter: 3, deadline: 25_000, now: 0).waiterID != nil)
        #expect(
            feed.ask(.after(Support.cursor(1, epoch: Epoch(bits: 99))), all, waiter: 3, deadline: 1, now: 0)
                == .scan(.after(Support.cursor(1, epoch: Epoch(bits: 99)))))
    }

    @Test func whoIsLetGoIsToldThePositionAndMayWaitAgain() throws {
        // Given
        var feed = feed(at: 5)
        #expect(ask(&feed, after: 5, all, waiter: 1).waiterID != nil)
        #expect(ask(&feed, after: 5, try Support.subscription(stream: true), waiter: 2).waiterID != nil)
        // Then
        #expect(feed.releaseWaiters() == [.response([1], .idle(Support.cursor(5))), .close([2])])
        #expect(feed.waiting == 0 && ask(&feed, after: 5, all, waiter: 3).waiterID != nil)
    }

    @Test func afterForgettingTheStoreAnswersForWhatIsBeforeTheHead() throws {
        // Given a feed with a change in memory, and a waiter
        var feed = feed(at: 5)
        _ = feed.commit(try [Support.put(6, "a/1")], at: Support.cursor(6))
        #expect(ask(&feed, after: 6, all, waiter: 1).waiterID != nil)
        #expect(ask(&feed, after: 5, all, waiter: 2).page != nil)
        // When
        feed.dropRecent()
        // Then
        #expect(ask(&feed, after: 5, all, waiter: 2) == .scan(.after(Support.cursor(5))))
        let deliveries = feed.commit([try Support.put(7, "a/1")], at: Support.cursor(7))
        #expect(deliveries.first?.pages?.waiters == [1])
    }

    @Test func drainingTellsEveryoneThePositionAndLetsNobodyWait() throws {
        // Given
        var feed = feed(at: 5)
        _ = ask(&feed, after: 5, all, waiter: 1)
        _ = ask(&feed, after: 5, try Support.subscription(stream: true), waiter: 2, deadline: nil)
        // Then
        #expect(feed.drain() == [.response([1], .idle(Support.cursor(5))), .close([2])])
        #expect(ask(&feed, after: 5, all) == .reply(.idle(Support.cursor(5))))
    }

    @Test func streamsStayWhileEachPageBringsThemUpToDate() throws {
        // Given
        var feed = feed()
        _ = ask(&feed, after: 0, try Support.subscription(limit: 2, stream: true), waiter: 1, deadline: nil)
        // When
        let first = feed.commit([try Support.put(1, "a/1"), try Support.put(2, "a/2")], at: Support.cursor(2))
        let second = feed.commit([try Support.put(3, "a/3")], at: Support.cursor(3))
        // Then
        #expect(first.compactMap(\.pages).map(\.waiters) == [[1]])
        #expect(first.first?.pages?.pages.map { $0.changes.map(\.revision.number) } == [[1, 2]])
        #expect(second.first?.pages?.pages.map(\.cursor) == [Support.cursor(3)])
        #expect(feed.waiting == 1)
    }

    @Test func aStreamThatIsNotUpToDateLeavesAndAsksOn() throws {
        // Given
        var feed = feed()
        let stream = try Support.subscription(limit: 2, stream: true)
        _ = ask(&feed, after: 0, stream, waiter: 1, deadline: nil)
        // When
        let deliveries = feed.commit(try (1...3).map { try Support.put($0, "a/\($0)") }, at: Support.cursor(3))
        // Then
        let page = try #require(deliveries.first?.pages?.pages.first)
        #expect(page.changes.count == 2 && !page.upToDate)
        #expect(feed.waiting == 0)
        #expect(ask(&feed, after: page.cursor.revision.number, stream, deadline: nil).page?.changes.map(\.revision.number) == [3])
    }

    @Test func silentStreamsAreKeptAlive() throws {
        // Given
        var feed = feed(at: 2)
        _ = feed.expire(now: 0)
        _ = ask(&feed, after: 2, try Support.subscription(stream: true), waiter: 1, deadline: nil)
        // Then
        #expect(feed.expire(now: 14_999).isEmpty)
        #expect(feed.expire(now: 15_000) == [.keepAlive([1], Support.cursor(2))])
        #expect(feed.expire(now: 15_256).isEmpty)
        #expect(feed.expire(now: 30_000) == [.keepAlive([1], Support.cursor(2))])
    }

    @Test func aStreamWhoseEndIsFurtherAwayThanTheFeedCountsGoesOn() throws {
        // Given a stream whose credential ends in an hour
        var feed = feed(at: 2)
        _ = ask(&feed, after: 2, try Support.subscription(stream: true), waiter: 1, deadline: 3_600_000)
        // When its place in the wheel has passed
        let deliveries = (1...70).flatMap { feed.expire(now: Int64($0) * 1_000) }
        // Then it continues if its session has not ended, and is not closed
        #expect(deliveries.contains(.resume([1], Support.cursor(2))) && !deliveries.contains(.close([1])))
        #expect(feed.waiting == 0)
    }

    @Test func oneThatKnowsMoreThanTheFeedWaitsForItWithoutGoingBack() throws {
        // Given: a read showed revision 3 before its commit was published.
        var feed = feed(at: 2)
        #expect(ask(&feed, after: 3, all) == .scan(.after(Support.cursor(3))))
        #expect(ask(&feed, after: 3, all, waiter: 1, verified: true).waiterID != nil)
        #expect(ask(&feed, after: 3, all, waiter: 2, deadline: 100, verified: true).waiterID != nil)
        // When
        let timedOut = feed.expire(now: 1_000)
        let known = feed.commit([try Support.put(3, "a/1")], at: Support.cursor(3))
        let new = feed.commit([try Support.put(4, "a/2")], at: Support.cursor(4))
        // Then
        #expect(timedOut == [.response([2], .idle(Support.cursor(3)))])
        #expect(known.isEmpty)
        #expect(new.compactMap(\.pages).map(\.waiters) == [[1]])
        #expect(new.first?.pages?.pages.first?.changes == [try Support.put(4, "a/2")])
    }

    @Test func oneThatKnowsMoreGetsTheRestOfTheCommitThatPassesIt() throws {
        // Given
        var feed = feed(at: 2)
        _ = ask(&feed, after: 3, all, waiter: 1, verified: true)
        // When
        let deliveries = feed.commit([try Support.put(3, "a/1"), try Support.put(4, "a/2")], at: Support.cursor(4))
        // Then
        #expect(deliveries.first?.pages?.pages.first?.changes == [try Support.put(4, "a/2")])
        #expect(feed.waiting == 0)
    }

    @Test func aCommitThatTheFeedWasOpenedPastIsIgnored() throws {
        // Given
        var feed = feed(at: 5)
        _ = ask(&feed, after: 5, all)
        // Then
        #expect(feed.commit([try Support.put(4, "a/1"), try Support.put(5, "a/2")], at: Support.cursor(5)).isEmpty)
        #expect(feed.waiting == 1)
    }
}
