import FreshetCache
import Testing

/// A load that waits until the test ends it.
private final class Source: Sendable {
    struct Failure: Error, Equatable {}

    private let gate = AsyncStream<Result<Int, any Error>>.makeStream()
    private let begun = AsyncStream<Void>.makeStream()
    private let loads = Tally()
    let cancelled = AsyncStream<Void>.makeStream()

    func load() async throws -> Int {
        loads.add()
        begun.continuation.yield()
        for await result in gate.stream { return try result.get() }
        cancelled.continuation.yield()
        throw CancellationError()
    }

    func hasBegun() async { for await _ in begun.stream { return } }
    func wasCancelled() async { for await _ in cancelled.stream { return } }
    func end(with result: Result<Int, any Error>) { gate.continuation.yield(result) }
    var count: Int { loads.count }
}

@Suite(.timeLimit(.minutes(5))) struct CacheLoadTests {
    private let cache = Cache<String, Int>()
    private let source = Source()

    private func ask(_ key: String = "key", tags: Set<CacheTag> = []) -> Task<Int, any Error> {
        Task { [cache, source] in try await cache.value(forKey: key, tags: tags) { try await source.load() } }
    }

    @Test func whatIsThereIsNotLoaded() async throws {
        cache["key"] = 1
        #expect(try await ask().value == 1 && source.count == 0)
    }

    @Test func oneLoadServesAllWhoAskAtOnceAndIsStored() async throws {
        // Given
        let first = ask()
        await source.hasBegun()
        #expect(cache.explain("key").isLoading)
        let others = (0..<20).map { _ in ask() }
        // When
        source.end(with: .success(7))
        // Then
        #expect(try await first.value == 7)
        for other in others { #expect(try await other.value == 7) }
        #expect(source.count == 1 && cache.peek("key") == 7 && !cache.explain("key").isLoading)
    }

    @Test func errorsReachAllAndAreNotKept() async throws {
        let first = ask()
        await source.hasBegun()
        source.end(with: .failure(Source.Failure()))
        await #expect(throws: Source.Failure.self) { try await first.value }
        // When it is requested again, it is loaded again
        let second = ask()
        await source.hasBegun()
        source.end(with: .success(1))
        #expect(try await second.value == 1 && source.count == 2)
    }

    @Test func errorsAreKeptOnRequestForAsLongAsAsked() async throws {
        // Given
        let time = ManualCacheClock()
        let cache = Cache<String, Int>(clock: time.clock)
        let loads = Tally()
        func ask() async throws -> Int {
            try await cache.value(forKey: "key", rememberingFailuresFor: .seconds(10)) {
                loads.add()
                throw Source.Failure()
            }
        }
        // When, then
        for _ in 0..<3 { await #expect(throws: Source.Failure.self) { try await ask() } }
        #expect(loads.count == 1)
        time.advance(by: .seconds(10))
        await #expect(throws: Source.Failure.self) { try await ask() }
        #expect(loads.count == 2)
        // And a removal forgets it
        cache.removeValue(forKey: "key")
        await #expect(throws: Source.Failure.self) { try await ask() }
        #expect(loads.count == 3)
    }

    @Test func whoIsCancelledHarmsNobody() async throws {
        // Given
        let first = ask()
        await source.hasBegun()
        let second = ask()
        // The second joins once it has begun to wait: its cancellation ends it at any time
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        // When
        source.end(with: .success(3))
        // Then
        #expect(try await first.value == 3 && source.count == 1)
    }

    @Test func theLoadIsCancelledWithTheLastWhoWaits() async throws {
        let first = ask()
        await source.hasBegun()
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        await source.wasCancelled()
        #expect(!cache.explain("key").isLoading && cache.peek("key") == nil)
    }

    enum Invalidation: CaseIterable { case remove, overwrite, removeAll, predicate, tag, prefix }

    @Test(arguments: Invalidation.allCases) func aLoadThatBeganBeforeAnInvalidationIsNotStored(invalidation: Invalidation) async throws {
        // Given
        let before = ask("key", tags: ["tag"])
        await source.hasBegun()
        // When
        switch invalidation {
        case .remove: cache.removeValue(forKey: "key")
        case .overwrite: cache["key"] = 99
        case .removeAll: cache.removeAll()
        case .predicate: cache.removeAll { _, _ in false }
        case .tag: cache.removeAll(taggedWith: "tag")
        case .prefix: cache.removeAll(withPrefix: "k")
        }
        let other = Source()
        let after = Task { [cache] in try await cache.value(forKey: "key") { try await other.load() } }
        if invalidation != .overwrite { await other.hasBegun() }
        source.end(with: .success(1))
        // Then callers that joined before get it, and it is not stored
        #expect(try await before.value == 1)
        #expect(cache.peek("key") == (invalidation == .overwrite ? 99 : nil))
        other.end(with: .success(2))
        #expect(try await after.value == (invalidation == .overwrite ? 99 : 2))
        #expect(cache.peek("key") == (invalidation == .overwrite ? 99 : 2))
    }

    @Test func anInvalidationOfOthersLetsALoadBeStored() async throws {
        let load = ask("key", tags: ["mine"])
        await source.hasBegun()
        cache.removeValue(forKey: "other")
        cache.removeAll(taggedWith: "other")
        source.end(with: .success(1))
        #expect(try await load.value == 1 && cache.peek("key") == 1)
        #expect(cache.removeAll(taggedWith: "mine") == 1)
    }
}
