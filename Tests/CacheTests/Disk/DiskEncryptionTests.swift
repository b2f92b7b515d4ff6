import Crypto
import FreshetCache
import TestSupport
import Testing

@Suite("Encrypted values on disk")
struct DiskEncryptionTests {
    let folder = TemporaryDirectory()
    let secret = Array("a secret that must not be on the disk".utf8)

    private func open(_ key: DiskEncryptionKey?) async throws -> DiskCache {
        var configuration = DiskCache.Configuration()
        configuration.encryptionKey = key
        return try await DiskCache.open(folder.path, configuration)
    }

    @Test("the right key opens it, another is a miss, and the bytes are not on the disk", arguments: [16, 24, 32], [0, 20_000])
    func roundTrip(size: Int, padding: Int) async throws {
        // Given
        let value = secret + Array(repeating: 7, count: padding)
        let key = try DiskEncryptionKey(bytes: Array(repeating: 1, count: size))
        let cache = try await open(key)
        try await cache.setValue(value, forKey: "a", protection: .encrypted)
        #expect(try await cache.value(forKey: "a")?.bytes == value)
        #expect(try await cache.value(forKey: "a")?.isEncrypted == true)
        #expect(try await cache.entry(forKey: "a")?.isEncrypted == true)
        await cache.close()
        // When another key, or none, is used
        for other in [try DiskEncryptionKey(bytes: Array(repeating: 2, count: size)), nil] {
            let cache = try await open(other)
            // Then
            #expect(try await cache.value(forKey: "a") == nil)
            await cache.close()
        }
        let again = try await open(key)
        #expect(try await again.value(forKey: "a")?.bytes == value)
        for file in files(beneath: folder.path) { #expect(!contains(read(file), secret), "\(file)") }
    }

    @Test("a plain value would be found by the search above")
    func plain() async throws {
        let cache = try await open(nil)
        try await cache.setValue(secret, forKey: "a")
        #expect(files(beneath: folder.path).contains { contains(read($0), secret) })
    }

    @Test("a nonce never comes twice")
    func nonces() async throws {
        let cache = try await open(try DiskEncryptionKey(SymmetricKey(size: .bits256)))
        try await cache.setValue(Array(repeating: 5, count: 20_000), forKey: "a", protection: .encrypted)
        let first = read(try #require(await cache.entry(forKey: "a")?.file))
        try await cache.setValue(Array(repeating: 5, count: 20_000), forKey: "a", protection: .encrypted)
        let second = read(try #require(await cache.entry(forKey: "a")?.file))
        #expect(first.count == 20_028 && second.count == 20_028)
        #expect(first.prefix(12) != second.prefix(12) && first != second)
    }

    @Test("staged, it can be read at once, by the right key")
    func staged() async throws {
        let cache = try await open(try DiskEncryptionKey(bytes: Array(repeating: 1, count: 32)))
        try cache.stageValue(secret, forKey: "a", protection: .encrypted)
        #expect(try cache.blockingValue(forKey: "a")?.bytes == secret)
    }

    @Test("without a key, and with one of a wrong size, it says what would be right")
    func errors() async throws {
        let cache = try await open(nil)
        try await cache.setValue([1], forKey: "a")
        await #expect(throws: CacheError.noEncryptionKey) { try await cache.setValue(secret, forKey: "a", protection: .encrypted) }
        // What was there is not what holds now.
        #expect(try await cache.value(forKey: "a") == nil)
        #expect(throws: CacheError.invalidEncryptionKey(bytes: 5)) { try DiskEncryptionKey(bytes: [1, 2, 3, 4, 5]) }
    }

    @Test("what must stay in memory is never written, and removes what was there")
    func memoryOnly() async throws {
        let cache = try await open(nil)
        try await cache.setValue([1], forKey: "a")
        // When
        try await cache.setValue(secret, forKey: "a", protection: .memoryOnly)
        // Then
        #expect(try await cache.value(forKey: "a") == nil)
        #expect(!files(beneath: folder.path).contains { contains(read($0), secret) })
    }

    private func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        guard bytes.count >= part.count else { return false }
        return (0...(bytes.count - part.count)).contains { bytes[$0] == part[0] && Array(bytes[$0..<($0 + part.count)]) == part }
    }
}
