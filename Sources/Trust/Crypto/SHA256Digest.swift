internal import CFreshetCrypto

/// A SHA-256 digest (FIPS 180-4). Compared in constant time.
package struct SHA256Digest: Hashable, Sendable {
    package static let count = 32

    package let bytes: [UInt8]

    /// O(n) for n bytes. Ends the process if libcrypto makes no digest: all secrets would have the same one.
    package init(of bytes: [UInt8]) {
        guard let digest = Self.digest(of: bytes) else { fatalError(CryptographySelfTest.Failure().description) }
        self.bytes = digest
    }

    /// `nil` if libcrypto makes no digest.
    static func digest(of bytes: [UInt8]) -> [UInt8]? {
        let digest = [UInt8](unsafeUninitializedCapacity: count) { digest, count in
            count = SHA256(bytes, bytes.count, digest.baseAddress) == nil ? 0 : Self.count
        }
        return digest.isEmpty ? nil : digest
    }

    /// A digest that was stored; `nil` unless it has 32 bytes.
    package init?(stored bytes: [UInt8]) {
        guard bytes.count == Self.count else { return nil }
        self.bytes = bytes
    }

    package static func == (left: SHA256Digest, right: SHA256Digest) -> Bool { ConstantTime.areEqual(left.bytes, right.bytes) }
}

/// Comparison whose time depends on the lengths only.
package enum ConstantTime {
    package static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }
}
