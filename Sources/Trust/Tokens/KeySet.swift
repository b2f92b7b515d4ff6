internal import FreshetPlatform
internal import FreshetWire

/// The keys of an issuer.
package struct KeySet: Sendable {
    /// The most keys of a set.
    package static let maximumKeys = 64
    /// The most bytes of a JWKS document.
    package static let maximumBytes = 262_144
    /// The most keys that are tried for one token, which bounds its cost.
    static let maximumTries = 4

    package let keys: [VerificationKey]
    /// The keys of a document that the set leaves out, and why.
    package let skipped: [String]
    /// Whether the set is one secret, which has no `kid`: that of a token is a hint (RFC 7515 §4.1.4), and chooses nothing.
    private let isSecret: Bool

    package init(_ keys: [VerificationKey], skipped: [String] = []) {
        (self.keys, self.skipped, isSecret) = (keys, skipped, false)
    }

    /// A set of one secret, for HS256, as a file contains it: a line break at its end is not part of it.
    package init(secretFile bytes: [UInt8]) throws(KeyError) {
        var secret = bytes
        if secret.last == UInt8(ascii: "\n") { secret.removeLast(secret.suffix(2).first == UInt8(ascii: "\r") ? 2 : 1) }
        (keys, skipped, isSecret) = ([try VerificationKey(secret: Secret(secret))], [], true)
    }

    /// The keys that may verify a token, by its `alg` and its `kid` if it has one. A key of a JWK Set without a `kid` is only
    /// found by a token without.
    func candidates(_ algorithm: SignatureAlgorithm, _ id: String?) -> ArraySlice<VerificationKey> {
        keys.filter { key in
            guard key.algorithm == algorithm else { return false }
            guard let id, !isSecret else { return true }
            return key.id.map { ByteIdentity.areEqual($0, id) } ?? false
        }.prefix(Self.maximumTries)
    }

    /// Whether a fetch of the keys could change the answer for a token with this `kid`. O(n).
    package func has(_ algorithm: SignatureAlgorithm, _ id: String?) -> Bool { !candidates(algorithm, id).isEmpty }
}
