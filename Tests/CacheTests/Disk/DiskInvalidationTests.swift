import FreshetCache
import FreshetTestSupport
import Testing

@Suite("Emptying a cache on disk")
struct DiskInvalidationTests {
    let folder = TemporaryDirectory()

    private func open(_ schema: String) async throws -> DiskCache {
        var configuration = DiskCache.Configuration()
        configuration.schema = schema
        return try await DiskCache.open(folder.path, configuration)
    }

    @Test("all entries are removed at once, for every instance, and from the disk")
    func removeAll() async throws {
        // Given two instances that both have read
        let one = try await open("")
        let other = try await open("")
        try await one.setValue(Array("small secret".utf8), forKey: "a")
        try await one.setValue(Array(repeating: 0x5A, count: 50_000), forKey: "b")
        for key in ["a", "b"] { #expect(try await other.value(forKey: key) != nil) }
        // When
        try await one.removeAll()
        // Then
        for cache in [one, other] {
            #expect(try await cache.value(forKey: "a") == nil)
            #expect(try await cache.value(forKey: "b") == nil)
            #expect(try await cache.entries().isEmpty)
        }
        for file in files(beneath: folder.path) {
            #expect(!String(decoding: read(file), as: UTF8.self).contains("small secret"))
            #expect(!read(file).starts(with: [0x5A, 0x5A]))
        }
        // And both go on together
        try await other.setValue([1], forKey: "c")
        #expect(try await one.value(forKey: "c")?.bytes == [1])
    }

    @Test("another account never reads the earlier entries")
    func account() async throws {
        // Given
        let first = try await open("1/ann")
        try await first.setValue([1], forKey: "inbox")
        // When
        try await first.invalidateEverything(schema: "1/bob")
        // Then
        #expect(try await first.value(forKey: "inbox") == nil)
        try await first.setValue([2], forKey: "inbox")
        await first.close()
        let bob = try await open("1/bob")
        #expect(try await bob.value(forKey: "inbox")?.bytes == [2])
    }

    @Test("opening a directory of another schema empties it, and reports it; one of the same schema is kept")
    func schema() async throws {
        let old = try await open("1")
        try await old.setValue([1], forKey: "a")
        await old.close()
        let same = try await open("1")
        #expect(try await same.value(forKey: "a") != nil)
        #expect(try await same.statistics().restarts == 0)
        // When
        let new = try await open("2")
        // Then
        #expect(try await new.value(forKey: "a") == nil)
        #expect(try await new.statistics().restarts == 1)
        // And an instance that is still open with the old schema neither reads nor writes entries of the new one
        try await new.setValue([2], forKey: "a")
        #expect(try await same.value(forKey: "a") == nil)
        await #expect(throws: CacheError.schemaChanged(path: folder.path)) { try await same.setValue([3], forKey: "a") }
        #expect(try await new.value(forKey: "a")?.bytes == [2])
    }

    @Test("a write that was staged before goes, one after it stays")
    func order() async throws {
        let cache = try await open("")
        try cache.stageValue([1], forKey: "before")
        try await cache.removeAll()
        try cache.stageValue([1], forKey: "after")
        #expect(try await cache.keys() == ["after"])
    }

    @Test("emptied by one instance again and again, it neither fails nor invents for another", .timeLimit(.minutes(5)))
    func emptiedMeanwhile() async throws {
        // Given two instances of one directory: the folders that one reads and writes are removed by the other
        let used = try await open("")
        let emptied = try await open("")
        try await withThrowingTaskGroup(of: Void.self) { group in
            // When
            group.addTask {
                for _ in 0..<40 { try await emptied.removeAll() }
            }
            for reader in 0..<3 {
                group.addTask {
                    for number in 0..<60 {
                        try await used.setValue([UInt8(reader), UInt8(number)], forKey: "\(reader)")
                        // Then
                        if let bytes = try await used.value(forKey: "\(reader)")?.bytes {
                            #expect(bytes == [UInt8(reader), UInt8(number)])
                        }
                        _ = try await used.entries()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await used.statistics().restarts == 0)
        #expect(try await emptied.statistics().restarts == 0)
    }

    @Test("a directory that someone deletes is made again")
    func deleted() async throws {
        let cache = try await open("")
        try await cache.setValue([1], forKey: "a")
        // When
        for name in folder.files { removeTree(folder.file(name)) }
        // Then
        try await cache.setValue([2], forKey: "b")
        #expect(try await cache.value(forKey: "a") == nil)
        #expect(try await cache.value(forKey: "b")?.bytes == [2])
        await cache.close()
        let next = try await open("")
        #expect(try await next.value(forKey: "b")?.bytes == [2])
    }

    @Test("a directory with another version of the format is reset, and reports it")
    func format() async throws {
        let cache = try await open("")
        try await cache.setValue([1], forKey: "a")
        await cache.close()
        overwrite(folder.file("freshet.cache"), with: Array("freshet cache 9\n".utf8))
        // When
        let next = try await open("")
        // Then
        #expect(try await next.statistics().restarts == 1)
        #expect(try await next.value(forKey: "a") == nil)
        try await next.setValue([2], forKey: "a")
        #expect(try await next.value(forKey: "a")?.bytes == [2])
    }
}
