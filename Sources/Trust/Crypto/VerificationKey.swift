internal import CFreshetCrypto

/// A key that verifies signatures of one algorithm.
package struct VerificationKey: Sendable {
    /// The `kid` by which tokens name the key.
    package let id: String?
    package let algorithm: SignatureAlgorithm
    private let material: Material

    private enum Material: Sendable {
        case publicKey(PublicKey, signatureCount: Int)
        case secret(Secret)
    }

    /// - Parameter bytes: the 32 bytes of RFC 8032 §5.1.5.
    package init(ed25519 bytes: [UInt8], id: String? = nil) throws(KeyError) {
        // RFC 8410 §3: the object identifier 1.3.101.112.
        guard bytes.count == 32, let key = PublicKey(DER.publicKey([0x06, 3, 0x2B, 0x65, 0x70], bytes)) else { throw .noPublicKey }
        (self.id, algorithm, material) = (id, .edDSA, .publicKey(key, signatureCount: 64))
    }

    /// - Parameters:
    ///   - x: a coordinate of a point on P-256, 32 bytes.
    ///   - y: the other one.
    package init(p256 x: [UInt8], _ y: [UInt8], id: String? = nil) throws(KeyError) {
        // RFC 5480 §2.1.1: 1.2.840.10045.2.1 and 1.2.840.10045.3.1.7.
        let algorithm: [UInt8] =
            [0x06, 7, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01] + [0x06, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
        guard x.count == 32, y.count == 32, let key = PublicKey(DER.publicKey(algorithm, [4] + x + y)) else { throw .noPublicKey }
        (self.id, self.algorithm, material) = (id, .es256, .publicKey(key, signatureCount: 64))
    }

    /// - Parameters:
    ///   - modulus: 2048 to 8192 bits, the highest byte first.
    ///   - exponent: at most 32 bits.
    package init(rsa modulus: [UInt8], exponent: [UInt8], id: String? = nil) throws(KeyError) {
        let (modulus, exponent) = (Array(modulus.drop { $0 == 0 }), Array(exponent.drop { $0 == 0 }))
        let bits = modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0)
        guard bits >= 2_048 else { throw .shortModulus(bits) }
        // The verification's cost grows with both numbers.
        guard bits <= 8_192, exponent.count <= 4 else { throw .largeNumbers }
        // RFC 3279 §2.3.1: 1.2.840.113549.1.1.1, without parameters.
        let algorithm: [UInt8] = [0x06, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0]
        guard let key = PublicKey(DER.publicKey(algorithm, DER.sequence(DER.integer(modulus), DER.integer(exponent)))) else {
            throw .noPublicKey
        }
        (self.id, self.algorithm, material) = (id, .rs256, .publicKey(key, signatureCount: modulus.count))
    }

    /// - Parameter secret: at least 32 bytes (RFC 7518 §3.2).
    package init(secret: Secret, id: String? = nil) throws(KeyError) {
        guard secret.exposed.count >= 32 else { throw .shortSecret(secret.exposed.count) }
        (self.id, algorithm, material) = (id, .hs256, .secret(secret))
    }

    /// Whether the signature is the key's for the message. docs/decisions/0049-tokens.md has the costs.
    package func verifies(_ signature: [UInt8], of message: ArraySlice<UInt8>) -> Bool {
        switch material {
        case .secret(let secret):
            signature.count == SHA256Digest.count
                && MessageAuthentication.code(of: message, secret).map { ConstantTime.areEqual($0, signature) } == true
        case .publicKey(let key, let count):
            signature.count == count
                && key.verifies(
                    algorithm == .es256 ? DER.sequence(DER.integer(signature[..<32]), DER.integer(signature[32...])) : signature,
                    of: message, algorithm == .edDSA ? nil : EVP_sha256())
        }
    }
}

/// HMAC with SHA-256 (RFC 2104).
enum MessageAuthentication {
    /// The code of 32 bytes; `nil` if libcrypto makes none.
    static func code(of message: ArraySlice<UInt8>, _ secret: Secret) -> [UInt8]? {
        let secret = secret.exposed
        guard let size = Int32(exactly: secret.count) else { return nil }
        let code = [UInt8](unsafeUninitializedCapacity: SHA256Digest.count) { code, count in
            let result = message.withUnsafeBufferPointer {
                HMAC(EVP_sha256(), secret, size, $0.baseAddress, $0.count, code.baseAddress, nil)
            }
            count = result == nil ? 0 : SHA256Digest.count
        }
        return code.isEmpty ? nil : code
    }
}

/// Why numbers are no key.
package enum KeyError: Error, Hashable, Sendable, CustomStringConvertible {
    case noPublicKey
    case shortModulus(Int)
    case largeNumbers
    case shortSecret(Int)

    package var description: String {
        switch self {
        case .noPublicKey: "the numbers are no public key: export the key again"
        case .shortModulus(let bits): "the RSA key has \(bits) bits: use at least 2048"
        case .largeNumbers: "the RSA key has more than 8192 bits, or an exponent of more than 32: use 2048 to 4096 bits and 65537"
        case .shortSecret(let count): "the secret has \(count) bytes: use at least 32 random ones"
        }
    }
}

/// Owns a public key of libcrypto.
///
/// `@unchecked Sendable`: nothing changes the key after the initializer, so that threads may share it
/// (openssl-threads(7)), and the last reference frees it.
private final class PublicKey: @unchecked Sendable {
    private let key: OpaquePointer

    /// `nil` unless the bytes are one key that passes libcrypto's check: a point on the curve, or a plausible modulus.
    init?(_ encoded: [UInt8]) {
        let decoded = encoded.withUnsafeBufferPointer { bytes in
            var next = bytes.baseAddress
            return d2i_PUBKEY(nil, &next, bytes.count)
        }
        guard let decoded else { return nil }
        key = decoded
        let context = EVP_PKEY_CTX_new(key, nil)
        defer { EVP_PKEY_CTX_free(context) }
        // The deinitializer frees the key.
        guard context != nil, EVP_PKEY_public_check(context) == 1 else { return nil }
    }

    deinit { EVP_PKEY_free(key) }

    func verifies(_ signature: [UInt8], of message: ArraySlice<UInt8>, _ digest: OpaquePointer?) -> Bool {
        guard let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestVerifyInit(context, nil, digest, nil, key) == 1 else { return false }
        return message.withUnsafeBufferPointer { EVP_DigestVerify(context, signature, signature.count, $0.baseAddress, $0.count) } == 1
    }
}
