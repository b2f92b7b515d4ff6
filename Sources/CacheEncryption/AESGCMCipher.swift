public import Crypto
internal import FoundationEssentials
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
    private let key: SymmetricKey

    /// Creates a cipher with a key of raw bytes.
    ///
    /// - Parameter keyBytes: 16, 24 or 32 random bytes. To use a password, derive them by a key derivation function.
    /// - Throws: ``CacheEncryptionError/invalidKey(bytes:)``.
    public init(keyBytes: [UInt8]) throws(CacheEncryptionError) {
        try self.init(key: SymmetricKey(data: keyBytes))
    }

    /// Creates a cipher with a key of swift-crypto.
    ///
    /// - Throws: ``CacheEncryptionError/invalidKey(bytes:)`` unless it has 128, 192 or 256 bits.
    public init(key: SymmetricKey) throws(CacheEncryptionError) {
        guard [128, 192, 256].contains(key.bitCount) else { throw .invalidKey(bytes: key.bitCount / 8) }
        self.key = key
    }

    /// The data that is authenticated with a value, so that it cannot be opened under another name.
    private static func bound(_ name: [UInt8]) -> [UInt8] { Array("freshet cache 1:".utf8) + name }

    /// Returns the nonce, the encrypted bytes, and the tag.
    ///
    /// - Throws: the error of swift-crypto; none is expected with a key of a valid size.
    public func seal(_ bytes: [UInt8], name: [UInt8]) throws -> [UInt8] {
        let box = try AES.GCM.seal(bytes, using: key, authenticating: Self.bound(name))
        return Array(box.nonce) + box.ciphertext + box.tag
    }

    /// Returns `nil` if the bytes were sealed with another key or name, or were changed since.
    public func open(_ sealed: [UInt8], name: [UInt8]) -> [UInt8]? {
        guard let box = try? AES.GCM.SealedBox(combined: sealed),
            let bytes = try? AES.GCM.open(box, using: key, authenticating: Self.bound(name))
        else { return nil }
        return Array(bytes)
    }
}
