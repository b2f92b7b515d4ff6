import FreshetWire
import Testing

@testable import FreshetServer

@Suite("Budget of recent changes") struct RecentBudgetTests {
    private typealias Holding = RecentBudget.Holding

    @Test func nothingGoesWithinTheBudget() {
        let holdings = [Holding(bytes: 60, lastUse: 1), Holding(bytes: 40, lastUse: 2)]
        #expect(RecentBudget(bytes: 100).evicted(from: holdings).isEmpty)
    }

    @Test func theLongestUnusedGoUntilAQuarterIsFree() {
        // Given 110 of 100 bytes, the second unused for longest, then an empty one
        let holdings = [
            Holding(bytes: 30, lastUse: 3), Holding(bytes: 30, lastUse: 1), Holding(bytes: 0, lastUse: 2), Holding(bytes: 50, lastUse: 4),
        ]
        // Then 80 bytes are still more than 75
        #expect(RecentBudget(bytes: 100).evicted(from: holdings) == [1, 0])
        #expect(RecentBudget(bytes: 0).evicted(from: holdings) == [1, 0, 3])
    }

    @Test func theFeedsOfManyNamespacesStayWithinOneBudget() throws {
        // Given a registry with room for some 30 changes of a kilobyte, and ten namespaces that were asked for one after the other
        var limits = FeedLimits()
        limits.totalBytes = 50_000
        let source = FeedSource { _ throws(StoreError) in
            FeedSupport.cursor(1)
        } positions: { _ throws(StoreError) in
            []
        } read: { _, _ in
            nil
        } later: { _ in
        }
        let feeds = FeedRegistry<Int>(limits: limits, metrics: FeedMetrics(), source: source) { _ in }
        let namespaces = try (0..<10).map { try Namespace("shop-\($0)") }
        func ask(_ place: Int, after revision: Int64) throws -> PollDecision {
            try feeds.ask(.after(FeedSupport.cursor(revision)), Subscription(), in: namespaces[place], 1, deadline: 0, now: Int64(place)).0
        }
        for place in namespaces.indices { _ = try ask(place, after: 1) }
        // When each gets ten such changes
        let value = "\"" + String(repeating: "x", count: 1_000) + "\""
        for revision in Int64(2)...11 {
            for namespace in namespaces {
                let change = try FeedSupport.put(revision, "a/\(revision)", value)
                feeds.publish([
                    NamespaceCommit(
                        namespace: namespace, base: FeedSupport.cursor(revision - 1), cursor: FeedSupport.cursor(revision),
                        changes: [change])
                ])
                #expect(feeds.totals().bytes <= limits.totalBytes)
            }
        }
        // Then the one asked for last is answered from memory, and the first one from the store
        #expect(try ask(9, after: 1).page?.changes.count == 10)
        #expect(try ask(0, after: 1) == .scan(.after(FeedSupport.cursor(1))))
        #expect(feeds.metrics.evicted.value > 0)
    }
}
