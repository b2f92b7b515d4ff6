internal import FreshetPlatform
internal import FreshetWire

/// The claims of a token (RFC 7519 §4.1) as they stand there, not judged yet. Times are seconds since 1970.
struct Claims {
    /// The second that ends the year 9999: no time is later, so that sums do not overflow.
    static let latest: Int64 = 253_402_300_799

    /// The claims that are no placeholders.
    static let registered = ["iss", "sub", "aud", "exp", "nbf", "iat", "jti", "freshet", "freshet_role"]

    private(set) var issuer: String?
    private(set) var subject: String?
    private(set) var audiences: [String] = []
    private(set) var expires: Int64?
    private(set) var notBefore: Int64?
    private(set) var issuedAt: Int64?
    private(set) var tokenID: String?
    /// The grants as JSON, and their place in the payload.
    private(set) var grants: (json: [UInt8], offset: Int)?
    private(set) var role: String?
    /// All claims that are texts, for the placeholders of roles.
    private(set) var texts: [(name: String, value: String)] = []

    /// The claims of a holder without a token.
    init(subject: String) { self.subject = subject }

    /// - Throws: if the payload is no JSON object, names a member twice, or has a registered claim of another kind.
    init(_ payload: [UInt8]) throws(TrustError) {
        var reader = StrictReader(payload)
        try reader.object("claims") { name, reader throws(TrustError) in
            switch name {
            case "iss": issuer = try reader.text()
            case "sub": subject = try Self.identifier(&reader)
            case "jti": tokenID = try Self.identifier(&reader)
            case "exp": expires = try Self.time(&reader)
            case "nbf": notBefore = try Self.time(&reader)
            case "iat": issuedAt = try Self.time(&reader)
            case "aud":
                guard reader.peek() == UInt8(ascii: "[") else {
                    audiences = [try reader.text()]
                    break
                }
                try reader.array(atMost: 16, "audiences") { reader throws(TrustError) in audiences.append(try reader.text()) }
            case "freshet": grants = try reader.raw()
            case "freshet_role": role = try reader.text()
            case _ where reader.peek() == UInt8(ascii: "\""): texts.append((name.text, try reader.string()))
            default: try reader.skip()
            }
            return true
        }
        try reader.end()
    }

    /// A NumericDate (RFC 7519 §2), without its fraction of a second: an earlier end, and a revocation by time ends it too.
    private static func time(_ reader: inout StrictReader) throws(TrustError) -> Int64 {
        let text = String(decoding: try reader.raw().json, as: UTF8.self)
        // Whole numbers of this size are exact.
        guard let seconds = Double(text)?.rounded(.down) else {
            throw reader.fail("'\(text.shortened)' is no time: it takes seconds since 1970")
        }
        guard (0...Double(latest)).contains(seconds) else {
            throw reader.fail("\(text.shortened) is out of range: it takes 0 to \(latest)")
        }
        return Int64(seconds)
    }

    /// 1 to 128 bytes without control characters, which would forge lines of a log.
    private static func identifier(_ reader: inout StrictReader) throws(TrustError) -> String {
        let text = try reader.text()
        guard text.utf8.count <= 128, !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw reader.fail("it takes 1 to 128 bytes without control characters")
        }
        return text
    }

    /// The value of a placeholder; `nil` if the token has no such text.
    func text(_ name: String) -> String? { texts.first { ByteIdentity.areEqual($0.name, name) }?.value }
}
