import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetServer

/// Random histories against ``FeedModel``: no change is lost or invented, changes come in order and match the filter,
/// and a waiter is woken exactly if there is one for it.
@Suite("Change feed against a naive model") struct ChangeFeedModelTests {
    private struct Waiting {
        var position: Int64
        var subscription: Subscription
        var deadline: Int64
        var ticket: WaiterTicket
    }

    private struct World {
        var random: SeededGenerator
        var feed: ChangeFeed<Int>
        var model = FeedModel()
        var waiting: [Int: Waiting] = [:]
        var nextWaiter = 0
        var now: Int64 = 0
        var answered = 0
    }

    private func scope(_ random: inout SeededGenerator) throws -> InvalidationScope {
        let collection = ["a", "b", "c"][Int.random(in: 0..<3, using: &random)]
        let prefix = ["", "e", "eu", "eu-1", "u"][Int.random(in: 0..<5, using: &random)]
        return switch Int.random(in: 0..<12, using: &random) {
        case 0: .everything
        case 1: .collection(collection, prefix: prefix)
        default: .key(try RecordKey(collection: collection, id: ["eu-1", "eu-2", "e", "us-1", "z"][Int.random(in: 0..<5, using: &random)]))
        }
    }

    private func change(_ revision: Int64, _ random: inout SeededGenerator) throws -> Change {
        let scope = try scope(&random)
        guard case .key(let key) = scope else { return FeedSupport.sweep(revision, scope) }
        return switch Int.random(in: 0..<6, using: &random) {
        case 0: try FeedSupport.delete(revision, key.description)
        case 1: FeedSupport.sweep(revision, scope)
        default: try FeedSupport.put(revision, key.description, "\(revision)")
        }
    }

    private func subscription(_ random: inout SeededGenerator) throws -> Subscription {
        // Half of the readers have the same subscription.
        if Bool.random(using: &random) { return try FeedSupport.subscription(["b"], prefix: "u", values: false, limit: 1_000) }
        let collections = [[], ["a"], ["b"], ["a", "c"]][Int.random(in: 0..<4, using: &random)]
        let prefix = ["", "", "e", "eu-", "u"][Int.random(in: 0..<5, using: &random)]
        return try FeedSupport.subscription(
            collections, prefix: prefix, values: Bool.random(using: &random), limit: [1, 2, 1_000][Int.random(in: 0..<3, using: &random)])
    }

    /// Asks for a reader that has read a later position from the store than the feed has: it waits until the feed has
    /// reached that position.
    private func askAhead(_ world: inout World) throws {
        let subscription = try subscription(&world.random)
        let position = world.model.head + Int64.random(in: 1...4, using: &world.random)
        let deadline = world.now + Int64.random(in: 1...30_000, using: &world.random)
        world.nextWaiter += 1
        let verdict = world.feed.ask(
            .after(FeedSupport.cursor(position)), subscription, waiter: world.nextWaiter, isVerified: true, deadline: deadline,
            now: world.now)
        world.waiting[world.nextWaiter] = Waiting(
            position: position, subscription: subscription, deadline: deadline, ticket: try #require(verdict.ticket))
    }

    private func ask(_ world: inout World) throws {
        let subscription = try subscription(&world.random)
        let back = Bool.random(using: &world.random) ? 0 : Int64.random(in: 0...12, using: &world.random)
        let position = max(0, world.model.head - back)
        let deadline = world.now + Int64.random(in: 1...30_000, using: &world.random)
        world.nextWaiter += 1
        let waiter = world.nextWaiter
        let expected = world.model.page(after: position, subscription)
        switch world.feed.ask(
            .after(FeedSupport.cursor(position)), subscription, waiter: waiter, deadline: deadline, now: world.now)
        {
        case .scan:
            #expect(position < world.feed.floor.number)
            // The caller looks into the store, and comes back only if the store has nothing.
            guard expected == nil else { return }
            let verdict = world.feed.ask(
                .after(FeedSupport.cursor(world.model.head)), subscription, waiter: waiter, isVerified: true, deadline: deadline,
                now: world.now)
            let ticket = try #require(verdict.ticket)
            world.waiting[waiter] = Waiting(
                position: world.model.head, subscription: subscription, deadline: deadline, ticket: ticket)
        // Below the changes in memory, a late reader may get the page that earlier readers got.
        case .reply(let reply) where position < world.feed.floor.number && reply.page != expected:
            let page = try #require(reply.page)
            #expect(world.model.hasBeen(page, after: position, subscription))
        case .reply(let reply): #expect(reply.page == expected)
        case .parked(let ticket):
            #expect(expected == nil)
            world.waiting[waiter] = Waiting(position: position, subscription: subscription, deadline: deadline, ticket: ticket)
        }
    }

    private func commit(_ world: inout World) throws {
        let count = Int64.random(in: 1...6, using: &world.random)
        let changes = try (1...count).map { try change(world.model.head + $0, &world.random) }
        // Up to two atomic batches, with changes of other requests around them.
        let cuts = (0..<4).map { _ in Int.random(in: 0..<changes.count, using: &world.random) }.sorted()
        let batches = [(cuts[0], cuts[1]), (cuts[2], cuts[3])].compactMap { first, last in
            first < last ? changes[first].revision...changes[last].revision : nil
        }
        let apart = batches.count == 2 && batches[0].overlaps(batches[1]) ? Array(batches.prefix(1)) : batches
        world.model.commit(changes, batches: apart)
        let deliveries = world.feed.commit(changes, batches: apart, at: FeedSupport.cursor(world.model.head))
        for delivery in deliveries {
            let (waiters, pages) = try #require(delivery.pages)
            for waiter in waiters {
                let waiting = try take(waiter, &world)
                #expect(pages == [world.model.page(after: waiting.position, waiting.subscription)])
                world.answered += 1
            }
        }
        // A waiter that was not woken has nothing to be woken for.
        #expect(world.waiting.values.allSatisfy { world.model.page(after: $0.position, $0.subscription) == nil })
    }

    private func expire(_ world: inout World) throws {
        world.now += Int64.random(in: 1...4_000, using: &world.random)
        for delivery in world.feed.expire(now: world.now) {
            guard case .answer(let waiters, .idle(let cursor)) = delivery else { throw Unexpected() }
            for waiter in waiters {
                let waiting = try take(waiter, &world)
                #expect(cursor == FeedSupport.cursor(max(waiting.position, world.model.head)))
                #expect(waiting.deadline <= world.now)
            }
        }
        #expect(world.waiting.values.allSatisfy { $0.deadline + 2 * WaiterTable<Int>.bucketWidth > world.now })
    }

    /// Removes a waiter that is answered or cancelled, which must have waited until now.
    private func take(_ waiter: Int, _ world: inout World) throws -> Waiting {
        guard let waiting = world.waiting.removeValue(forKey: waiter) else { throw Unexpected() }
        return waiting
    }

    private struct Unexpected: Error {}

    @Test(arguments: 0..<32 as Range<UInt64>)
    func randomHistories(seed: UInt64) throws {
        // Given
        var limits = FeedLimits()
        limits.changes = 6
        var world = World(random: SeededGenerator(seed: seed), feed: ChangeFeed(position: FeedSupport.cursor(0), limits: limits))
        // When
        for _ in 0..<300 {
            switch Int.random(in: 0..<10, using: &world.random) {
            case 0..<4: try ask(&world)
            case 4: try askAhead(&world)
            case 5..<8: try commit(&world)
            case 8: try expire(&world)
            default:
                guard let waiter = world.waiting.keys.min() else { continue }
                let ticket = try take(waiter, &world).ticket
                world.feed.cancel(ticket)
            }
            // Then
            #expect(world.feed.waiting == world.waiting.count)
            #expect(world.feed.recentCount <= limits.changes)
        }
        #expect(world.answered > 20)
        for waiting in world.waiting.values { world.feed.cancel(waiting.ticket) }
        // Groups whose members have not come back are dropped after a while.
        for passed: Int64 in [2_000, 20_000] { #expect(world.feed.expire(now: world.now + passed).isEmpty) }
        #expect(world.feed.groups.numbers.isEmpty)
        #expect(world.feed.groups.isEmpty)
    }
}
