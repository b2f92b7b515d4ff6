import Synchronization
import Testing

@testable import FreshetTestKit

/// A condition is checked when an event arrives, and at no other time.
@Suite(.timeLimit(.minutes(5))) struct WaitUntilTests {
    private typealias Stream = AsyncStream<Int>

    /// Counts the checks.
    private final class Look: Sendable {
        let count = Atomic<Int>(0)
        let (looks, continuation) = AsyncStream.makeStream(of: Int.self)

        func look() {
            continuation.yield(count.add(1, ordering: .relaxed).newValue)
        }
    }

    @Test func itLooksOnceAtFirstAndOnceForEachEvent() async throws {
        // Given a condition that holds at the fourth check
        let (events, continuation) = Stream.makeStream()
        let look = Look()
        let source: @Sendable () -> Stream = { events }
        async let ended = waitUntil(events: [source], within: .seconds(50)) {
            look.look()
            return look.count.load(ordering: .relaxed) == 4
        }
        // When an event follows each check
        for await number in look.looks {
            if number == 4 { break }
            continuation.yield(number)
        }
        // Then it was checked no more often
        #expect(try await ended)
        #expect(look.count.load(ordering: .relaxed) == 4)
    }

    @Test func withoutAnEventItLooksOnceUntilItsTimeIsUp() async throws {
        let (events, _) = Stream.makeStream()
        let look = Look()
        let source: @Sendable () -> Stream = { events }
        let isFulfilled = try await waitUntil(events: [source], within: .milliseconds(50)) {
            look.look()
            return false
        }
        #expect(!isFulfilled && look.count.load(ordering: .relaxed) == 1)
    }

    @Test func whatTheConditionThrowsIsThrown() async throws {
        struct Broken: Error {}
        await #expect(throws: Broken.self) {
            try await waitUntil(events: [@Sendable () -> Stream](), within: .seconds(50)) { throw Broken() }
        }
    }
}
