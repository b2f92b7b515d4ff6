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
        var id: WaiterID
    }

    private struct ModelState {
        var random: SeededGenerator
        var feed: ChangeFeed<Int>
        var model = FeedModel()
        var waiting: [Int: Waiting] = [:]
        var nextWaiter = 0
        var now: Int64 = 0
        var answered = 0
        var sentBack = 0
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
    private func askAhead(_ state: inout ModelState) throws {
        let subscription = try subscription(&state.random)
        let position = state.model.head + Int64.random(in: 1...4, using: &state.random)
        let deadline = state.now + Int64.random(in: 1...30_000, using: &state.random)
        state.nextWaiter += 1
        let decision = state.feed.ask(
            .after(FeedSupport.cursor(position)), subscription, waiter: state.nextWaiter, isVerified: true, deadline: deadline,
            now: state.now)
        state.waiting[state.nextWaiter] = Waiting(
            position: position, subscription: subscription, deadline: deadline, id: try #require(decision.waiterID))
    }

    private func ask(_ state: inout ModelState) throws {
        let subscription = try subscription(&state.random)
        let back = Bool.random(using: &state.random) ? 0 : Int64.random(in: 0...12, using: &state.random)
        let position = max(0, state.model.head - back)
        let deadline = state.now + Int64.random(in: 1...30_000, using: &state.random)
        state.nextWaiter += 1
        let waiter = state.nextWaiter
        let expected = state.model.page(after: position, subscription)
        switch state.feed.ask(
            .after(FeedSupport.cursor(position)), subscription, waiter: waiter, deadline: deadline, now: state.now)
        {
        case .scan:
            #expect(position < state.feed.floor.number)
            // The caller looks into the store, and comes back only if the store has nothing.
            guard expected == nil else { return }
            let decision = state.feed.ask(
                .after(FeedSupport.cursor(state.model.head)), subscription, waiter: waiter, isVerified: true, deadline: deadline,
                now: state.now)
            let id = try #require(decision.waiterID)
            state.waiting[waiter] = Waiting(
                position: state.model.head, subscription: subscription, deadline: deadline, id: id)
        // Below the changes in memory, a late reader may get the page that earlier readers got.
        case .reply(let reply) where position < state.feed.floor.number && reply.page != expected:
            let page = try #require(reply.page)
            #expect(state.model.hasBeen(page, after: position, subscription))
        case .reply(let reply): #expect(reply.page == expected)
        case .waiting(let id):
            #expect(expected == nil)
            state.waiting[waiter] = Waiting(position: position, subscription: subscription, deadline: deadline, id: id)
        }
    }

    private func commit(_ state: inout ModelState) throws {
        let count = Int64.random(in: 1...6, using: &state.random)
        let changes = try (1...count).map { try change(state.model.head + $0, &state.random) }
        // Up to two atomic batches, with changes of other requests around them.
        let cuts = (0..<4).map { _ in Int.random(in: 0..<changes.count, using: &state.random) }.sorted()
        let batches = [(cuts[0], cuts[1]), (cuts[2], cuts[3])].compactMap { first, last in
            first < last ? changes[first].revision...changes[last].revision : nil
        }
        let apart = batches.count == 2 && batches[0].overlaps(batches[1]) ? Array(batches.prefix(1)) : batches
        let before = state.model.head
        state.model.commit(changes, batches: apart)
        let deliveries = state.feed.commit(changes, batches: apart, at: FeedSupport.cursor(state.model.head))
        for delivery in deliveries {
            if case .response(let waiters, .idle(let cursor)) = delivery {
                // The commit has done as much for readers as it may: the reader is sent back to where it knows everything.
                for waiter in waiters {
                    let waiting = try take(waiter, &state)
                    #expect(cursor == FeedSupport.cursor(max(waiting.position, before)))
                    state.sentBack += 1
                }
                continue
            }
            let (waiters, pages) = try #require(delivery.pages)
            for waiter in waiters {
                let waiting = try take(waiter, &state)
                #expect(pages == [state.model.page(after: waiting.position, waiting.subscription)])
                state.answered += 1
            }
        }
        // A waiter that was not woken has nothing to be woken for.
        #expect(state.waiting.values.allSatisfy { state.model.page(after: $0.position, $0.subscription) == nil })
    }

    private func expire(_ state: inout ModelState) throws {
        state.now += Int64.random(in: 1...4_000, using: &state.random)
        for delivery in state.feed.expire(now: state.now) {
            guard case .response(let waiters, .idle(let cursor)) = delivery else { throw Unexpected() }
            for waiter in waiters {
                let waiting = try take(waiter, &state)
                #expect(cursor == FeedSupport.cursor(max(waiting.position, state.model.head)))
                #expect(waiting.deadline <= state.now)
            }
        }
        #expect(state.waiting.values.allSatisfy { $0.deadline + 2 * WaiterTable<Int>.bucketWidth > state.now })
    }

    /// Removes a waiter that is answered or cancelled, which must have waited until now.
    private func take(_ waiter: Int, _ state: inout ModelState) throws -> Waiting {
        guard let waiting = state.waiting.removeValue(forKey: waiter) else { throw Unexpected() }
        return waiting
    }

    private struct Unexpected: Error {}

    @Test(arguments: 0..<32 as Range<UInt64>)
    func randomHistories(seed: UInt64) throws {
        // Given
        var limits = FeedLimits()
        limits.changes = 6
        // Some commits make pages for a part of their readers only.
        if seed % 2 == 0 { (limits.commitBytes, limits.commitMatches) = (300, 12) }
        var state = ModelState(random: SeededGenerator(seed: seed), feed: ChangeFeed(position: FeedSupport.cursor(0), limits: limits))
        // When
        for _ in 0..<300 {
            switch Int.random(in: 0..<10, using: &state.random) {
            case 0..<4: try ask(&state)
            case 4: try askAhead(&state)
            case 5..<8: try commit(&state)
            case 8: try expire(&state)
            default:
                guard let waiter = state.waiting.keys.min() else { continue }
                let id = try take(waiter, &state).id
                state.feed.cancel(id)
            }
            // Then
            #expect(state.feed.waiting == state.waiting.count)
            #expect(state.feed.recentCount <= limits.changes)
        }
        #expect(state.answered > 20 && (state.sentBack > 0) == (seed % 2 == 0))
        for waiting in state.waiting.values { state.feed.cancel(waiting.id) }
        // Groups whose members have not come back are dropped after a while.
        for passed: Int64 in [2_000, 20_000] { #expect(state.feed.expire(now: state.now + passed).isEmpty) }
        #expect(state.feed.groups.numbers.isEmpty)
        #expect(state.feed.groups.isEmpty)
    }
}
