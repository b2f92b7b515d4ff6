import FoundationEssentials
import FreshetCache
import FreshetSQLite
import FreshetTestSupport
import Logging
import Testing

@Suite("A cache on disk with numbers and times at the ends of their types", .timeLimit(.minutes(5)))
struct DiskExtremeTests {
    private let folder = TemporaryDirectory()

    private func open(_ change: (inout DiskCache.Configuration) -> Void = { _ in }) async throws -> DiskCache {
        var configuration = DiskCache.Configuration()
        configuration.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        change(&configuration)
        return try await DiskCache.open(folder.path, configuration)
    }

    @Test(
        "a lifetime may be as long as a duration can be, or be over at once",
        arguments: [Duration.seconds(Int64.max), .seconds(Int64.max) * 18, .seconds(Int64.min) * 18, .zero])
    func lifetimes(duration: Duration) async throws {
        // Given
        let cache = try await open { $0.lifetime = .after(duration) }
        // When
        try await cache.setValue([1], forKey: "a")
        try await cache.setValue([2], forKey: "b", lifetime: .sliding(duration))
        try await cache.freshenValue(forKey: "a", lifetime: .after(duration))
        // Then
        #expect((try await cache.value(forKey: "a") != nil) == (duration > .zero))
        #expect((try await cache.value(forKey: "b") != nil) == (duration > .zero))
    }

    @Test("a clock may stand at the end of time", arguments: [Int64.min, .max])
    func clocks(wall: Int64) async throws {
        // Given
        let cache = try await open { $0.clock = ManualCacheClock(wall: wall).clock }
        // When
        for number in 0..<3 { try await cache.setValue([1], forKey: "\(number)", lifetime: .unlimited) }
        try await cache.setValue([1], forKey: "sliding", lifetime: .sliding(.seconds(1)))
        // Then
        #expect(try await cache.value(forKey: "2")?.bytes == [1])
        _ = try await cache.value(forKey: "sliding")
        try await cache.flush()
        #expect(try await cache.entries().count >= 3)
    }

    @Test("a clock may show any time at any moment")
    func restlessClocks() async throws {
        let clock = CacheClock(uptime: { Bool.random() ? .max : .min }, wall: { Bool.random() ? .max : .min })
        let cache = try await open { $0.clock = clock }
        let dates = [0, .nan, .infinity, -.infinity, 1e300].map { Date(timeIntervalSince1970: $0) }
        for number in 0..<200 {
            let lifetimes: [Lifetime] = [.after(.seconds(number)), .sliding(.seconds(number)), .until(dates[number % 5]), .unlimited]
            try await cache.setValue([1], forKey: number % 30, lifetime: lifetimes[number % 4], tags: ["", "t"])
            _ = try await cache.value(forKey: number % 20)
            _ = try await cache.freshenValue(forKey: number % 20)
        }
        #expect(try await cache.statistics().entries <= 30)
    }

    @Test("limits below zero count as zero")
    func limits() async throws {
        // Given
        let cache = try await open { ($0.byteLimit, $0.inlineLimit, $0.stagedByteLimit) = (.min, .min, .min) }
        // Then values are refused, and what needs no room works
        await #expect(throws: CacheError.self) { try await cache.setValue([1], forKey: "a") }
        try await cache.removeValue(forKey: "a")
        #expect(try await cache.entries(limit: .min).isEmpty)
        #expect(try await cache.statistics().restarts == 0)
    }

    @Test(
        "rows whose numbers damage has made huge are no end of the process",
        arguments: [
            "UPDATE entry SET bytes = 9223372036854775807", "UPDATE entry SET bytes = -9223372036854775808",
            "UPDATE state SET bytes = 9223372036854775807", "UPDATE state SET bytes = -9223372036854775808",
            "UPDATE state SET entries = 9223372036854775807", "UPDATE state SET tick = 9223372036854775807",
        ])
    func damagedSums(sql: String) async throws {
        // Given a cache with a number that cannot be
        let cache = try await open()
        for number in 0..<5 { try await cache.setValue([1], forKey: "\(number)") }
        await cache.close()
        let connection = try Connection(path: folder.file("g00000001/entries.sqlite"), mode: .readWrite)
        try connection.execute(sql)
        // When it is written and removed from
        let again = try await open()
        try await again.setValue([2], forKey: "a")
        try await again.removeValue(forKey: "1")
        try await again.setValue([3], forKey: "2")
        // Then it works, and its sums are sums
        #expect(try await again.value(forKey: "2")?.bytes == [3])
        let statistics = try await again.statistics()
        #expect(statistics.entries >= 0 && statistics.bytes >= 0)
        await again.close()
    }
}
