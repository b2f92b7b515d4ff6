import FoundationEssentials
import FreshetCache
import Testing

@Suite(.timeLimit(.minutes(5))) struct TwoTierLoadTests {
    struct Failure: Error {}

    private let secondary = UserSecondary()
    private let loads = Tally()

    private func cache(countLimit: Int = .max) -> TwoTierCache<String, String> {
        TwoTierCache(primary: Cache(countLimit: countLimit), secondary: secondary)
    }

    @Test func oneLoadServesAllWhoAskAtOnce() async throws {
        // Given
        let cache = cache()
        let gate = Gate()
        gate.close()
        let tasks = (0..<50).map { _ in
            Task { [loads] in
                try await cache.value(forKey: "a") {
                    loads.add()
                    await gate.pass()
                    return "1"
                }
            }
        }
        await gate.arrival()
        #expect(await cache.explain("a").isLoading)
        // When
        gate.open()
        // Then
        for task in tasks { #expect(try await task.value == "1") }
        #expect(loads.count == 1 && cache.statistics.loads == 1)
        try await cache.flush()
        #expect(await secondary.text("a") == "1")
    }

    @Test func whatIsOnDiskIsNotLoaded() async throws {
        await secondary.put(Array("1".utf8), named: "a")
        let cache = cache()
        #expect(try await cache.value(forKey: "a") { throw Failure() } == "1")
        #expect(cache["a"] == "1")
    }

    @Test func anErrorReachesAllAndIsNotKept() async throws {
        let cache = cache()
        await #expect(throws: Failure.self) { try await cache.value(forKey: "a") { throw Failure() } }
        #expect(try await cache.value(forKey: "a") { "1" } == "1")
        #expect(cache.statistics.failedLoads == 1 && cache.statistics.loads == 1)
    }

    @Test func whoIsCancelledHarmsNobody() async throws {
        // Given two callers that wait for one load
        let cache = cache()
        let gate = Gate()
        gate.close()
        let ask: @Sendable () async throws -> String = {
            try await cache.value(forKey: "a") {
                await gate.pass()
                return "1"
            }
        }
        let first = Task { try await ask() }
        await gate.arrival()
        let second = Task { try await ask() }
        // When one is cancelled
        first.cancel()
        if let error = await first.result.failure { #expect(error is CancellationError) } else { Issue.record("it was not cancelled") }
        gate.open()
        // Then the other gets its value
        #expect(try await second.value == "1")
    }

    @Test func aReadDoesNotWaitForALoad() async throws {
        let cache = cache()
        let gate = Gate()
        gate.close()
        let load = Task {
            try await cache.value(forKey: "a") {
                await gate.pass()
                return "1"
            }
        }
        await gate.arrival()
        #expect(await cache.value(forKey: "a") == nil)
        gate.open()
        #expect(try await load.value == "1")
    }

    @Test func prefetchBringsAListIntoMemory() async throws {
        // Given values in memory, on disk, and to load
        await secondary.put(Array("d".utf8), named: "disk")
        let cache = cache()
        cache["memory"] = "m"
        // When
        let result = await cache.prefetch(["memory", "disk", "network", "bad", "disk"], atOnce: 2) { key in
            if key == "bad" { throw Failure() }
            return "n"
        }
        // Then
        #expect(result.inMemory == ["memory"] && result.onDisk == ["disk"] && result.loaded == ["network"])
        #expect(Array(result.failed.keys) == ["bad"] && result.missing.isEmpty && result.cancelled.isEmpty)
        #expect(cache["disk"] == "d" && cache["network"] == "n")
        #expect(await cache.prefetch(["bad"]).missing == ["bad"])
    }

    @Test func prefetchNeverHasMoreUnderWayThanItMay() async throws {
        // Given
        let cache = cache()
        secondary.reads.close()
        let task = Task { await cache.prefetch((0..<6).map { "\($0)" }, atOnce: 3) }
        for _ in 0..<3 { await secondary.reads.arrival() }
        // Then no fourth lookup begins while three are blocked
        for _ in 0..<50 { await Task.yield() }
        #expect(await secondary.reading == 3)
        // And when it is cancelled, the remaining lookups are not started
        task.cancel()
        let result = await task.value
        #expect(result.cancelled.count + result.missing.count == 6 && result.cancelled.count >= 3)
        #expect(await secondary.reading == 3)
        secondary.reads.open()
    }

    @Test func aFirstTierOfOnesOwnDoes() async throws {
        // Given one that has no lifetimes and cannot list its keys
        let time = ManualCacheClock()
        var configuration = TwoTierCache<String, String>.Configuration()
        configuration.clock = time.clock
        let primary = UserPrimary<String, TieredValue<String>>()
        let cache = TwoTierCache<String, String>(primary: primary, secondary: secondary, configuration)
        // When
        cache.setValue("1", forKey: "a", lifetime: .after(.seconds(10)))
        cache.setValue("2", forKey: "b", lifetime: .until(Date(timeIntervalSince1970: 1e9 + 20)))
        cache.setValue("3", forKey: "c", lifetime: .unlimited, tags: ["tag"])
        #expect(cache["a"] == "1" && cache.statistics.memoryHits == 1)
        try await cache.flush()
        // Then no expired value is returned, not even by the second tier
        time.advance(by: .seconds(10))
        #expect(cache["a"] == nil && cache["b"] == "2")
        #expect(await cache.value(forKey: "a") == nil)
        time.advance(by: .seconds(10))
        #expect(cache["b"] == nil && cache["c"] == "3")
        // And values that may have a tag are removed
        try await cache.removeAll(taggedWith: "tag")
        #expect(cache["c"] == nil && primary.count == 0)
        #expect(await cache.explain("c").memory == nil)
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
