public import Crypto
internal import FoundationEssentials
public import FreshetCache

/// Keeps the values of a `DiskCache` encrypted: AES in Galois/counter mode, with a key of 128, 192 or 256 bits.
///
/// ```swift
/// var configuration = DiskCache.Configuration()
/// configuration.sealing = try AESGCMSealing(keyBytes: keyFromTheVault)
/// let cache = try await DiskCache.open("/var/cache/letters", configuration)
/// try await cache.setValue(letter, forKey: "letters/1", protection: .encrypted)
/// ```
///
/// A value is bound to the name that it is stored under. Read with another key, or under another name, there is none. Sealed, a value has
/// 28 bytes more: a random nonce of 12 before it, and a tag of 16 after it.
public struct AESGCMSealing: DiskSealing {
    private let key: SymmetricKey

    /// Seals with a key of raw bytes.
    ///
    /// - Parameter keyBytes: 16, 24 or 32 of them, as random as a key must be: derive one from a password by a function made for that.
    /// - Throws: ``CacheEncryptionError/invalidKey(bytes:)``.
    public init(keyBytes: [UInt8]) throws(CacheEncryptionError) {
        try self.init(key: SymmetricKey(data: keyBytes))
    }

    /// Seals with a key of swift-crypto.
    ///
    /// - Throws: ``CacheEncryptionError/invalidKey(bytes:)`` unless it has 128, 192 or 256 bits.
    public init(key: SymmetricKey) throws(CacheEncryptionError) {
        guard [128, 192, 256].contains(key.bitCount) else { throw .invalidKey(bytes: key.bitCount / 8) }
        self.key = key
    }

    /// What is authenticated with a value: moved to another name, it cannot be opened.
    private static func bound(_ name: [UInt8]) -> [UInt8] { Array("freshet cache 1:".utf8) + name }

    /// The nonce, the encrypted bytes, and the tag.
    ///
    /// - Throws: what swift-crypto throws; with a key of the right size it has no reason to.
    public func seal(_ bytes: [UInt8], name: [UInt8]) throws -> [UInt8] {
        let box = try AES.GCM.seal(bytes, using: key, authenticating: Self.bound(name))
        return Array(box.nonce) + box.ciphertext + box.tag
    }

    /// `nil` if another key or another name sealed it, or a bit has changed since.
    public func open(_ sealed: [UInt8], name: [UInt8]) -> [UInt8]? {
        guard let box = try? AES.GCM.SealedBox(combined: sealed),
            let bytes = try? AES.GCM.open(box, using: key, authenticating: Self.bound(name))
        else { return nil }
        return Array(bytes)
    }
}
