import FoundationEssentials
import FreshetCache
import FreshetTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct RequestCacheTests {
    struct Failure: Error {}

    private let time = ManualCacheClock()
    private let secondary = UserSecondary()
    private let key = RequestKey("users", ["page": "1"])
    private let loads = Tally()

    private func requests(_ other: (any SecondaryCacheTier)? = nil) -> RequestCache<String> {
        var configuration = TwoTierCache<RequestKey, String>.Configuration()
        configuration.clock = time.clock
        func cache(_ tier: some SecondaryCacheTier) -> TwoTierCache<RequestKey, String> {
            TwoTierCache(primary: Cache(clock: time.clock, shards: 1), secondary: tier, configuration)
        }
        guard let other else { return RequestCache(cache(secondary)) }
        return RequestCache(cache(other))
    }

    private func all(_ values: RequestedValues<String>) async throws -> [String] {
        var seen: [String] = []
        for try await value in values { seen.append("\(value.value) \(value.source)") }
        return seen
    }

    @Test func cacheOnlyFetchesNothing() async throws {
        let requests = requests()
        await #expect(throws: RequestError.notCached(key)) { try await requests.cachedValue(forKey: key) }
        await #expect(throws: RequestError.notCached(key)) { try await requests.value(forKey: key, policy: .cacheOnly) { throw Failure() } }
        requests.cache[key] = "kept"
        #expect(try await requests.value(forKey: key, policy: .cacheOnly) { throw Failure() }.value == "kept")
    }

    @Test func networkOnlyFetchesAndKeeps() async throws {
        let requests = requests()
        requests.cache[key] = "old"
        let fetched = try await requests.value(forKey: key, policy: .networkOnly) { "new" }
        #expect(fetched.value == "new" && fetched.source == .network && fetched.storedAt == Date(timeIntervalSince1970: 1e9))
        #expect(fetched.expiresAt == Date(timeIntervalSince1970: 1e9 + 86_400))
        #expect(try await requests.cachedValue(forKey: key).value == "new")
        // And the stored value stays if the network fails
        await #expect(throws: Failure.self) { try await requests.value(forKey: key, policy: .networkOnly) { throw Failure() } }
        #expect(try await requests.cachedValue(forKey: key).value == "new")
    }

    @Test func cacheElseNetworkFetchesOnce() async throws {
        let requests = requests()
        let first = try await requests.value(forKey: key, lifetime: .after(.seconds(10))) { "1" }
        time.advance(by: .seconds(9))
        let second = try await requests.value(forKey: key) { throw Failure() }
        #expect(first.source == .network && second.source == .memory && second.storedAt == first.storedAt)
        // And once more when its lifetime is over
        time.advance(by: .seconds(1))
        #expect(try await requests.value(forKey: key) { "2" }.value == "2")
    }

    @Test func whatIsOverIsNotGivenOutOnItsWayToTheDiskEither() async throws {
        // Given a value whose write takes longer than its lifetime
        secondary.writes.close()
        let requests = requests()
        _ = try await requests.value(forKey: key, lifetime: .after(.seconds(10))) { "1" }
        await secondary.writes.arrival()
        // When
        time.advance(by: .seconds(10))
        // Then
        await #expect(throws: RequestError.notCached(key)) { try await requests.cachedValue(forKey: key) }
        #expect(await requests.cache.value(forKey: key) == nil)
        #expect(try await requests.value(forKey: key) { "2" }.value == "2")
        secondary.writes.open()
    }

    @Test func cacheThenNetworkGivesBoth() async throws {
        let requests = requests()
        #expect(try await all(requests.values(forKey: key, policy: .cacheThenNetwork) { "1" }) == ["1 network"])
        #expect(try await all(requests.values(forKey: key, policy: .cacheThenNetwork) { "1" }) == ["1 memory", "1 network"])
        // And from a tier that outlived the process
        try await requests.cache.flush()
        #expect(try await all(self.requests().values(forKey: key, policy: .cacheThenNetwork) { "2" }) == ["1 disk", "2 network"])
    }

    @Test func whereNothingIsKeptAQuickNetworkComesOnce() async throws {
        // Given tiers without values, and a fetch that may end before their lookup
        let requests = requests()
        for number in 0..<300 {
            // When
            let values = requests.values(forKey: RequestKey("users", ["page": "\(number)"]), policy: .cacheThenNetwork) { "fetched" }
            // Then
            #expect(try await all(values) == ["fetched network"])
        }
    }

    @Test func theCachedValueDoesNotWaitForTheNetworkWhichBeginsAtOnce() async throws {
        // Given
        let requests = requests()
        requests.cache[key] = "kept"
        let gate = Gate()
        gate.close()
        var values = requests.values(forKey: key, policy: .cacheThenNetwork) {
            await gate.pass()
            return "fetched"
        }.makeAsyncIterator()
        // When, then
        #expect(try await values.next()?.value == "kept")
        await gate.arrival()
        gate.open()
        #expect(try await values.next()?.value == "fetched")
        #expect(try await values.next() == nil)
    }

    @Test func aNetworkThatFailsGivesTheCachedValueAndThenThrows() async throws {
        let requests = requests()
        requests.cache[key] = "kept"
        var values = requests.values(forKey: key, policy: .cacheThenNetwork) { throw Failure() }.makeAsyncIterator()
        #expect(try await values.next()?.value == "kept")
        do {
            _ = try await values.next()
            Issue.record("it did not throw")
        } catch { #expect(error is Failure) }
        #expect(try await values.next() == nil)
        #expect(try await requests.cachedValue(forKey: key).value == "kept")
    }

    @Test func aRequestUnderWayIsJoinedAcrossPolicies() async throws {
        // Given a fetch in flight
        let requests = requests()
        let gate = Gate()
        gate.close()
        let load: @Sendable () async throws -> String = { [loads] in
            loads.add()
            await gate.pass()
            return "1"
        }
        let first = Task { [key] in try await requests.value(forKey: key, policy: .cacheElseNetwork, load: load) }
        await gate.arrival()
        // When others ask by another policy, and one of them is cancelled. They join when their tasks first wait, so
        // before the next line
        let others = (0..<4).map { _ in
            Task.immediate { [key] in try await requests.value(forKey: key, policy: .networkOnly, load: load) }
        }
        others[3].cancel()
        #expect(await (try? others[3].value) == nil)
        gate.open()
        // Then there was one fetch for all
        #expect(try await first.value.value == "1")
        for other in others[..<3] { #expect(try await other.value.value == "1") }
        #expect(loads.count == 1)
    }

    @Test func whoLetsGoOfTheSequenceLetsGoOfTheFetch() async throws {
        // Given
        let requests = requests()
        requests.cache[key] = "kept"
        let ended = AsyncStream<Bool>.makeStream()
        for try await value in requests.values(
            forKey: key, policy: .cacheThenNetwork,
            load: {
                let never = AsyncStream<Void>.makeStream()
                for await _ in never.stream {}
                ended.continuation.yield(Task.isCancelled)
                return "fetched"
            })
        {
            // When
            #expect(value.value == "kept")
            break
        }
        // Then
        for await isCancelled in ended.stream {
            #expect(isCancelled)
            break
        }
        #expect(try await requests.cachedValue(forKey: key).value == "kept")
    }

    @Test func aFetchThatARemovalOvertookIsNotKept() async throws {
        let requests = requests()
        let gate = Gate()
        gate.close()
        let fetch = Task { [key] in
            try await requests.value(forKey: key, policy: .networkOnly) {
                await gate.pass()
                return "old"
            }
        }
        await gate.arrival()
        try await requests.removeAll(named: "users")
        gate.open()
        #expect(try await fetch.value.value == "old")
        await #expect(throws: RequestError.notCached(key)) { try await requests.cachedValue(forKey: key) }
    }

    @Test func theOrderOfParametersDoesNotCount() {
        let names = [["a": "1", "b": "2"], ["b": "2", "a": "1"]].map { "\(RequestKey("x", $0))" }
        #expect(names == ["x?a=1&b=2", "x?a=1&b=2"])
        // And different requests have different keys
        let keys = [
            RequestKey("x", ["a": "1&b=2"]), RequestKey("x", ["a": "1", "b": "2"]), RequestKey("x?a=1", ["b": "2"]),
            RequestKey("x", ["a=1&b": "2"]),
            RequestKey("x"), RequestKey("x", ["": ""]),
        ]
        #expect(Set(keys.map(\.description)).count == keys.count)
        #expect("\(RequestKey("\u{E9}"))" == "\(RequestKey("e\u{301}"))")
    }

    @Test func whatIsOverLeavesBothTiersWithoutBeingAskedFor() async throws {
        // Given answers that are kept for a day
        let folder = TemporaryDirectory()
        var configuration = DiskCache.Configuration()
        configuration.clock = time.clock
        let disk = try await DiskCache.open(folder.path, configuration)
        let memory = Cache<RequestKey, TieredValue<String>>(clock: time.clock, shards: 1)
        var tiers = TwoTierCache<RequestKey, String>.Configuration()
        tiers.clock = time.clock
        let requests = RequestCache(TwoTierCache(primary: memory, secondary: disk, tiers))
        for page in 0..<10 { _ = try await requests.value(forKey: RequestKey("old", ["page": "\(page)"])) { "old" } }
        try await requests.cache.flush()
        #expect(try await disk.statistics().entries == 10)
        #expect(memory.count == 10)
        // When the day is over and other answers are stored
        time.advance(by: .seconds(86_400))
        for page in 0..<3 { _ = try await requests.value(forKey: RequestKey("new", ["page": "\(page)"])) { "new" } }
        try await requests.cache.flush()
        // Then the old ones are gone
        #expect(try await disk.statistics().entries == 3)
        #expect(memory.count == 3)
    }
}
