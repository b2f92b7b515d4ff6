import FoundationEssentials
import FreshetCache
import FreshetCacheEncryption
import FreshetTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct TwoTierCacheTests {
    struct User: Codable, Hashable, Sendable { var name: String }

    let folder = TemporaryDirectory()

    private func open(_ time: ManualCacheClock? = nil, isSealed: Bool = false) async throws -> DiskCache {
        var configuration = DiskCache.Configuration()
        if let time { configuration.clock = time.clock }
        if isSealed { configuration.cipher = try AESGCMCipher(keyBytes: [UInt8](repeating: 7, count: 32)) }
        return try await DiskCache.open(folder.path, configuration)
    }

    private func cache(_ disk: DiskCache, _ time: ManualCacheClock? = nil) -> TwoTierCache<String, User> {
        var configuration = TwoTierCache<String, User>.Configuration()
        configuration.clock = time?.clock ?? .system
        return TwoTierCache(primary: Cache(clock: configuration.clock), secondary: disk, configuration)
    }

    @Test func aValueOutlivesItsCacheAndIsPromoted() async throws {
        // Given a value that an earlier run stored
        let disk = try await open()
        let before = cache(disk)
        before["a"] = User(name: "Ann")
        #expect(before["a"] == User(name: "Ann"))
        try await before.flush()
        // When a later run begins
        let later = cache(disk)
        // Then memory has nothing before the lookup
        #expect(later["a"] == nil)
        #expect(await later.value(forKey: "a") == User(name: "Ann"))
        #expect(later["a"] == User(name: "Ann"))
        #expect(await later.value(forKey: "nobody") == nil)
        let statistics = later.statistics
        #expect(statistics.memoryHits == 1 && statistics.memoryMisses == 3 && statistics.memoryHitRate == 0.25)
        #expect(statistics.diskHits == 1 && statistics.diskMisses == 1 && statistics.diskHitRate == 0.5)
        #expect((later.statistics - statistics).memoryHits == 0 && before.statistics.writes == 1)
    }

    @Test func aPromotedValueKeepsDatesTagsProtectionAndWhatIsLeftOfItsLifetime() async throws {
        // Given a value that lives for 100 seconds, of which 60 are over
        let time = ManualCacheClock()
        let disk = try await open(time, isSealed: true)
        let before = cache(disk, time)
        before.setValue(User(name: "Ann"), forKey: "a", lifetime: .after(.seconds(100)), tags: ["people"], protection: .encrypted)
        time.advance(by: .seconds(20))
        #expect(await before.freshenValue(forKey: "a", lifetime: .after(.seconds(80))))
        try await before.flush()
        time.advance(by: .seconds(40))
        // When it comes from the disk
        let later = cache(disk, time)
        let entry = try #require(await later.entry(forKey: "a"))
        // Then it is unchanged
        #expect(entry.value == User(name: "Ann") && entry.tags == ["people"] && entry.protection == .encrypted)
        #expect(entry.storedAt == Date(timeIntervalSince1970: 1e9) && entry.validatedAt == Date(timeIntervalSince1970: 1e9 + 20))
        #expect(entry.expiresAt == Date(timeIntervalSince1970: 1e9 + 100) && entry.slidingLifetime == nil)
        // And it expires at its original time
        time.advance(by: .milliseconds(39_999))
        #expect(later["a"] != nil)
        time.advance(by: .milliseconds(1))
        #expect(later["a"] == nil)
        #expect(await later.value(forKey: "a") == nil)
    }

    @Test func aSlidingLifetimeSlidesInBothTiers() async throws {
        let time = ManualCacheClock()
        let disk = try await open(time)
        let before = cache(disk, time)
        before.setValue(User(name: "Ann"), forKey: "a", lifetime: .sliding(.seconds(10)))
        try await before.flush()
        let later = cache(disk, time)
        for _ in 1...3 {
            time.advance(by: .seconds(9))
            #expect(await later.value(forKey: "a") == User(name: "Ann"))
        }
        #expect(later.peek("a")?.slidingLifetime == .seconds(10))
        time.advance(by: .seconds(10))
        #expect(later["a"] == nil)
    }

    @Test func aTagRemovesWhatWasPromotedToo() async throws {
        // Given two promoted values, one of them tagged
        let disk = try await open()
        let before = cache(disk)
        before.setValue(User(name: "Ann"), forKey: "a", tags: ["people"])
        before["b"] = User(name: "Bob")
        try await before.flush()
        let later = cache(disk)
        for key in ["a", "b"] { #expect(await later.value(forKey: key) != nil) }
        // When
        try await later.removeAll(taggedWith: "people")
        // Then
        #expect(later["a"] == nil && later["b"] != nil)
        #expect(try await disk.keys() == ["b"])
    }

    @Test func aPrefixRemovesFromBothTiers() async throws {
        let disk = try await open()
        let cache = cache(disk)
        for key in ["user/1", "user/2", "post/1"] { cache[key] = User(name: key) }
        try await cache.removeAll(withPrefix: "user/")
        #expect(cache["user/1"] == nil && cache["user/2"] == nil && cache["post/1"] != nil)
        #expect(try await disk.keys() == ["post/1"])
    }

    @Test func everythingGoesForAnotherSchema() async throws {
        let disk = try await open()
        let cache = cache(disk)
        cache["a"] = User(name: "Ann")
        try await cache.invalidateEverything(schema: "2")
        #expect(cache["a"] == nil)
        #expect(await cache.value(forKey: "a") == nil)
        // And later values belong to the new schema
        cache["a"] = User(name: "Amy")
        try await cache.flush()
        #expect(try await disk.value(forKey: "a") != nil)
        try await cache.removeAll()
        #expect(try await disk.value(forKey: "a") == nil)
        #expect(cache.peek("a") == nil)
    }

    @Test func whatIsForMemoryAloneNeverReachesTheDisk() async throws {
        // Given a value on disk
        let disk = try await open()
        let cache = cache(disk)
        cache["a"] = User(name: "Ann")
        try await cache.flush()
        let writes = cache.statistics.writes
        // When
        cache.setValue(User(name: "secret"), forKey: "a", protection: .memoryOnly)
        try await cache.flush()
        // Then memory has it, and the disk neither it nor the earlier value
        #expect(cache["a"] == User(name: "secret") && cache.statistics.writes == writes)
        #expect(try await disk.keys().isEmpty)
        let loaded = try await cache.value(forKey: "b", protection: .memoryOnly) { User(name: "Bob") }
        try await cache.flush()
        #expect(try await disk.keys().isEmpty)
        #expect(loaded == cache["b"])
    }

    @Test func whatIsToBeEncryptedIsNotReadableOnDisk() async throws {
        let disk = try await open(isSealed: true)
        let cache = cache(disk)
        cache.setValue(User(name: "Ann"), forKey: "a", protection: .encrypted)
        try await cache.flush()
        #expect(try await disk.entry(forKey: "a")?.isEncrypted == true)
        #expect(await self.cache(disk).value(forKey: "a") == User(name: "Ann"))
        // Without a cipher, nothing is stored at all
        await disk.close()
        let unsealed = try await open()
        let other = self.cache(unsealed)
        other.setValue(User(name: "Bob"), forKey: "b", protection: .encrypted)
        await #expect(throws: CacheError.noCipher) { try await other.flush() }
        #expect(try await unsealed.keys() == ["a"])
        #expect(other["b"] != nil)
    }

    @Test func bytesAndTextAreStoredAsTheyAre() async throws {
        let disk = try await open()
        let pictures = TwoTierCache<String, [UInt8]>(primary: Cache(), secondary: disk)
        pictures["p"] = [0, 255]
        let texts = TwoTierCache<String, String>(primary: Cache(), secondary: disk)
        texts["t"] = "héllo"
        try await pictures.flush()
        try await texts.flush()
        #expect(try await disk.value(forKey: "p")?.bytes == [0, 255])
        #expect(try await disk.value(forKey: "t")?.bytes == Array("héllo".utf8))
        // And bytes that are not text are a miss
        #expect(await texts.value(forKey: "p") == nil)
        try await texts.flush()
        #expect(try await disk.value(forKey: "p") == nil)
    }

    @Test func whatCannotBeDecodedIsAMissAndLeaves() async throws {
        let disk = try await open()
        try await disk.setValue([1, 2], forKey: "a")
        let cache = cache(disk)
        var events = cache.events.makeAsyncIterator()
        #expect(await cache.value(forKey: "a") == nil)
        guard case .undecodable("a", _) = await events.next() else { throw CacheError.closed }
        try await cache.flush()
        #expect(try await disk.value(forKey: "a") == nil)
    }

    @Test func verifyingWhatIsNotThereSaysSo() async throws {
        #expect(await cache(try await open()).freshenValue(forKey: "a") == false)
    }

    @Test func theStoryOfAKeyTellsOfBothTiers() async throws {
        // Given
        let time = ManualCacheClock()
        let disk = try await open(time)
        let cache = cache(disk, time)
        cache.setValue(User(name: "Ann"), forKey: "a", lifetime: .after(.seconds(100)))
        try await cache.flush()
        time.advance(by: .seconds(30))
        // When
        let there = await cache.explain("a")
        // Then
        #expect(there.isInMemory && there.memory?.state == .present && there.staged == nil && !there.isLoading)
        #expect("\(there)".contains("memory: present") && "\(there)".contains("disk: 14 bytes, verified 30 s ago, over in 70 s"))
        // And of a key without a value
        let gone = await cache.explain("b")
        guard case .absent = gone.disk else { throw CacheError.closed }
        #expect(!gone.isInMemory && "\(gone)" == "memory: absent; disk: absent")
    }
}
