internal import FreshetWire

extension KeySet {
    /// Reads a JWK Set. A key that cannot be used is left out with a reason, so that one key of another kind, or one with a
    /// member of another type, does not disable an issuer (RFC 7517 §5).
    /// - Parameter allowsSecrets: whether symmetric keys are accepted: from a file, and never from a URL, which
    ///   publishes them.
    /// - Throws: ``TrustError`` if the document is no set, is too large or has too many keys.
    package init(jwks bytes: [UInt8], allowsSecrets: Bool) throws(TrustError) {
        guard bytes.count <= Self.maximumBytes else {
            throw .invalidValue(offset: 0, "the key set has \(bytes.count) bytes: at most \(Self.maximumBytes) are read")
        }
        var keys: [VerificationKey] = []
        var skipped: [String] = []
        var found = false
        var reader = StrictReader(bytes)
        try reader.object("a JWK Set") { name, reader throws(TrustError) in
            guard name == "keys" else {
                try reader.skip()
                return true
            }
            found = true
            try reader.array(atMost: Self.maximumKeys, "keys") { reader throws(TrustError) in
                let (json, offset) = try reader.raw()
                let key: JSONWebKey
                do throws(TrustError) { key = try JSONWebKey(json) } catch {
                    return skipped.append("the key at byte \(offset): in it, \(error.description)")
                }
                do throws(KeySkip) {
                    let usable = try key.key(allowsSecrets: allowsSecrets)
                    guard usable.id != nil || keys.count(where: { $0.algorithm == usable.algorithm }) < Self.maximumTries else {
                        throw .neverTried
                    }
                    keys.append(usable)
                } catch {
                    skipped.append("key '\(key.id?.shortened ?? "without kid")': \(error.description)")
                }
            }
            return true
        }
        try reader.end()
        guard found else { throw .invalidValue(offset: 0, "there is no 'keys': a JWK Set takes {\"keys\": […]}") }
        self.init(keys, skipped: skipped)
    }
}

/// Why a key of a document is left out.
private enum KeySkip: Error, CustomStringConvertible {
    case notForSignatures
    case isPrivate
    case unsupported(String)
    case publishedSecret
    case invalid(KeyError)
    case neverTried

    var description: String {
        switch self {
        case .notForSignatures: "it is not for signatures"
        case .isPrivate: "the document has its private part: replace the key, and publish the public part only"
        case .unsupported(let kind): "\(kind) is not supported: \(SignatureAlgorithm.list) are"
        case .publishedSecret: "a secret that a URL publishes is none: use a secret file, or a key pair"
        case .invalid(let error): error.description
        case .neverTried: "only the first \(KeySet.maximumTries) keys of its algorithm are tried for a token without 'kid': give it a 'kid'"
        }
    }
}

/// The members of a JWK (RFC 7517 §4, RFC 7518 §6, RFC 8037 §2).
private struct JSONWebKey {
    private(set) var id: String?
    private var type = ""
    private var curve = ""
    private var algorithm: String?
    private var isForSignatures = true
    private var isPrivate = false
    /// Numbers as bytes; empty if the text is not canonical base64url.
    private var x: [UInt8] = [], y: [UInt8] = [], n: [UInt8] = [], e: [UInt8] = []
    private var secret: Secret?

    init(_ json: [UInt8]) throws(TrustError) {
        var reader = StrictReader(json)
        try reader.object("a JWK") { name, reader throws(TrustError) in
            func number() throws(TrustError) -> [UInt8] { Base64URL.decode(try reader.string().utf8) ?? [] }
            switch name {
            case "kid": id = try reader.string()
            case "kty": type = try reader.string()
            case "crv": curve = try reader.string()
            case "alg": algorithm = try reader.string()
            case "use": isForSignatures = try reader.string() == "sig" && isForSignatures
            case "key_ops":
                var verifies = false
                try reader.array(atMost: 16, "operations") { reader throws(TrustError) in
                    if try reader.string() == "verify" { verifies = true }
                }
                isForSignatures = verifies && isForSignatures
            case "x": x = try number()
            case "y": y = try number()
            case "n": n = try number()
            case "e": e = try number()
            case "k": secret = Secret(try number())
            case "d", "p", "q", "dp", "dq", "qi", "oth":
                isPrivate = true
                try reader.skip()
            default: try reader.skip()
            }
            return true
        }
    }

    /// The key of the one algorithm that its kind has. An `alg` must agree.
    func key(allowsSecrets: Bool) throws(KeySkip) -> VerificationKey {
        guard isForSignatures else { throw .notForSignatures }
        guard !isPrivate else { throw .isPrivate }
        let kind: SignatureAlgorithm? =
            switch (type, curve) {
            case ("OKP", "Ed25519"): .edDSA
            case ("EC", "P-256"): .es256
            case ("RSA", _): .rs256
            case ("oct", _): .hs256
            default: nil
            }
        guard let kind, algorithm == nil || algorithm == kind.rawValue else {
            throw .unsupported("'\(algorithm?.shortened ?? "\(type.shortened) \(curve.shortened)")'")
        }
        guard kind != .hs256 || allowsSecrets else { throw .publishedSecret }
        do throws(KeyError) {
            return switch kind {
            case .edDSA: try VerificationKey(ed25519: x, id: id)
            case .es256: try VerificationKey(p256: x, y, id: id)
            case .rs256: try VerificationKey(rsa: n, exponent: e, id: id)
            case .hs256: try VerificationKey(secret: secret ?? Secret([]), id: id)
            }
        } catch { throw .invalid(error) }
    }
}
