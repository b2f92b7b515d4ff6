internal import FreshetWire

/// A compact JWS (RFC 7515 §7.1) whose parts are decoded and whose signature is not verified yet.
struct CompactToken {
    /// The most bytes of a token.
    static let maximumCount = 4_096
    /// The most bytes of a key's name.
    static let maximumKeyName = 256

    let algorithm: SignatureAlgorithm
    let keyID: String?
    let payload: [UInt8]
    let signature: [UInt8]
    /// The bytes that are signed: header and payload as they were sent.
    let signed: ArraySlice<UInt8>

    /// O(n), in at most 4 KiB.
    init(_ token: [UInt8]) throws(TokenRefusal) {
        guard token.count <= Self.maximumCount else {
            throw .malformed("it has \(token.count) bytes, and at most \(Self.maximumCount) are accepted")
        }
        let parts = token.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .malformed("it takes three parts with dots between them") }
        guard let header = Base64URL.decode(parts[0]), let payload = Base64URL.decode(parts[1]), let signature = Base64URL.decode(parts[2])
        else { throw .malformed("a part is not canonical base64url without padding") }
        self.payload = payload
        self.signature = signature
        signed = token[..<parts[1].endIndex]
        do { (algorithm, keyID) = try Self.read(header: header) } catch { throw .malformed("in its header, \(error.description)") }
    }

    /// Members that state another key than the issuer's, or another processing than this one's, are refused (RFC 8725
    /// §3.10, RFC 7515 §4.1.11). Other unknown members are ignored, as RFC 7515 §4 demands.
    private static func read(header: [UInt8]) throws(TrustError) -> (SignatureAlgorithm, String?) {
        var algorithm: SignatureAlgorithm?
        var keyID: String?
        var reader = StrictReader(header)
        try reader.object("a JOSE header") { name, reader throws(TrustError) in
            switch name {
            case "alg":
                let text = try reader.text()
                guard let known = SignatureAlgorithm(rawValue: text) else {
                    throw reader.fail("'alg' is '\(text.shortened)': it takes \(SignatureAlgorithm.list)")
                }
                algorithm = known
            case "kid":
                let text = try reader.text()
                guard text.utf8.count <= maximumKeyName else { throw reader.fail("'kid' has more than \(maximumKeyName) bytes") }
                keyID = text
            case "typ":
                let type = try reader.text().lowercased()
                guard ["jwt", "at+jwt", "application/jwt", "application/at+jwt"].contains(type) else {
                    throw reader.fail("'typ' is '\(type.shortened)': it takes JWT or at+jwt")
                }
            case "crit", "jwk", "jku", "x5u", "x5c", "b64", "zip", "enc": return false
            default: try reader.skip()
            }
            return true
        }
        try reader.end()
        guard let algorithm else { throw reader.fail("'alg' is missing") }
        return (algorithm, keyID)
    }
}
