/// Why a token is refused. Until the signature is verified, the response has one text for all reasons (``isSigned``).
package enum TokenRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// It is no compact JWS with a JSON object for claims, or has a header field that is not accepted.
    case malformed(String)
    case unknownIssuer
    /// No key of the issuer has the token's `kid` and `alg`.
    case unknownKey
    /// The `alg` is none of the issuer's.
    case wrongAlgorithm
    case badSignature
    case missingClaim(String)
    case wrongAudience
    /// Since that second of 1970.
    case expired(Int64)
    /// Until that second of 1970.
    case notYetValid(Int64)
    /// It is valid for longer than the issuer may grant, in seconds.
    case tooLong(limit: Int64)
    case unknownRole(String)
    /// The grants, or those of the role with the token's claims, are none.
    case invalidRights(String)

    /// Whether the token's signature was valid, so that the reason may be reported to its holder.
    package var isSigned: Bool {
        switch self {
        case .malformed, .unknownIssuer, .unknownKey, .wrongAlgorithm, .badSignature: false
        default: true
        }
    }

    /// The reason and the remedy, for the holder (``isSigned``) or for the operator.
    package var description: String {
        switch self {
        case .malformed(let reason): "the token is malformed: \(reason)"
        case .unknownIssuer: "no configured issuer has the token's 'iss': compare it with 'issuers' of the configuration"
        case .unknownKey: "the issuer has no key with the token's 'kid' and 'alg': check that it publishes the key"
        case .wrongAlgorithm: "the issuer may not use the token's 'alg': it takes \(SignatureAlgorithm.list), as the issuer's keys have it"
        case .badSignature: "the signature does not match the issuer's key: check that the token is whole, and from this issuer"
        case .missingClaim(let name): "the token has no '\(name)': the issuer must set it"
        case .wrongAudience: "the token is for another 'aud' than the server's: request one for this server"
        case .expired(let time): "the token expired at \(time) (seconds since 1970): request another"
        case .notYetValid(let time): "the token is valid from \(time) (seconds since 1970) on: check the clocks of issuer and server"
        case .tooLong(let limit):
            "the token is valid for more than \(limit) s: the issuer must set an earlier 'exp', or the configuration a larger 'longest'"
        case .unknownRole(let role): "the configuration has no role '\(role)': correct 'freshet_role', or add the role"
        case .invalidRights(let reason): "the token's rights are invalid: \(reason)"
        }
    }
}
