/// An error of encryption. The description of each case says what to do.
public enum CacheEncryptionError: Error, Hashable, Sendable {
    /// An AES key has 16, 24 or 32 bytes, and this one does not: derive one of a valid size.
    case invalidKey(bytes: Int)
    /// libcrypto did not encrypt: the process has no memory left, or OpenSSL is configured to refuse AES-GCM.
    case failed
}

extension CacheEncryptionError: CustomStringConvertible {
    /// A line for people that says what to do.
    public var description: String {
        switch self {
        case .invalidKey(let bytes): "A key for AES has 16, 24 or 32 bytes, not \(bytes): derive one of the right size."
        case .failed: "libcrypto did not encrypt: free memory, or allow AES-GCM in the configuration of OpenSSL."
        }
    }
}
