import FoundationEssentials
import FreshetCache
import Testing

@Suite struct TwoTierKeyTests {
    enum Kind: String, DiskKey { case small, large }

    struct Place: Hashable, Sendable {
        struct OffTheMap: Error {}

        var row: Int
        var column: String

        static let coding = CacheKeyCoding<Place> { place in
            guard place.row >= 0 else { throw OffTheMap() }
            return "\(place.row)/\(place.column)".nameBytes
        }
    }

    /// Stores under one key, and returns whether a lookup under another finds it with an empty memory.
    private func isFound<Key: DiskKey & Hashable>(_ key: Key, at other: Key) async throws -> Bool {
        let secondary = UserSecondary()
        let cache = TwoTierCache<Key, Int>(primary: Cache(countLimit: 0), secondary: secondary)
        cache[key] = 1
        try await cache.flush()
        return await cache.value(forKey: other) == 1
    }

    @Test func keysOfManyKindsNameThemselves() async throws {
        #expect(try await isFound("a/../b", at: "a/../b"))
        #expect(try await isFound(-1, at: -1))
        #expect(try await !isFound(-1, at: 1))
        #expect(try await isFound(UInt8.max, at: 255))
        #expect(try await isFound(Int64.min, at: .min))
        #expect(try await isFound([UInt8]([0, 1]), at: [0, 1]))
        #expect(try await !isFound([UInt8]([0, 1]), at: [0]))
        #expect(try await isFound(Kind.small, at: .small))
        #expect(try await !isFound(Kind.small, at: .large))
        let id = UUID()
        #expect(try await isFound(id, at: id))
        #expect(try await !isFound(id, at: UUID()))
    }

    @Test func stringsThatAreEqualHaveOneName() async throws {
        // Given the same letter in two encodings, and a sign that is equal to a letter
        #expect(try await isFound("\u{E9}", at: "e\u{301}"))
        #expect(try await isFound("\u{212A}", at: "K"))
        #expect(try await !isFound("\u{E9}", at: "e"))
    }

    @Test func integersSortByTheirBytes() {
        let names = [Int.min, -2, -1, 0, 1, 300, .max].map { $0.withKeyBytes { Array($0) } }
        for (lower, higher) in zip(names, names.dropFirst()) { #expect(lower.lexicographicallyPrecedes(higher)) }
    }

    @Test func anyKeyCanBeNamedByAClosure() async throws {
        // Given
        let secondary = UserSecondary()
        let cache = TwoTierCache<Place, Int>(primary: Cache(countLimit: 0), secondary: secondary, keys: Place.coding)
        // When
        cache[Place(row: 1, column: "caf\u{E9}")] = 3
        try await cache.flush()
        // Then
        #expect(await secondary.text("1/cafe\u{301}") == "3")
        #expect(await cache.value(forKey: Place(row: 1, column: "cafe\u{301}")) == 3)
    }

    @Test func aKeyWithoutANameStaysInMemory() async throws {
        // Given
        let secondary = UserSecondary()
        let cache = TwoTierCache<Place, Int>(primary: Cache(), secondary: secondary, keys: Place.coding)
        var events = cache.events.makeAsyncIterator()
        let key = Place(row: -1, column: "")
        // When
        cache[key] = 1
        try await cache.flush()
        // Then
        guard case .nameless(key, _) = await events.next() else { throw CacheError.closed }
        #expect(await secondary.count == 0)
        #expect(cache[key] == 1)
        #expect(await cache.value(forKey: key) == 1)
        guard case .nameless = await cache.explain(key).disk else { throw CacheError.closed }
        #expect(try await cache.value(forKey: Place(row: -2, column: "")) { 5 } == 5)
        cache[key] = nil
        #expect(await cache.value(forKey: key) == nil)
    }
}
