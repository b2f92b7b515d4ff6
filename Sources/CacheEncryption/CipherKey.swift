internal import CFreshetCrypto

/// The bytes of an AES key, which are overwritten when the last reference is gone, and which no description shows.
///
/// `@unchecked Sendable`: nothing changes the bytes between the initializer and the deinitializer.
final class CipherKey: @unchecked Sendable {
    private let bytes: UnsafeMutableBufferPointer<UInt8>

    /// `nil` unless there are 16, 24 or 32 bytes.
    init?(_ key: [UInt8]) {
        guard [16, 24, 32].contains(key.count) else { return nil }
        bytes = .allocate(capacity: key.count)
        _ = bytes.initialize(fromContentsOf: key)
    }

    deinit {
        OPENSSL_cleanse(bytes.baseAddress, bytes.count)
        bytes.deallocate()
    }

    /// Calls `body` with AES in Galois/counter mode for a key of this size, and the key's bytes.
    func withCipher<Result>(_ body: (OpaquePointer?, UnsafePointer<UInt8>?) -> Result) -> Result {
        let cipher =
            switch bytes.count {
            case 16: EVP_aes_128_gcm()
            case 24: EVP_aes_192_gcm()
            default: EVP_aes_256_gcm()
            }
        return body(cipher, UnsafePointer(bytes.baseAddress))
    }
}
