import FreshetCache
import FreshetTestSupport
import Testing

@Suite("Values on disk")
struct DiskCacheTests {
    let folder = TemporaryDirectory()

    @Test("a stored value is returned by both reads, awaited and blocking")
    func readBack() async throws {
        // Given
        let cache = try await DiskCache.open(folder.path)
        // When
        try await cache.setValue([1, 2, 3], forKey: "a")
        // Then
        #expect(try await cache.value(forKey: "a")?.bytes == [1, 2, 3])
        #expect(try cache.blockingValue(forKey: "a")?.bytes == [1, 2, 3])
        #expect(try await cache.value(forKey: "b") == nil)
    }

    @Test(
        "any key is safe as a name",
        arguments: ["", "/", "../../etc/passwd", "a\0b", "é", "e\u{301}", String(repeating: "k", count: 10_000), "CACHEDIR.TAG", "%_'\""])
    func anyKey(key: String) async throws {
        let cache = try await DiskCache.open(folder.path)
        // Given a neighbour that differs by one byte, and values small and large
        let neighbour = Array(key.utf8) + [0xFF]
        for size in [3, 100_000] {
            // When
            try await cache.setValue(Array(repeating: 1, count: size), forKey: key)
            try await cache.setValue(Array(repeating: 2, count: size), forKey: neighbour)
            // Then
            #expect(try await cache.value(forKey: key)?.bytes == Array(repeating: 1, count: size))
            #expect(try await cache.value(forKey: Array(key.utf8))?.bytes == Array(repeating: 1, count: size))
            #expect(try await cache.value(forKey: neighbour)?.bytes == Array(repeating: 2, count: size))
            #expect(try await cache.entries().map(\.keyBytes) == [Array(key.utf8), neighbour])
        }
    }

    @Test("a key is its bytes: the two spellings of é are two keys")
    func spellings() async throws {
        let cache = try await DiskCache.open(folder.path)
        try await cache.setValue([1], forKey: "\u{E9}")
        #expect(try await cache.value(forKey: "e\u{301}") == nil)
        #expect(try await cache.value(forKey: "\u{E9}")?.bytes == [1])
    }

    @Test("values of every size come back whole", arguments: [0, 1, 16 << 10, (16 << 10) + 1, 1 << 20])
    func sizes(size: Int) async throws {
        // Given
        let cache = try await DiskCache.open(folder.path)
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        // When
        try await cache.setValue(bytes, forKey: "v")
        // Then
        #expect(try await cache.value(forKey: "v")?.bytes == bytes)
        let entry = try #require(await cache.entry(forKey: "v"))
        #expect(entry.byteCount == size)
        #expect((entry.file != nil) == (size > 16 << 10))
    }

    @Test("an overwritten value is gone, and so is its file")
    func overwritten() async throws {
        // Given a large value
        let cache = try await DiskCache.open(folder.path)
        try await cache.setValue(Array(repeating: 1, count: 50_000), forKey: "v")
        let file = try #require(await cache.entry(forKey: "v")?.file)
        #expect(exists(file))
        // When another large one takes its place, then a small one
        try await cache.setValue(Array(repeating: 2, count: 50_000), forKey: "v")
        #expect(try await cache.value(forKey: "v")?.bytes == Array(repeating: 2, count: 50_000))
        #expect(!exists(file))
        try await cache.setValue([3], forKey: "v")
        // Then there is one entry, and no file
        #expect(try await cache.value(forKey: "v")?.bytes == [3])
        #expect(try await cache.entry(forKey: "v")?.file == nil)
        let statistics = try await cache.statistics()
        #expect(statistics.entries == 1)
        #expect(statistics.bytes == 1 + 3 * 1 + 128)
    }

    @Test("a stored value outlives the instance")
    func reopened() async throws {
        do {
            let cache = try await DiskCache.open(folder.path)
            try await cache.setValue([1], forKey: "small", tags: ["t"])
            try await cache.setValue(Array(repeating: 9, count: 40_000), forKey: "large")
            await cache.close()
        }
        // When
        let cache = try await DiskCache.open(folder.path)
        // Then
        #expect(try await cache.value(forKey: "small")?.bytes == [1])
        #expect(try await cache.value(forKey: "large")?.bytes == Array(repeating: 9, count: 40_000))
        #expect(try await cache.keys() == ["large", "small"])
    }

    @Test("a removed value is gone; removing nothing is no error")
    func removed() async throws {
        let cache = try await DiskCache.open(folder.path)
        try await cache.setValue([1], forKey: "a")
        // When
        try await cache.removeValue(forKey: "a")
        try await cache.removeValue(forKey: "never")
        // Then
        #expect(try await cache.value(forKey: "a") == nil)
        #expect(try await cache.statistics().entries == 0)
        #expect(try await cache.statistics().bytes == 0)
    }

    @Test("staged changes are visible at once, in order, and written by flush")
    func staged() async throws {
        // Given
        let cache = try await DiskCache.open(folder.path)
        for number in 0..<2_000 {
            // When
            try cache.stageValue([UInt8(truncatingIfNeeded: number)], forKey: "k\(number % 10)")
            // Then it is there, whether or not it is on the disk yet
            #expect(try cache.blockingValue(forKey: "k\(number % 10)")?.bytes == [UInt8(truncatingIfNeeded: number)])
        }
        cache.stageRemoval(forKey: "k3")
        #expect(try cache.blockingValue(forKey: "k3") == nil)
        try await cache.flush()
        #expect(try await cache.statistics().entries == 9)
        await cache.close()
        // And after the next start
        let next = try await DiskCache.open(folder.path)
        #expect(try await next.value(forKey: "k4")?.bytes == [UInt8(truncatingIfNeeded: 1_994)])
        #expect(try await next.value(forKey: "k3") == nil)
    }

    @Test("a value that is too large is refused, and the value that it would replace is removed")
    func tooLarge() async throws {
        // Given
        var configuration = DiskCache.Configuration()
        configuration.byteLimit = 10_000
        let cache = try await DiskCache.open(folder.path, configuration)
        var events = cache.events.makeAsyncIterator()
        try await cache.setValue([1], forKey: "a")
        // When
        await #expect(throws: CacheError.tooLarge(bytes: 20_131, limit: 10_000)) {
            try await cache.setValue(Array(repeating: 0, count: 20_000), forKey: "a")
        }
        // Then
        #expect(try await cache.value(forKey: "a") == nil)
        #expect(await events.next() == .refused(key: Array("a".utf8), bytes: 20_000))
        #expect(try await cache.statistics().refusals == 1)
    }

    @Test("a value beyond the limit of staged bytes is dropped, and its key misses")
    func stagingFull() async throws {
        // Given room for one
        var configuration = DiskCache.Configuration()
        configuration.stagedByteLimit = 100
        let cache = try await DiskCache.open(folder.path, configuration)
        try await cache.setValue([1], forKey: "a")
        // When
        let isStaged = try cache.stageValue(Array(repeating: 2, count: 200), forKey: "a")
        // Then
        #expect(!isStaged)
        #expect(try await cache.value(forKey: "a") == nil)
    }

    @Test("the directory has a cache tag, for backup programs")
    func tag() async throws {
        _ = try await DiskCache.open(folder.file("new/deep"))
        let text = String(decoding: read(folder.file("new/deep/CACHEDIR.TAG")), as: UTF8.self)
        #expect(text.hasPrefix("Signature: 8a477f597d28d172789f06886806bc55\n"))
    }

    @Test("statistics count, and their difference counts the time between")
    func statistics() async throws {
        let cache = try await DiskCache.open(folder.path)
        try await cache.setValue([1], forKey: "a")
        let earlier = try await cache.statistics()
        // When
        for key in ["a", "a", "a", "b"] { _ = try await cache.value(forKey: key) }
        // Then
        let difference = try await cache.statistics() - earlier
        #expect(difference.hits == 3 && difference.misses == 1 && difference.writes == 0 && difference.hitRate == 0.75)
        #expect(difference.entries == 1)
    }

    @Test("every call after close fails with closed")
    func closed() async throws {
        let cache = try await DiskCache.open(folder.path)
        await cache.close()
        await #expect(throws: CacheError.closed) { try await cache.value(forKey: "a") }
        await #expect(throws: CacheError.closed) { try await cache.setValue([1], forKey: "a") }
        await #expect(throws: CacheError.closed) { try await cache.removeAll() }
    }

    @Test("each of many concurrent tasks reads its writes")
    func concurrent() async throws {
        let cache = try await DiskCache.open(folder.path)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<100 {
                        let bytes = Array("\(task)-\(number)".utf8)
                        try await cache.setValue(bytes, forKey: "\(task)/\(number % 20)")
                        #expect(try await cache.value(forKey: "\(task)/\(number % 20)")?.bytes == bytes)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await cache.statistics().entries == 160)
    }
}
