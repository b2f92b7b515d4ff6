import FoundationEssentials
import FreshetCache
import FreshetTestSupport
import Synchronization
import Testing

@Suite("Lifetimes on disk")
struct DiskLifetimeTests {
    /// A wall clock that a test sets as it likes.
    final class Wall: Sendable {
        let milliseconds = Atomic<Int64>(1_700_000_000_000)
        var clock: CacheClock { CacheClock(uptime: { 0 }, wall: { self.milliseconds.load(ordering: .relaxed) }) }
        func advance(seconds: Int64) { milliseconds.add(seconds * 1_000, ordering: .relaxed) }
    }

    let folder = TemporaryDirectory()
    let wall = Wall()

    private func open() async throws -> DiskCache {
        var configuration = DiskCache.Configuration()
        configuration.clock = wall.clock
        return try await DiskCache.open(folder.path, configuration)
    }

    @Test("each lifetime ends when it should, not before, and over a restart")
    func ends() async throws {
        // Given one of each
        let start = Date(timeIntervalSince1970: 1_700_000_000)
        let lifetimes: [(String, Lifetime, Int64?)] = [
            ("unlimited", .unlimited, nil), ("after", .after(.seconds(60)), 60), ("none", .after(.zero), 0),
            ("past", .after(.seconds(-5)), 0),
            ("until", .until(start.addingTimeInterval(90)), 90), ("sliding", .sliding(.seconds(30)), 30),
            ("huge", .after(.seconds(Int64.max)), nil), ("far", .until(.distantFuture), nil), ("standard", .standard, 12 * 3_600),
        ]
        let cache = try await open()
        for (name, lifetime, _) in lifetimes { try await cache.setValue([1], forKey: name, lifetime: lifetime) }
        await cache.close()
        for moment: Int64 in [0, 29, 30, 59, 60, 89, 90, 12 * 3_600 - 1, 12 * 3_600] {
            // When
            wall.milliseconds.store(1_700_000_000_000 + moment * 1_000, ordering: .relaxed)
            let cache = try await open()
            // Then
            for (name, _, end) in lifetimes {
                #expect(try await cache.contains(name) == end.map { moment < $0 } ?? true, "\(name) after \(moment) s")
            }
            await cache.close()
        }
    }

    @Test("an expired entry is a miss, is not listed, and is removed from the disk")
    func leaves() async throws {
        // Given
        let cache = try await open()
        try await cache.setValue([1], forKey: "a", lifetime: .after(.seconds(10)))
        try await cache.setValue(Array(repeating: 1, count: 50_000), forKey: "b", lifetime: .after(.seconds(10)))
        let file = try #require(await cache.entry(forKey: "b")?.file)
        // When
        wall.advance(seconds: 10)
        // Then
        #expect(try await cache.value(forKey: "a") == nil)
        #expect(try await cache.entries().isEmpty)
        // And one that nobody reads is removed with the next write
        try await cache.setValue([1], forKey: "c")
        #expect(try await cache.statistics().entries == 1)
        #expect(try await cache.statistics().expirations == 2)
        #expect(!exists(file))
    }

    @Test("each use prolongs a sliding one, over a restart too")
    func sliding() async throws {
        // Given
        var cache = try await open()
        try await cache.setValue([1], forKey: "a", lifetime: .sliding(.seconds(30)))
        for _ in 0..<5 {
            // When it is used in time, and the process ends
            wall.advance(seconds: 20)
            #expect(try await cache.value(forKey: "a") != nil)
            await cache.close()
            cache = try await open()
        }
        // Then it lives; unused it does not
        wall.advance(seconds: 29)
        #expect(try await cache.contains("a"))
        wall.advance(seconds: 1)
        #expect(try await cache.value(forKey: "a") == nil)
    }

    @Test("a wall clock that is set back makes nothing live for ever")
    func setBack() async throws {
        // Given entries of a time that turns out to be years ahead
        let cache = try await open()
        wall.advance(seconds: 100_000_000)
        try await cache.setValue([1], forKey: "after", lifetime: .after(.seconds(60)))
        try await cache.setValue([1], forKey: "sliding", lifetime: .sliding(.seconds(60)))
        try await cache.setValue([1], forKey: "unlimited", lifetime: .unlimited)
        // When the clock is corrected
        wall.advance(seconds: -100_000_000)
        // Then their age is unknown, so they have expired; entries without an end stay
        #expect(try await cache.value(forKey: "after") == nil)
        #expect(try await cache.value(forKey: "sliding") == nil)
        #expect(try await cache.value(forKey: "unlimited") != nil)
        // And a correction of some seconds costs nothing
        try await cache.setValue([1], forKey: "after", lifetime: .after(.seconds(60)))
        wall.advance(seconds: -30)
        #expect(try await cache.value(forKey: "after") != nil)
    }

    @Test("a value has its dates of storage and verification; renewing starts its lifetime again")
    func renewed() async throws {
        // Given
        let cache = try await open()
        try await cache.setValue([1], forKey: "a", lifetime: .after(.seconds(60)), tags: ["t"])
        wall.advance(seconds: 40)
        // When
        #expect(try await cache.freshenValue(forKey: "a", lifetime: .after(.seconds(60))))
        wall.advance(seconds: 40)
        // Then
        let value = try #require(await cache.value(forKey: "a"))
        #expect(value.recorded == Date(timeIntervalSince1970: 1_700_000_000))
        #expect(value.verified == Date(timeIntervalSince1970: 1_700_000_040))
        #expect(value.expires == Date(timeIntervalSince1970: 1_700_000_100))
        let entry = try #require(await cache.entry(forKey: "a"))
        #expect(entry.verified == value.verified && entry.expires == value.expires && entry.tags == ["t"])
        // And neither an expired nor a missing entry can be renewed
        wall.advance(seconds: 40)
        #expect(try await !cache.freshenValue(forKey: "a"))
        #expect(try await !cache.freshenValue(forKey: "b"))
    }
}
