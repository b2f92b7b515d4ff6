import CFreshetCrypto
package import FreshetTrust

/// Makes keys and signs tokens, as an identity provider does.
///
/// `@unchecked Sendable`: the key is not changed after the initializer.
package final class TokenSigner: @unchecked Sendable {
    package static let edDSA = TokenSigner(.edDSA)
    package static let es256 = TokenSigner(.es256)
    package static let rs256 = TokenSigner(.rs256)
    package static let hs256 = TokenSigner(.hs256)
    package static let all = [edDSA, es256, rs256, hs256]

    package let algorithm: SignatureAlgorithm
    private let key: OpaquePointer?
    package let secret: [UInt8] = Array("a secret of 32 bytes, for tests..".utf8)

    package init(_ algorithm: SignatureAlgorithm, bits: Int32 = 2_048) {
        self.algorithm = algorithm
        let type: Int32? =
            switch algorithm {
            case .edDSA: EVP_PKEY_ED25519
            case .es256: EVP_PKEY_EC
            case .rs256: EVP_PKEY_RSA
            case .hs256: nil
            }
        guard let type else {
            key = nil
            return
        }
        let context = EVP_PKEY_CTX_new_id(type, nil)
        defer { EVP_PKEY_CTX_free(context) }
        var made: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            algorithm != .es256 || EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1,
            algorithm != .rs256 || EVP_PKEY_CTX_set_rsa_keygen_bits(context, bits) == 1, EVP_PKEY_keygen(context, &made) == 1
        else { fatalError("libcrypto makes no key") }
        key = made
    }

    deinit { EVP_PKEY_free(key) }

    // MARK: The public key

    /// A number of the public key, the highest byte first.
    package func number(_ name: String) -> [UInt8] {
        var number: OpaquePointer?
        guard EVP_PKEY_get_bn_param(key, name, &number) == 1 else { fatalError("no \(name)") }
        defer { BN_free(number) }
        let count = algorithm == .es256 ? 32 : Int(BN_num_bits(number) + 7) / 8
        var bytes = [UInt8](repeating: 0, count: count)
        BN_bn2binpad(number, &bytes, Int32(count))
        return bytes
    }

    package var point: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 32)
        var count = 32
        EVP_PKEY_get_raw_public_key(key, &bytes, &count)
        return bytes
    }

    package func verificationKey(id: String? = nil) throws -> VerificationKey {
        switch algorithm {
        case .edDSA: try VerificationKey(ed25519: point, id: id)
        case .es256: try VerificationKey(p256: number("qx"), number("qy"), id: id)
        case .rs256: try VerificationKey(rsa: number("n"), exponent: number("e"), id: id)
        case .hs256: try VerificationKey(secret: Secret(secret), id: id)
        }
    }

    /// The public key as a JWK, with more members behind it.
    package func jwk(_ members: String = "") -> String {
        func text(_ bytes: [UInt8]) -> String { String(decoding: Base64URL.encode(bytes), as: UTF8.self) }
        return switch algorithm {
        case .edDSA: #"{"kty":"OKP","crv":"Ed25519","x":"\#(text(point))"\#(members)}"#
        case .es256: #"{"kty":"EC","crv":"P-256","x":"\#(text(number("qx")))","y":"\#(text(number("qy")))"\#(members)}"#
        case .rs256: #"{"kty":"RSA","n":"\#(text(number("n")))","e":"\#(text(number("e")))"\#(members)}"#
        case .hs256: #"{"kty":"oct","k":"\#(text(secret))"\#(members)}"#
        }
    }

    // MARK: Signatures

    package func sign(_ message: [UInt8]) -> [UInt8] {
        guard let key else {
            var code = [UInt8](repeating: 0, count: 32)
            HMAC(EVP_sha256(), secret, Int32(secret.count), message, message.count, &code, nil)
            return code
        }
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var signature = [UInt8](repeating: 0, count: 1_024)
        var count = signature.count
        guard EVP_DigestSignInit(context, nil, algorithm == .edDSA ? nil : EVP_sha256(), nil, key) == 1,
            EVP_DigestSign(context, &signature, &count, message, message.count) == 1
        else { fatalError("libcrypto signs nothing") }
        signature.removeLast(signature.count - count)
        return algorithm == .es256 ? Self.raw(signature) : signature
    }

    /// The block of 256 bytes to the power of the private exponent, without any padding.
    package func signRaw(_ block: [UInt8]) -> [UInt8] {
        let context = EVP_PKEY_CTX_new(key, nil)
        defer { EVP_PKEY_CTX_free(context) }
        var signature = [UInt8](repeating: 0, count: block.count)
        var count = signature.count
        guard EVP_PKEY_sign_init(context) == 1, EVP_PKEY_CTX_set_rsa_padding(context, RSA_NO_PADDING) == 1,
            EVP_PKEY_sign(context, &signature, &count, block, block.count) == 1
        else { fatalError("libcrypto signs nothing") }
        return signature
    }

    /// r and s of 32 bytes each, out of the sequence of two integers.
    private static func raw(_ der: [UInt8]) -> [UInt8] {
        var rest = der.dropFirst(2)
        var raw: [UInt8] = []
        for _ in 0..<2 {
            let count = Int(rest[rest.startIndex + 1])
            let digits = rest.dropFirst(2).prefix(count).drop { $0 == 0 }
            raw += [UInt8](repeating: 0, count: 32 - digits.count) + digits
            rest = rest.dropFirst(2 + count)
        }
        return raw
    }

    /// A token of this header and these claims, as texts.
    package func token(header: String, claims: String) -> [UInt8] {
        let signed = Base64URL.encode(header.utf8) + [UInt8(ascii: ".")] + Base64URL.encode(claims.utf8)
        return signed + [UInt8(ascii: ".")] + Base64URL.encode(sign(signed))
    }

    package func token(claims: String, id: String? = nil) -> [UInt8] {
        token(header: #"{"alg":"\#(algorithm.rawValue)"\#(id.map { #","kid":"\#($0)""# } ?? "")}"#, claims: claims)
    }
}
