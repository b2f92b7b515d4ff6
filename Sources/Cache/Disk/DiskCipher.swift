/// Encrypts and decrypts the values of a ``DiskCache`` that are stored ``DiskProtection/encrypted``.
///
/// The product FreshetCacheEncryption has an implementation, `AESGCMCipher`. Another cipher, or a key in hardware, takes two functions:
///
/// ```swift
/// struct VaultCipher: DiskCipher {
///     let vault: Vault
///     func seal(_ bytes: [UInt8], name: [UInt8]) throws -> [UInt8] { try vault.encrypt(bytes, authenticating: name) }
///     func open(_ sealed: [UInt8], name: [UInt8]) -> [UInt8]? { try? vault.decrypt(sealed, authenticating: name) }
/// }
/// ```
///
/// The cache calls both on any thread that writes or reads, on several at once, and holds no lock meanwhile.
public protocol DiskCipher: Sendable {
    /// Encrypts a value.
    ///
    /// - Parameters:
    ///   - bytes: the value.
    ///   - name: the bytes of its key. Authenticate them with the value, so that a record moved to another key cannot be opened there.
    /// - Throws: any error of the cipher. Nothing is stored then, and the write fails with ``CacheError/cannotSeal(reason:)``.
    func seal(_ bytes: [UInt8], name: [UInt8]) throws -> [UInt8]

    /// Decrypts what ``seal(_:name:)`` returned.
    ///
    /// - Returns: the value, or `nil` if it was sealed with another key, under another name, or is damaged: then the read misses. The
    ///   implementation must detect these cases, as an authenticated cipher does, rather than return other bytes.
    func open(_ sealed: [UInt8], name: [UInt8]) -> [UInt8]?
}
