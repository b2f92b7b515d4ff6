import FoundationEssentials
import FreshetCache
import FreshetTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct TwoTierFailureTests {
    private let secondary = UserSecondary()

    private func cache(countLimit: Int = .max, stagedLimit: Int = 4_096) -> TwoTierCache<String, String> {
        var configuration = TwoTierCache<String, String>.Configuration()
        configuration.stagedLimit = stagedLimit
        return TwoTierCache(primary: Cache(countLimit: countLimit), secondary: secondary, configuration)
    }

    @Test func writesOfAKeyKeepTheirOrderAndTheLastWins() async throws {
        // Given a write that is blocked
        let cache = cache()
        secondary.writes.close()
        cache["a"] = "1"
        await secondary.writes.arrival()
        // When more writes of the key follow
        cache["a"] = "2"
        cache["a"] = nil
        cache["a"] = "3"
        cache["b"] = "1"
        cache["b"] = nil
        secondary.writes.open()
        try await cache.flush()
        // Then superseded writes are skipped, and the rest is in order
        #expect(await secondary.calls.filter { $0 == .store("a") || $0 == .remove("a") } == [.store("a"), .store("a")])
        #expect(await secondary.text("a") == "3")
        #expect(await secondary.calls.filter { $0 == .store("b") || $0 == .remove("b") } == [.remove("b")])
        #expect(await !secondary.hasOverlapped)
    }

    @Test func whatIsWrittenIsReadBackThoughMemoryKeepsNothing() async throws {
        let cache = cache(countLimit: 0)
        secondary.writes.close()
        cache["a"] = "1"
        #expect(cache["a"] == "1" && cache.peek("a")?.value == "1" && cache.statistics.staged == 1)
        #expect(await cache.value(forKey: "a") == "1")
        #expect(await cache.explain("a").staged == .value)
        cache["a"] = nil
        #expect(cache["a"] == nil)
        #expect(await cache.explain("a").staged == .removal)
        secondary.writes.open()
        try await cache.flush()
        #expect(cache.statistics.staged == 0)
    }

    @Test func aFailedWriteIsToldAndWhatWasThereBeforeIsNotReadAgain() async throws {
        // Given an old value in a tier that accepts no writes any more
        let cache = cache(countLimit: 0)
        var events = cache.events.makeAsyncIterator()
        cache["a"] = "old"
        try await cache.flush()
        await secondary.fail(writes: true)
        // When
        cache["a"] = "new"
        await #expect(throws: UserSecondary.Failure.self) { try await cache.flush() }
        // Then
        guard case .writeFailed("a", _) = await events.next(), case .removalFailed("a", _) = await events.next() else {
            throw CacheError.closed
        }
        #expect(await secondary.text("a") == "old")
        #expect(await cache.value(forKey: "a") == nil)
        #expect(cache.statistics.failedWrites >= 1)
        // And once the tier works again, the old value is removed automatically
        await secondary.fail(writes: false)
        try await cache.flush()
        try await cache.flush()
        #expect(await secondary.text("a") == nil)
        cache["a"] = "newer"
        try await cache.flush()
        #expect(await cache.value(forKey: "a") == "newer")
    }

    @Test func aFailedWriteThatCouldBeUndoneLeavesTheKeyFree() async throws {
        struct Odd: Error {}
        // Given values of which some cannot be encoded
        let values = CacheValueCoding<Int>(
            encode: { if $0 % 2 == 1 { throw Odd() } else { [UInt8($0)] } }, decode: { Int($0.first ?? 0) })
        let cache = TwoTierCache<String, Int>(primary: Cache(countLimit: 0), secondary: secondary, values: values)
        cache["a"] = 2
        try await cache.flush()
        // When
        cache["a"] = 3
        await #expect(throws: Odd.self) { try await cache.flush() }
        // Then
        #expect(await cache.value(forKey: "a") == nil)
        #expect(await secondary.count == 0)
    }

    @Test func aRemovalOfAllThatFailsHidesAllUntilItIsDone() async throws {
        // Given
        let cache = cache(countLimit: 0)
        for key in ["a", "b"] { cache[key] = "old" }
        try await cache.flush()
        await secondary.fail(writes: true)
        // When
        await #expect(throws: UserSecondary.Failure.self) { try await cache.removeAll() }
        await #expect(throws: UserSecondary.Failure.self) { try await cache.removeAll(taggedWith: "tag") }
        await #expect(throws: UserSecondary.Failure.self) { try await cache.removeAll(withPrefix: "a") }
        // Then
        #expect(await secondary.count == 2)
        for key in ["a", "b"] { #expect(await cache.value(forKey: key) == nil) }
        // And the next write carries it out
        await secondary.fail(writes: false)
        cache["c"] = "new"
        try await cache.flush()
        #expect(await secondary.count == 1)
        #expect(await cache.value(forKey: "c") == "new")
    }

    @Test func manyRemovalsThatFailBecomeOneOfAll() async throws {
        let cache = cache(countLimit: 0)
        await secondary.fail(writes: true)
        for number in 0..<100 {
            await #expect(throws: UserSecondary.Failure.self) { try await cache.removeAll(taggedWith: "\(number)") }
        }
        await #expect(throws: UserSecondary.Failure.self) { try await cache.invalidateEverything(schema: "2") }
        await secondary.fail(writes: false)
        try await cache.flush()
        cache["a"] = "1"
        try await cache.flush()
        #expect(await cache.value(forKey: "a") == "1")
        #expect(await secondary.schema == "2")
    }

    @Test func aTierThatCannotBeReadIsAMissAndTold() async throws {
        // Given
        let cache = cache(countLimit: 0)
        var events = cache.events.makeAsyncIterator()
        cache["a"] = "1"
        try await cache.flush()
        await secondary.fail(reads: true)
        // When, then
        #expect(await cache.value(forKey: "a") == nil)
        guard case .readFailed("a", _) = await events.next() else { throw CacheError.closed }
        #expect(try await cache.value(forKey: "a") { "loaded" } == "loaded")
        guard case .failed = await cache.explain("a").disk else { throw CacheError.closed }
        #expect(cache.statistics.failedReads == 2 && cache.statistics.diskHitRate == 0)
    }

    @Test func tooManyThatWaitStayInMemoryAlone() async throws {
        // Given
        let cache = cache(stagedLimit: 2)
        var events = cache.events.makeAsyncIterator()
        secondary.writes.close()
        cache["first"] = "is under way"
        await secondary.writes.arrival()
        // When
        for key in ["a", "b", "c"] { cache[key] = "1" }
        // Then
        guard case .dropped("c") = await events.next() else { throw CacheError.closed }
        #expect(cache["c"] == "1" && cache.statistics.dropped == 1)
        secondary.writes.open()
        try await cache.flush()
        #expect(await secondary.text("b") == "1")
        #expect(await secondary.text("c") == nil)
    }

    @Test func aFullDiskLeavesReadsGoing() async throws {
        guard SmallDisk.isAvailable else { return }
        try await SmallDisk.with(kibibytes: 1_024) { small in
            // Given a cache on a disk that is nearly full
            let disk = try await DiskCache.open(small.path + "/cache")
            let cache = TwoTierCache<Int, [UInt8]>(primary: Cache(countLimit: 4), secondary: disk)
            cache[0] = [1]
            try await cache.flush()
            // When more is written than fits
            for key in 1...40 { cache[key] = [UInt8](repeating: UInt8(key), count: 60_000) }
            await #expect(throws: CacheError.self) { try await cache.flush() }
            // Then each key has its value or none, and memory still works
            for key in 1...40 {
                let value = await cache.value(forKey: key)
                #expect(value == nil || value == [UInt8](repeating: UInt8(key), count: 60_000))
            }
            cache[1] = [7]
            #expect(cache[1] == [7] && cache.statistics.failedWrites > 0)
            await disk.close()
        }
    }
}
