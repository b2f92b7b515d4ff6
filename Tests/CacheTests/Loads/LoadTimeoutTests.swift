import FreshetCache
import Testing

@Suite(.timeLimit(.minutes(1))) struct LoadTimeoutTests {
    /// Repeats a call that a slow machine may not finish in time.
    private func inTime(_ body: () async throws -> Int) async throws -> Int {
        while true {
            do { return try await body() } catch LoadError.timedOut { continue }
        }
    }

    @Test(arguments: LoadingCache.allCases) func aWaitInADetachedTaskIsBounded(kind: LoadingCache) async throws {
        // Given
        let timeout = Duration.milliseconds(50)
        let ask = kind.make(timeout: timeout)
        // When a load waits for itself where it cannot be seen, then
        await #expect(throws: LoadError.timedOut(key: kind.text("a"), after: timeout)) {
            try await ask("a") { try await Task.detached { try await ask("a") { 1 } }.value }
        }
        // And the key can be used
        #expect(try await inTime { try await ask("a") { 5 } } == 5)
    }

    @Test(arguments: LoadingCache.allCases) func aLoadThatNeverEndsFailsForAllAndIsCancelled(kind: LoadingCache) async throws {
        // Given a load that ends if it is cancelled
        let ask = kind.make(timeout: .milliseconds(50))
        let cancelled = AsyncStream<Void>.makeStream()
        let load: LoadingCache.Load = {
            for await _ in AsyncStream<Void>.makeStream().stream {}
            cancelled.continuation.yield()
            return 1
        }
        // When several wait for it
        let callers = (0..<10).map { _ in Task { try await ask("a", load) } }
        // Then
        for caller in callers {
            await #expect(throws: LoadError.timedOut(key: kind.text("a"), after: .milliseconds(50))) { try await caller.value }
        }
        for await _ in cancelled.stream { break }
        #expect(try await inTime { try await ask("a") { 5 } } == 5)
    }

    @Test func aTimeoutIsRememberedAsAFailure() async throws {
        let time = ManualCacheClock()
        let cache = Cache<String, Int>(clock: time.clock)
        let (gate, loads) = (Gate(), Tally())
        gate.close()
        @Sendable func ask(_ timeout: Duration?) async throws -> Int {
            try await cache.value(forKey: "a", rememberingFailuresFor: .seconds(10), timeout: timeout) {
                loads.add()
                await gate.pass()
                return loads.count
            }
        }
        for _ in 0..<2 {
            await #expect(throws: LoadError.timedOut(key: "a", after: .milliseconds(1))) { try await ask(.milliseconds(1)) }
        }
        #expect(loads.count <= 1)
        gate.open()
        time.advance(by: .seconds(10))
        #expect(try await ask(nil) >= 1)
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .nanoseconds(1)]) func anExtremeTimeoutFailsAndLeavesTheKeyUsable(
        timeout: Duration
    ) async throws {
        let cache = Cache<String, Int>()
        await #expect(throws: LoadError.timedOut(key: "a", after: timeout)) {
            try await cache.value(forKey: "a", timeout: timeout) {
                for await _ in AsyncStream<Void>.makeStream().stream {}
                return 1
            }
        }
        #expect(try await cache.value(forKey: "a") { 5 } == 5)
    }

    @Test(arguments: [nil, Duration.seconds(Int64.max)]) func aLoadMayTakeAnyTime(timeout: Duration?) async throws {
        let cache = Cache<String, Int>()
        #expect(try await cache.value(forKey: "a", timeout: timeout) { 5 } == 5)
    }
}
