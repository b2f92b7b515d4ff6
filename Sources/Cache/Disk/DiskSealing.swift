/// What encrypts the values of a ``DiskCache`` that are stored ``DiskProtection/encrypted``, and decrypts them again.
///
/// The product FreshetCacheEncryption has one, `AESGCMSealing`. Another cipher, or a key that lives in hardware, takes these two functions:
///
/// ```swift
/// struct VaultSealing: DiskSealing {
///     let vault: Vault
///     func seal(_ bytes: [UInt8], name: [UInt8]) throws -> [UInt8] { try vault.encrypt(bytes, authenticating: name) }
///     func open(_ sealed: [UInt8], name: [UInt8]) -> [UInt8]? { try? vault.decrypt(sealed, authenticating: name) }
/// }
/// ```
///
/// Both are called on whatever thread writes or reads, and by several at once; no lock of the cache is held.
public protocol DiskSealing: Sendable {
    /// Encrypts a value.
    ///
    /// - Parameters:
    ///   - bytes: the value.
    ///   - name: the bytes of its key. Authenticate them with the value, so that a record moved to another key cannot be opened there.
    /// - Throws: whatever keeps it from that. Nothing is stored then, and the write fails with ``CacheError/cannotSeal(reason:)``.
    func seal(_ bytes: [UInt8], name: [UInt8]) throws -> [UInt8]

    /// Decrypts what ``seal(_:name:)`` returned.
    ///
    /// - Returns: the value, or `nil` if it was sealed with another key, under another name, or is damaged: then the cache says that it holds
    ///   nothing. It must prove that, as an authenticated cipher does, rather than return other bytes.
    func open(_ sealed: [UInt8], name: [UInt8]) -> [UInt8]?
}
