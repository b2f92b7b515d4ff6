import FreshetCache
import Testing

/// A cache of one of the three kinds that load.
enum LoadingCache: String, CaseIterable, Sendable {
    case memory, twoTiers, requests

    typealias Load = @Sendable () async throws -> Int
    typealias Ask = @Sendable (_ key: String, _ load: @escaping Load) async throws -> Int

    /// Makes a cache, and returns its function that loads.
    func make(timeout: Duration? = .seconds(300)) -> Ask {
        switch self {
        case .memory:
            let cache = Cache<String, Int>()
            return { try await cache.value(forKey: $0, timeout: timeout, orLoad: $1) }
        case .twoTiers:
            var configuration = TwoTierCache<String, Int>.Configuration()
            configuration.loadTimeout = timeout
            let cache = TwoTierCache<String, Int>(primary: Cache(), secondary: UserSecondary(), configuration)
            return { try await cache.value(forKey: $0, orLoad: $1) }
        case .requests:
            var configuration = TwoTierCache<RequestKey, Int>.Configuration()
            configuration.loadTimeout = timeout
            let cache = RequestCache<Int>(TwoTierCache(primary: Cache(), secondary: UserSecondary(), configuration))
            return { try await cache.value(forKey: RequestKey($0), load: $1).value }
        }
    }

    /// The key as an error shows it.
    func text(_ key: String) -> String { self == .requests ? "\(RequestKey(key))" : key }
}

@Suite(.timeLimit(.minutes(1))) struct CyclicLoadTests {
    struct Failure: Error {}

    /// Lets two loads through once both have begun.
    private let gate = Gate()

    private func bothHaveBegun() async {
        await gate.arrival()
        await gate.arrival()
        gate.open()
    }

    @Test(arguments: LoadingCache.allCases) func aLoadThatAsksForItsOwnKeyGetsAnError(kind: LoadingCache) async throws {
        // Given
        let ask = kind.make()
        // When, then
        await #expect(throws: LoadError.cyclic(keys: [kind.text("a")])) {
            try await ask("a") { try await ask("a") { 1 } + 1 }
        }
        // And the key can be used, also if the load handles the error
        #expect(try await ask("a") { 5 } == 5)
        #expect(try await ask("b") { (try? await ask("b") { 1 }) ?? 7 } == 7)
    }

    @Test(arguments: LoadingCache.allCases) func aCycleOfSeveralLoadsNamesItsKeys(kind: LoadingCache) async throws {
        let ask = kind.make()
        let error = await #expect(throws: LoadError.self) {
            try await ask("a") { try await ask("b") { try await ask("c") { try await ask("a") { 1 } } } }
        }
        #expect(error == .cyclic(keys: ["a", "b", "c"].map(kind.text)))
        #expect("\(try #require(error))".contains(["a", "b", "c", "a"].map(kind.text).joined(separator: " → ")))
        for key in ["a", "b", "c"] { #expect(try await ask(key) { 5 } == 5) }
    }

    @Test(arguments: LoadingCache.allCases) func ofTwoLoadsThatAskForEachOtherOneGetsAnError(kind: LoadingCache) async throws {
        // Given two loads that have begun, each of which answers by itself if it may not wait for the other
        let (ask, gate) = (kind.make(), gate)
        gate.close()
        let errors = Tally()
        func load(_ key: String, _ other: String) -> Task<Int, any Error> {
            Task {
                try await ask(key) {
                    await gate.pass()
                    do {
                        return try await ask(other) { 1 } + 1
                    } catch LoadError.cyclic {
                        errors.add()
                        return 10
                    }
                }
            }
        }
        let (first, second) = (load("a", "b"), load("b", "a"))
        // When
        await bothHaveBegun()
        // Then one has waited for the other
        #expect(try await [first.value, second.value].sorted() == [10, 11])
        #expect(errors.count == 1)
    }

    @Test(arguments: LoadingCache.allCases) func anErrorThatIsThrownOnLeavesBothKeysUsable(kind: LoadingCache) async throws {
        let (ask, gate) = (kind.make(), gate)
        gate.close()
        func load(_ key: String, _ other: String) -> Task<Int, any Error> {
            Task {
                try await ask(key) {
                    await gate.pass()
                    return try await ask(other) { 1 }
                }
            }
        }
        let (first, second) = (load("a", "b"), load("b", "a"))
        await bothHaveBegun()
        await #expect(throws: LoadError.self) { try await first.value }
        await #expect(throws: LoadError.self) { try await second.value }
        #expect(try await ask("a") { 5 } == 5)
        #expect(try await ask("b") { 6 } == 6)
    }

    @Test func aCycleThroughSeveralCachesIsFound() async throws {
        // Given caches of different types, and two of the same type
        let asks = (LoadingCache.allCases + LoadingCache.allCases).map { $0.make() }
        // When each load asks the next cache, and the last one the first
        @Sendable func load(_ place: Int) async throws -> Int {
            try await asks[place % asks.count]("key \(place % asks.count)") { try await load(place + 1) }
        }
        // Then
        let error = await #expect(throws: LoadError.self) { try await load(0) }
        guard case .cyclic(let keys)? = error else { throw Failure() }
        #expect(keys.count == asks.count)
        for (place, ask) in asks.enumerated() { #expect(try await ask("key \(place)") { place } == place) }
    }

    @Test(arguments: LoadingCache.allCases) func whoWaitsFromOutsideGetsTheValue(kind: LoadingCache) async throws {
        // Given a load that will close a cycle with itself and handle the error
        let (ask, gate) = (kind.make(), gate)
        gate.close()
        let inner = Task {
            try await ask("a") {
                await gate.pass()
                return (try? await ask("a") { 1 }) ?? 7
            }
        }
        await gate.arrival()
        // When a caller and another load wait for it
        let caller = Task { try await ask("a") { 2 } }
        let other = Task { try await ask("b") { try await ask("a") { 3 } + 1 } }
        gate.open()
        // Then
        #expect(try await inner.value == 7)
        #expect(try await caller.value == 7)
        #expect(try await other.value == 8)
    }

    @Test(arguments: LoadingCache.allCases) func loadsThatShareAValueAreNoCycle(kind: LoadingCache) async throws {
        let (ask, loads) = (kind.make(), Tally())
        let leaf: LoadingCache.Load = {
            loads.add()
            return 1
        }
        let sum = try await ask("root") {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<20 { group.addTask { try await ask("branch \(number % 4)") { try await ask("leaf", leaf) } } }
                return try await group.reduce(0, +)
            }
        }
        #expect(sum == 20 && loads.count == 1)
    }

    @Test(arguments: LoadingCache.allCases) func aWaitThatWasCancelledIsForgotten(kind: LoadingCache) async throws {
        // Given a load of 'b', for which the load of 'a' has stopped to wait
        let (ask, gate, left) = (kind.make(), gate, Gate())
        gate.close()
        left.close()
        let second = Task {
            try await ask("b") {
                await gate.pass()
                return try await ask("a") { 1 } + 1
            }
        }
        await gate.arrival()
        let first = Task {
            try await ask("a") {
                let wait = Task { try await ask("b") { 2 } }
                wait.cancel()
                _ = try? await wait.value
                await left.pass()
                return 20
            }
        }
        await left.arrival()
        // When the load of 'b' waits for 'a'
        gate.open()
        left.open()
        // Then
        #expect(try await first.value == 20)
        #expect(try await second.value == 21)
    }

    @Test(arguments: LoadingCache.allCases) func aTaskThatOutlivesItsLoadIsNoPartOfIt(kind: LoadingCache) async throws {
        // Given a task that a load has started
        let (ask, gate) = (kind.make(), gate)
        gate.close()
        let started = AsyncStream<Task<Int, any Error>>.makeStream()
        #expect(
            try await ask("a") {
                started.continuation.yield(
                    Task {
                        await gate.pass()
                        return try await ask("b") { try await ask("a") { 1 } + 1 }
                    })
                return 3
            } == 3)
        // When it asks for that key after the end of the load
        gate.open()
        // Then
        for await task in started.stream {
            #expect(try await task.value == 4)
            break
        }
    }

    @Test func aCycleIsNotRememberedAsAFailure() async throws {
        let cache = Cache<String, Int>()
        await #expect(throws: LoadError.cyclic(keys: ["a"])) {
            try await cache.value(forKey: "a", rememberingFailuresFor: .seconds(1_000)) { try await cache.value(forKey: "a") { 1 } }
        }
        #expect(try await cache.value(forKey: "a") { 5 } == 5)
    }

    @Test func anErrorShowsTheBeginningOfALongKey() async throws {
        let cache = Cache<String, Int>()
        let key = String(repeating: "k\u{301}", count: 100_000)
        let error = await #expect(throws: LoadError.self) {
            try await cache.value(forKey: key) { try await cache.value(forKey: key) { 1 } }
        }
        #expect("\(try #require(error))".utf8.count < 1_000)
    }
}
