import FreshetCache
import FreshetTestSupport
import Testing

@Suite("Removing and listing on disk")
struct DiskRemovalTests {
    let folder = TemporaryDirectory()

    @Test("by tag: those that have it now, and no other")
    func byTag() async throws {
        // Given
        let cache = try await DiskCache.open(folder.path)
        for number in 0..<1_500 { try cache.stageValue([1], forKey: "a\(number)", tags: ["old", "t\(number % 2)"]) }
        try await cache.setValue([1], forKey: "changed", tags: ["old"])
        try await cache.setValue([2], forKey: "changed", tags: ["new", "new", ""])
        try await cache.setValue([1], forKey: "none")
        // When
        let removed = try await cache.removeAll(taggedWith: "old")
        // Then
        #expect(removed == 1_500)
        #expect(try await cache.keys() == ["changed", "none"])
        #expect(try await cache.entry(forKey: "changed")?.tags == ["", "new"])
        #expect(try await cache.removeAll(taggedWith: "t0") == 0)
        #expect(try await cache.removeAll(taggedWith: "") == 1)
        #expect(try await cache.statistics().entries == 1)
    }

    @Test("by prefix of the key's bytes")
    func byPrefix() async throws {
        let cache = try await DiskCache.open(folder.path)
        let keys: [[UInt8]] = [[], [1], [1, 0], [1, 255], [1, 255, 255], [2], [255], [255, 255], [255, 255, 3]]
        func fill() async throws { for key in keys { try await cache.setValue([9], forKey: key) } }
        for prefix: [UInt8] in [[], [1], [1, 255], [255], [255, 255], [3]] {
            // Given
            try await fill()
            let begins = { (key: [UInt8]) in key.starts(with: prefix) }
            #expect(try await cache.entries(withPrefix: prefix).map(\.keyBytes) == keys.filter(begins))
            // When
            let removed = try await cache.removeAll(withPrefix: prefix)
            // Then
            #expect(removed == keys.count(where: begins))
            #expect(try await cache.entries().map(\.keyBytes) == keys.filter { !begins($0) })
        }
    }

    @Test("by a condition on the entries")
    func byPredicate() async throws {
        let cache = try await DiskCache.open(folder.path)
        for number in 0..<1_200 { try cache.stageValue(Array(repeating: 0, count: number), forKey: "\(number)") }
        // When
        let removed = try await cache.removeAll { $0.byteCount >= 100 }
        // Then
        #expect(removed == 1_100)
        #expect(try await cache.entries().allSatisfy { $0.byteCount < 100 })
        #expect(try await cache.statistics().entries == 100)
        #expect(try await cache.statistics().removals == 1_100)
    }

    @Test("a listing comes in pages, in the order of the keys")
    func pages() async throws {
        let cache = try await DiskCache.open(folder.path)
        for number in 100..<200 { try cache.stageValue([1], forKey: "k\(number)") }
        // When
        var seen: [String] = []
        while true {
            let page = try await cache.keys(withPrefix: "k", after: seen.last, limit: 7)
            if page.isEmpty { break }
            seen += page
        }
        // Then
        #expect(seen == (100..<200).map { "k\($0)" })
    }

    @Test("the least recently used leave for the limit, which holds at every step")
    func eviction() async throws {
        // Given room for ten
        var configuration = DiskCache.Configuration()
        configuration.byteLimit = 10 * (100 + 3 * 2 + 128)
        let cache = try await DiskCache.open(folder.path, configuration)
        func key(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        for number in 0..<10 { try await cache.setValue(Array(repeating: 0, count: 100), forKey: key(number)) }
        // When some are used, and five more come
        for number in [0, 3, 5] { _ = try await cache.value(forKey: key(number)) }
        for number in 10..<15 {
            try await cache.setValue(Array(repeating: 0, count: 100), forKey: key(number))
            #expect(try await cache.statistics().bytes <= configuration.byteLimit)
        }
        // Then those that were not used are gone
        #expect(try await cache.keys() == [0, 3, 5, 8, 9, 10, 11, 12, 13, 14].map(key))
        #expect(try await cache.statistics().evictions == 5)
        // And the order outlives the process
        _ = try await cache.value(forKey: key(8))
        await cache.close()
        let next = try await DiskCache.open(folder.path, configuration)
        for number in 15..<24 { try await next.setValue(Array(repeating: 0, count: 100), forKey: key(number)) }
        #expect(try await next.keys() == ([8] + Array(15..<24)).map(key))
    }

    @Test("the limit holds for the files too, whatever the entries consist of", arguments: [(0, 600), (20, 10), (0, 10)])
    func limitOfFiles(tags: Int, keyLength: Int) async throws {
        // Given
        var configuration = DiskCache.Configuration()
        configuration.byteLimit = 1 << 20
        let cache = try await DiskCache.open(folder.path, configuration)
        // When
        for number in 0..<8_000 {
            let key = "\(number)" + String(repeating: "k", count: max(0, keyLength - 5))
            try cache.stageValue([1], forKey: key, tags: (0..<tags).map { "a tag of thirty characters \(number % 100 + $0)" })
            if number % 1_000 == 0 { try await cache.flush() }
        }
        try await cache.flush()
        let bytes = try await cache.statistics().bytes
        await cache.close()
        // Then
        #expect(bytes <= configuration.byteLimit && bytes > configuration.byteLimit * 9 / 10)
        #expect(try DiskCacheDirectory(folder.path).summary().fileBytes <= 2 * configuration.byteLimit)
    }

    @Test("a limit that was lowered by much holds after a while, and files leave with their entries")
    func lowered() async throws {
        do {
            let cache = try await DiskCache.open(folder.path)
            for number in 0..<3_000 { try cache.stageValue([1], forKey: "\(number)") }
            for number in 0..<10 { try cache.stageValue(Array(repeating: 1, count: 20_000), forKey: "large\(number)") }
            await cache.close()
        }
        // When
        var configuration = DiskCache.Configuration()
        configuration.byteLimit = 1_000
        let cache = try await DiskCache.open(folder.path, configuration)
        try await cache.setValue([1], forKey: "x")
        for _ in 0..<4 { try await cache.flush() }
        // Then
        #expect(try await cache.statistics().bytes <= 1_000)
        #expect(try await cache.contains("x"))
        #expect(files(beneath: folder.path).allSatisfy { !$0.contains(/[0-9a-f]{16}-[0-9a-f]{16}/) })
    }

    @Test("a value in a file that has more bytes than the limit is a miss, and no damage")
    func beyondTheLimit() async throws {
        // Given a value, and another one beyond the limit that the cache is opened with next
        do {
            let cache = try await DiskCache.open(folder.path)
            try await cache.setValue(Array(repeating: 1, count: 100_000), forKey: "small")
            try await cache.setValue(Array(repeating: 1, count: 100_001), forKey: "large")
            await cache.close()
        }
        var configuration = DiskCache.Configuration()
        configuration.byteLimit = 100_000
        let cache = try await DiskCache.open(folder.path, configuration)
        // Then
        #expect(try await cache.value(forKey: "large") == nil)
        #expect(try await cache.value(forKey: "small") != nil)
        #expect(try await cache.statistics().damaged == 0)
    }
}
