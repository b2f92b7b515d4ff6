import FoundationEssentials
import FreshetCache
import FreshetTestSupport
import Testing

@Suite("Two tiers with numbers and times at the ends of their types", .timeLimit(.minutes(5)))
struct TwoTierExtremeTests {
    private let folder = TemporaryDirectory()

    private func tiers(_ disk: DiskCache, _ clock: CacheClock) -> TwoTierCache<Int, Int> {
        var configuration = TwoTierCache<Int, Int>.Configuration()
        configuration.clock = clock
        return TwoTierCache(primary: Cache(clock: clock), secondary: disk, configuration)
    }

    private func disk(_ clock: CacheClock) async throws -> DiskCache {
        var configuration = DiskCache.Configuration()
        configuration.clock = clock
        return try await DiskCache.open(folder.path, configuration)
    }

    @Test("clocks may show the ends of their range", arguments: [Int64.min, .max])
    func clocks(moment: Int64) async throws {
        // Given a value that an earlier run stored
        let clock = CacheClock(uptime: { moment }, wall: { moment })
        let disk = try await disk(clock)
        let before = tiers(disk, clock)
        before.setValue(1, forKey: 1, lifetime: .unlimited)
        before.setValue(2, forKey: 2, lifetime: .after(.seconds(1)))
        before.setValue(3, forKey: 3, lifetime: .sliding(.seconds(1)))
        try await before.flush()
        // Then a later cache finds it
        let after = tiers(disk, clock)
        #expect(await after.value(forKey: 1) == 1)
        for key in 2...3 {
            _ = await after.value(forKey: key)
            await after.freshenValue(forKey: key)
            _ = await after.explain(key).description
        }
    }

    @Test("clocks may show any time at any moment")
    func restlessClocks() async throws {
        let clock = CacheClock(uptime: { Bool.random() ? .max : .min }, wall: { Bool.random() ? .max : .min })
        let disk = try await disk(clock)
        let dates = [0, .nan, .infinity, -.infinity, 1e300].map { Date(timeIntervalSince1970: $0) }
        for number in 0..<100 {
            let tiers = tiers(disk, clock)
            let lifetimes: [Lifetime] = [.after(.seconds(number)), .sliding(.seconds(number)), .until(dates[number % 5]), .unlimited]
            tiers.setValue(number, forKey: number % 10, lifetime: lifetimes[number % 4])
            _ = await tiers.value(forKey: (number + 5) % 10)
            await tiers.freshenValue(forKey: number % 10)
            _ = await tiers.explain(number % 10).description
            try await tiers.flush()
        }
    }

    @Test("a prefetch accepts any number of concurrent lookups", arguments: [Int.min, 0, .max])
    func prefetches(atOnce: Int) async throws {
        let tiers = tiers(try await disk(.system), .system)
        let result = await tiers.prefetch(0..<3, atOnce: atOnce) { $0 }
        #expect(result.loaded.sorted() == [0, 1, 2])
    }
}
