public import FreshetCache

/// Encrypts the values of a `DiskCache`: AES in Galois/counter mode, with a key of 128, 192 or 256 bits.
///
/// ```swift
/// var configuration = DiskCache.Configuration()
/// configuration.cipher = try AESGCMCipher(keyBytes: keyFromTheVault)
/// let cache = try await DiskCache.open("/var/cache/letters", configuration)
/// try await cache.setValue(letter, forKey: "letters/1", protection: .encrypted)
/// ```
///
/// A value is bound to the name under which it is stored: reading it with another key or another name is a miss. A
/// sealed value is 28 bytes longer: a random nonce of 12 before it, and a tag of 16 after it.
public struct AESGCMCipher: DiskCipher {
    private let key: CipherKey

    /// Creates a cipher with a key of raw bytes. The cipher's copy of them is overwritten when its last user is gone.
    ///
    /// - Parameter keyBytes: 16, 24 or 32 random bytes. To use a password, derive them by a key derivation function.
    /// - Throws: ``CacheEncryptionError/invalidKey(bytes:)``.
    public init(keyBytes: [UInt8]) throws(CacheEncryptionError) {
        guard let key = CipherKey(keyBytes) else { throw .invalidKey(bytes: keyBytes.count) }
        self.key = key
    }

    /// The data that is authenticated with a value, so that it cannot be opened under another name.
    private static func bound(_ name: [UInt8]) -> [UInt8] { Array("freshet cache 1:".utf8) + name }

    /// Returns the nonce, the encrypted bytes, and the tag.
    ///
    /// - Throws: ``CacheEncryptionError/failed`` if libcrypto refuses; with its default configuration it only does without
    ///   memory.
    public func seal(_ bytes: [UInt8], name: [UInt8]) throws(CacheEncryptionError) -> [UInt8] {
        // Of the kernel, so that neither a fork nor a machine that was copied while it ran repeats a nonce.
        var random = SystemRandomNumberGenerator()
        let nonce = (0..<GaloisCounterMode.nonceCount).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        guard let sealed = GaloisCounterMode.seal(bytes, key, nonce, authenticating: Self.bound(name)) else { throw .failed }
        return sealed
    }

    /// Returns `nil` if the bytes were sealed with another key or name, or were changed since.
    public func open(_ sealed: [UInt8], name: [UInt8]) -> [UInt8]? {
        GaloisCounterMode.open(sealed, key, authenticating: Self.bound(name))
    }
}
