import FreshetCache
import FreshetTestSupport
import Testing

@testable import FreshetCacheEncryption

/// A cipher that a user supplies: adds the key to each byte, and appends a sum over name and value.
private struct AddingCipher: DiskCipher {
    struct Locked: Error, CustomStringConvertible { let description = "the vault is locked" }

    let key: UInt8
    var isLocked = false

    func seal(_ bytes: [UInt8], name: [UInt8]) throws -> [UInt8] {
        if isLocked { throw Locked() }
        return bytes.map { $0 &+ key } + [sum(bytes, name)]
    }

    func open(_ sealed: [UInt8], name: [UInt8]) -> [UInt8]? {
        let bytes = sealed.dropLast().map { $0 &- key }
        return sealed.last == sum(bytes, name) ? bytes : nil
    }

    private func sum(_ bytes: [UInt8], _ name: [UInt8]) -> UInt8 { (name + bytes).reduce(key) { $0 &* 31 &+ $1 } }
}

@Suite("Encrypted values on disk")
struct DiskEncryptionTests {
    let folder = TemporaryDirectory()
    let secret = Array("a secret that must not be on the disk".utf8)

    private func open(_ cipher: (any DiskCipher)?) async throws -> DiskCache {
        var configuration = DiskCache.Configuration()
        configuration.cipher = cipher
        return try await DiskCache.open(folder.path, configuration)
    }

    @Test("the right key opens it, another is a miss, and the bytes are not on the disk", arguments: [16, 24, 32], [0, 20_000])
    func roundTrip(size: Int, padding: Int) async throws {
        // Given
        let value = secret + Array(repeating: 7, count: padding)
        let key = try AESGCMCipher(keyBytes: Array(repeating: 1, count: size))
        let cache = try await open(key)
        try await cache.setValue(value, forKey: "a", protection: .encrypted)
        #expect(try await cache.value(forKey: "a")?.bytes == value)
        #expect(try await cache.value(forKey: "a")?.isEncrypted == true)
        #expect(try await cache.entry(forKey: "a")?.isEncrypted == true)
        await cache.close()
        // When another key, or none, is used
        for other in [try AESGCMCipher(keyBytes: Array(repeating: 2, count: size)), nil] {
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
        let cache = try await open(try AESGCMCipher(keyBytes: Array(repeating: 1, count: 32)))
        try await cache.setValue(Array(repeating: 5, count: 20_000), forKey: "a", protection: .encrypted)
        let first = read(try #require(await cache.entry(forKey: "a")?.file))
        try await cache.setValue(Array(repeating: 5, count: 20_000), forKey: "a", protection: .encrypted)
        let second = read(try #require(await cache.entry(forKey: "a")?.file))
        #expect(first.count == 20_028 && second.count == 20_028)
        #expect(first.prefix(12) != second.prefix(12) && first != second)
    }

    @Test("staged, it can be read at once, by the right key")
    func staged() async throws {
        let cache = try await open(try AESGCMCipher(keyBytes: Array(repeating: 1, count: 32)))
        try cache.stageValue(secret, forKey: "a", protection: .encrypted)
        #expect(try cache.blockingValue(forKey: "a")?.bytes == secret)
    }

    @Test("without a key, and with one of a wrong size, it says what would be right")
    func errors() async throws {
        let cache = try await open(nil)
        try await cache.setValue([1], forKey: "a")
        await #expect(throws: CacheError.noCipher) { try await cache.setValue(secret, forKey: "a", protection: .encrypted) }
        // Then the outdated value is removed
        #expect(try await cache.value(forKey: "a") == nil)
        for count in [0, 5, 15, 17, 33] {
            #expect(throws: CacheEncryptionError.invalidKey(bytes: count)) { try AESGCMCipher(keyBytes: Array(repeating: 1, count: count)) }
        }
    }

    @Test("a custom cipher is used, its wrong key is a miss, and its error fails the write")
    func own() async throws {
        // Given
        let cache = try await open(AddingCipher(key: 3))
        try await cache.setValue(secret, forKey: "a", protection: .encrypted)
        #expect(try await cache.value(forKey: "a")?.bytes == secret)
        #expect(try await cache.entry(forKey: "a")?.byteCount == secret.count + 1)
        await cache.close()
        // When it has another key
        let other = try await open(AddingCipher(key: 4))
        #expect(try await other.value(forKey: "a") == nil)
        await other.close()
        // When it cannot encrypt
        let locked = try await open(AddingCipher(key: 3, isLocked: true))
        let refusal = CacheError.cannotSeal(reason: "the vault is locked")
        #expect(try await locked.value(forKey: "a")?.bytes == secret)
        await #expect(throws: refusal) { try await locked.setValue([1], forKey: "a", protection: .encrypted) }
        #expect(throws: refusal) { try locked.stageValue([1], forKey: "b", protection: .encrypted) }
        // Then the outdated value is removed
        #expect(try await locked.value(forKey: "a") == nil)
        #expect(files(beneath: folder.path).allSatisfy { !contains(read($0), secret) })
    }

    @Test("a sealed value opens only under its name, and not with any bit flipped")
    func bound() throws {
        let cipher = try AESGCMCipher(keyBytes: Array(repeating: 1, count: 32))
        let sealed = try cipher.seal(secret, name: [1])
        #expect(cipher.open(sealed, name: [1]) == secret)
        #expect(cipher.open(sealed, name: [2]) == nil)
        for bit in 0..<(sealed.count * 8) {
            var flipped = sealed
            flipped[bit / 8] ^= 1 << (bit % 8)
            #expect(cipher.open(flipped, name: [1]) == nil)
        }
        for count in 0..<sealed.count { #expect(cipher.open(Array(sealed.prefix(count)), name: [1]) == nil) }
    }

    @Test(
        "what swift-crypto sealed, as caches on disks have it, opens",
        arguments: [
            (16, "3b746b8b697526f069653cc394cc8581543725f22070c60a862c7064045e7bf5a29928e0df8c41b968b73097e50e4766403c"),
            (24, "1945f25eae47fd72bf97537713c1e5d2a56367ec0ff36da44331705c589062dc60c4a5fd7a4895090d3515aa5667e3622f84"),
            (32, "cc56fc5c4426540ed4acc9207ef3185c84eb02db681602395533767baf893d4ddda131632131d55d51b337c1da6d427f900e"),
        ])
    func earlier(size: Int, sealed: String) throws {
        let cipher = try AESGCMCipher(keyBytes: (0..<UInt8(size)).map { $0 })
        #expect(cipher.open(bytes(sealed), name: Array("letters/1".utf8)) == Array("sealed by swift-crypto".utf8))
        #expect(cipher.open(bytes(sealed), name: Array("letters/2".utf8)) == nil)
    }

    @Test("the bytes are those of the mode's specification, test cases 4 and 16")
    func specification() throws {
        let (plain, bound, nonce) = (
            bytes(
                "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                    + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"),
            bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2"), bytes("cafebabefacedbaddecaf888")
        )
        let half = "feffe9928665731c6d6a8f9467308308"
        for (key, sealed) in [
            (
                half,
                "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091"
                    + "5bc94fbc3221a5db94fae95ae7121a47"
            ),
            (
                half + half,
                "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
                    + "76fc6ece0f4e1768cddf8853bb2d551b"
            ),
        ] {
            let key = try #require(CipherKey(bytes(key)))
            #expect(GaloisCounterMode.seal(plain, key, nonce, authenticating: bound) == nonce + bytes(sealed))
        }
    }

    @Test("a cipher does not show its key")
    func hidden() throws {
        let cipher = try AESGCMCipher(keyBytes: Array(repeating: 173, count: 32))
        var shown = "\(cipher) \(String(reflecting: cipher))"
        dump(cipher, to: &shown)
        #expect(!shown.contains("173") && !shown.lowercased().contains("adad"))
    }

    /// The bytes of hexadecimal digits.
    private func bytes(_ digits: String) -> [UInt8] {
        let digits = digits.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    @Test("a memory-only value is never written, and the key's earlier value is removed")
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
