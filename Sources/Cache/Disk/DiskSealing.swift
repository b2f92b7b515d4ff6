public import Crypto
internal import FoundationEssentials

/// A key for the values of a ``DiskCache`` that are kept encrypted: AES in Galois/counter mode, with 128, 192 or 256 bits.
public struct DiskEncryptionKey: Sendable {
    private let key: SymmetricKey

    /// A key of raw bytes.
    ///
    /// - Parameter bytes: 16, 24 or 32 of them, as random as a key must be: derive one from a password by a function made for that.
    /// - Throws: ``CacheError/invalidEncryptionKey(bytes:)``.
    public init(bytes: [UInt8]) throws(CacheError) {
        try self.init(SymmetricKey(data: bytes))
    }

    /// A key of swift-crypto.
    ///
    /// - Throws: ``CacheError/invalidEncryptionKey(bytes:)`` unless it has 128, 192 or 256 bits.
    public init(_ key: SymmetricKey) throws(CacheError) {
        guard [128, 192, 256].contains(key.bitCount) else { throw .invalidEncryptionKey(bytes: key.bitCount / 8) }
        self.key = key
    }

    /// What is authenticated with a value: moved to another name, it cannot be opened.
    private static func bound(_ name: [UInt8]) -> [UInt8] { Array("freshet cache 1:".utf8) + name }

    /// The nonce, which is random, the encrypted bytes, and the tag: 28 bytes more than before.
    func seal(_ bytes: [UInt8], name: [UInt8]) throws(CacheError) -> [UInt8] {
        guard let box = try? AES.GCM.seal(bytes, using: key, authenticating: Self.bound(name)), let sealed = box.combined else {
            throw .invalidEncryptionKey(bytes: key.bitCount / 8)
        }
        return Array(sealed)
    }

    /// `nil` if another key or another name sealed it.
    func open(_ sealed: [UInt8], name: [UInt8]) -> [UInt8]? {
        guard let box = try? AES.GCM.SealedBox(combined: sealed),
            let bytes = try? AES.GCM.open(box, using: key, authenticating: Self.bound(name))
        else { return nil }
        return Array(bytes)
    }
}
