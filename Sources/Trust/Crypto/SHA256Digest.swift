internal import CFreshetCrypto

/// A SHA-256 digest (FIPS 180-4). Compared in constant time.
package struct SHA256Digest: Hashable, Sendable {
    package static let count = 32

    package let bytes: [UInt8]

    /// O(n) for n bytes.
    package init(of bytes: [UInt8]) {
        self.bytes = [UInt8](unsafeUninitializedCapacity: Self.count) { digest, count in
            _ = SHA256(bytes, bytes.count, digest.baseAddress)
            count = Self.count
        }
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
