import FreshetCache
import FreshetTestSupport
import Logging
import Synchronization
import Testing

/// A slow second tier that completes calls in any order, and fails at times.
private actor WildSecondary: SecondaryCacheTier {
    struct Failure: Error {}

    private var stored: [[UInt8]: StoredValue] = [:]
    private var random: SeededGenerator
    private let failsOneIn: Int

    init(seed: UInt64, failsOneIn: Int) {
        random = SeededGenerator(seed: seed)
        self.failsOneIn = failsOneIn
    }

    private func wait() async throws {
        for _ in 0..<Int.random(in: 0..<6, using: &random) { await Task.yield() }
        if failsOneIn > 0, Int.random(in: 0..<failsOneIn, using: &random) == 0 { throw Failure() }
    }

    func storedValue(named name: [UInt8]) async throws -> StoredValue? {
        let value = stored[name]
        try await wait()
        return value
    }

    func store(_ value: StoredValue, named name: [UInt8]) async throws {
        try await wait()
        stored[name] = value
    }

    func removeValue(named name: [UInt8]) async throws {
        try await wait()
        stored[name] = nil
    }

    func removeAll() async throws {
        try await wait()
        stored = [:]
    }

    func removeValues(taggedWith tag: CacheTag) async throws {
        try await wait()
        stored = stored.filter { !($0.value.tags ?? []).contains(tag) }
    }

    func removeValues(withPrefix prefix: [UInt8]) async throws {
        try await wait()
        stored = stored.filter { !$0.key.starts(with: prefix) }
    }
}

@Suite(.timeLimit(.minutes(20))) struct TwoTierModelTests {
    /// Random steps compared with a plain dictionary. While promotions, loads and writes are in flight in every order,
    /// a read returns the dictionary's value or, if the tier fails, none; it never returns another. Without failures it
    /// always returns the dictionary's value.
    @Test(arguments: 0..<12) func doesWhatADictionaryDoes(seed: Int) async throws {
        // Given
        var random = SeededGenerator(seed: UInt64(seed))
        let failsOneIn = [0, 0, 10, 3][seed % 4]
        let secondary = WildSecondary(seed: UInt64(seed) + 100, failsOneIn: failsOneIn)
        var configuration = TwoTierCache<String, Int>.Configuration()
        configuration.logger.logLevel = .critical
        let countLimit = [0, 3, 8, 100][seed / 3]
        let cache =
            seed % 2 == 0
            ? TwoTierCache<String, Int>(primary: Cache(countLimit: countLimit), secondary: secondary, configuration)
            : TwoTierCache<String, Int>(primary: UserPrimary(limit: countLimit), secondary: secondary, configuration)
        var plain: [String: (value: Int, tag: CacheTag)] = [:]
        var background: [Task<Void, Never>] = []
        var (wrong, found) = (0, 0)
        func check(_ seen: Int?, _ key: String, mayMiss: Bool) {
            if seen != nil { found += 1 }
            if seen != plain[key]?.value, seen != nil || !mayMiss { wrong += 1 }
        }
        // When, then at every step
        for step in 1...4_000 {
            let key = ["a", "b"].randomElement(using: &random)! + "\(Int.random(in: 0..<8, using: &random))"
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<25:
                let tag: CacheTag = ["x", "y"].randomElement(using: &random)!
                cache.setValue(step, forKey: key, tags: [tag])
                plain[key] = (step, tag)
                // A memory without room has it only until it has reached the second tier.
                if failsOneIn == 0 { check(cache[key], key, mayMiss: countLimit < 100) }
            case 25..<32:
                cache[key] = nil
                plain[key] = nil
            case 32..<50: check(cache[key], key, mayMiss: true)
            case 50..<70: check(await cache.value(forKey: key), key, mayMiss: failsOneIn > 0)
            case 70..<85: background.append(Task { _ = await cache.value(forKey: key) })
            case 85..<90:
                let value = try await cache.value(forKey: key, tags: ["x"]) { step }
                if value == step { plain[key] = (step, "x") }
                check(value, key, mayMiss: false)
            case 90..<92:
                // After a miss of a failing tier, a load may replace it; otherwise the present value stays.
                if await cache.freshenValue(forKey: key) { check(await cache.value(forKey: key), key, mayMiss: failsOneIn > 0) }
            case 92..<94:
                _ = try? await cache.removeAll(taggedWith: "x")
                plain = plain.filter { $0.value.tag != "x" }
            case 94..<95:
                _ = try? await cache.removeAll(withPrefix: "a")
                plain = plain.filter { !$0.key.hasPrefix("a") }
            case 95..<96:
                _ = try? await cache.removeAll()
                plain = [:]
            case 96..<98: _ = await cache.prefetch(["a1", "b2", key])
            default: _ = try? await cache.flush()
            }
        }
        for task in background { await task.value }
        // Then
        #expect(wrong == 0 && found > 300)
        for number in 0..<8 {
            for letter in ["a", "b"] {
                check(await cache.value(forKey: "\(letter)\(number)"), "\(letter)\(number)", mayMiss: failsOneIn > 0)
            }
        }
        #expect(wrong == 0)
    }
}
