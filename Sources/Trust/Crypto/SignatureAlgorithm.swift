/// The signature algorithms of tokens (RFC 7518 §3, RFC 8037 §3.1). A key has one of them; a token's header only has to
/// agree (RFC 8725 §3.1).
package enum SignatureAlgorithm: String, CaseIterable, Sendable {
    /// Ed25519.
    case edDSA = "EdDSA"
    /// ECDSA with P-256 and SHA-256.
    case es256 = "ES256"
    /// RSASSA-PKCS1-v1_5 with SHA-256 and at least 2048 bits.
    case rs256 = "RS256"
    /// HMAC with SHA-256 and at least 32 bytes.
    case hs256 = "HS256"

    static let list = allCases.map(\.rawValue).joined(separator: ", ")
}
