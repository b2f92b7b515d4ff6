import FreshetCache
import FreshetHTTPCache
import FreshetTestSupport
import Testing

@Suite struct TieredHTTPCacheStoreTests {
    let folder = TemporaryDirectory()

    @Test func aResponseComesFromTheDiskOnceAndThenFromMemory() async throws {
        // Given a response that was stored before the program began
        do {
            let disk = try await DiskCache.open(folder.path)
            try await TieredHTTPCacheStore(disk: disk).store([1, 2, 3], named: "a")
            await disk.close()
        }
        let disk = try await DiskCache.open(folder.path)
        let store = TieredHTTPCacheStore(disk: disk)
        // When it is read twice
        for _ in 1...2 { #expect(try await store.bytes(named: "a") == [1, 2, 3]) }
        // Then the disk was read once, and memory holds it with its name
        #expect(try await disk.statistics().hits == 1 && store.memoryByteCount == 4)
    }

    @Test func whatIsNotThereIsAskedForAgain() async throws {
        // Given
        let store = TieredHTTPCacheStore(disk: try await DiskCache.open(folder.path))
        #expect(try await store.bytes(named: "a") == nil)
        // When
        try await store.store([1], named: "a")
        // Then
        #expect(try await store.bytes(named: "a") == [1])
    }

    @Test func aWriteAndARemovalReachBothTiers() async throws {
        // Given a response in both
        let store = TieredHTTPCacheStore(disk: try await DiskCache.open(folder.path))
        for name in ["a", "b"] {
            try await store.store([1], named: name)
            #expect(try await store.bytes(named: name) == [1])
        }
        // When
        try await store.store([2], named: "a")
        try await store.remove(named: "b")
        // Then
        #expect(try await store.bytes(named: "a") == [2])
        #expect(try await store.bytes(named: "b") == nil)
        // When
        try await store.store([3], named: "ab")
        _ = try await store.bytes(named: "ab")
        try await store.removeAll(withPrefix: "ab")
        // Then
        #expect(try await store.bytes(named: "ab") == nil)
        #expect(try await store.bytes(named: "a") == [2])
        // When
        try await store.removeAll()
        // Then
        #expect(try await store.bytes(named: "a") == nil && store.memoryByteCount == 0)
    }

    @Test(arguments: [DiskProtection.plain, .memoryOnly]) func namesAndPrefixesAreComparedByBytes(protection: DiskProtection) async throws {
        // Given two names that look alike, in a store over both tiers and in one in memory
        let (composed, decomposed) = ("/caf\u{E9}", "/cafe\u{301}")
        let disk = try await DiskCache.open(folder.path)
        let stores: [any HTTPCacheStore] = [TieredHTTPCacheStore(disk: disk, protection: protection), MemoryHTTPCacheStore()]
        for store in stores {
            try await store.store([1], named: composed)
            try await store.store([2], named: decomposed)
            // When, then each has its bytes
            for _ in 1...2 {
                #expect(try await store.bytes(named: composed) == [1])
                #expect(try await store.bytes(named: decomposed) == [2])
            }
            // And a prefix may end within a character
            try await store.removeAll(withPrefix: "/cafe")
            #expect(try await store.bytes(named: composed) == [1])
            #expect(try await store.bytes(named: decomposed) == nil)
            try await store.remove(named: decomposed)
            #expect(try await store.bytes(named: composed) == [1])
        }
    }

    @Test func memoryNeverKeepsWhatTheDiskHasLeftBehind() async throws {
        // Given concurrent readers and a writer of one name
        let store = TieredHTTPCacheStore(disk: try await DiskCache.open(folder.path))
        try await store.store([0], named: "a")
        try await withThrowingTaskGroup { group in
            for _ in 1...4 {
                group.addTask {
                    var last: UInt8 = 0
                    for _ in 1...200 {
                        // Then no reader sees an earlier value again
                        let seen = try await store.bytes(named: "a")?.first ?? last
                        #expect(seen >= last)
                        last = seen
                    }
                }
            }
            group.addTask { for value in UInt8(1)...100 { try await store.store([value], named: "a") } }
            try await group.waitForAll()
        }
        #expect(try await store.bytes(named: "a") == [100])
    }

    @Test("with memoryOnly a response is held in memory, and the disk loses an earlier one")
    func memoryOnly() async throws {
        // Given a response on disk from an earlier process, and a store that may only hold responses in memory
        let disk = try await DiskCache.open(folder.path)
        try await TieredHTTPCacheStore(disk: disk).store([1], named: "a")
        let store = TieredHTTPCacheStore(disk: disk, memoryByteLimit: 1_000, protection: .memoryOnly)
        // When
        try await store.store([2, 3], named: "a")
        // Then memory has it with its name, and the disk has nothing
        #expect(try await store.bytes(named: "a") == [2, 3] && store.memoryByteCount == 3)
        #expect(try await disk.value(forKey: "a") == nil)
        // When a response comes that exceeds the limit
        try await store.store([UInt8](repeating: 0, count: 1_001), named: "a")
        // Then the earlier one is gone too
        #expect(try await store.bytes(named: "a") == nil && store.memoryByteCount == 0)
    }

    @Test func aStoreThatFailsLeavesNothingUnderTheName() async throws {
        // Given a response in both tiers
        let disk = try await DiskCache.open(folder.path)
        let store = TieredHTTPCacheStore(disk: disk)
        try await store.store([1], named: "a")
        #expect(try await store.bytes(named: "a") == [1])
        // When the disk accepts no writes any more
        await disk.close()
        await #expect(throws: CacheError.self) { try await store.store([2], named: "a") }
        // Then memory does not return it either
        #expect(store.memoryByteCount == 0)
    }
}
