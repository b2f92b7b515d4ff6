/// Why nothing can be encrypted. Each case says what to do.
public enum CacheEncryptionError: Error, Hashable, Sendable {
    /// A key for AES has 16, 24 or 32 bytes, and this one has another number: derive one of the right size.
    case invalidKey(bytes: Int)
}

extension CacheEncryptionError: CustomStringConvertible {
    /// A line for people, with what to do.
    public var description: String {
        switch self {
        case .invalidKey(let bytes): "A key for AES has 16, 24 or 32 bytes, not \(bytes): derive one of the right size."
        }
    }
}
