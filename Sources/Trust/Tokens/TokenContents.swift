/// What a token states, for a person. Nothing of it is verified. Times are seconds since 1970.
package struct TokenContents: Hashable, Sendable {
    package let algorithm: SignatureAlgorithm
    /// The name of the key that the token states.
    package let keyID: String?
    package let issuer: String?
    package let subject: String?
    package let audiences: [String]
    package let tokenID: String?
    package let issuedAt: Int64?
    package let notBefore: Int64?
    package let expires: Int64?
    package let role: String?
    /// Whether it states grants itself.
    package let hasGrants: Bool

    /// Reads a token of at most 4 KiB.
    /// - Throws: `malformed`, with the reason.
    package init(_ token: [UInt8]) throws(TokenRefusal) {
        let compact = try CompactToken(token)
        let claims: Claims
        do { claims = try Claims(compact.payload) } catch { throw .malformed("in its claims, \(error.description)") }
        (algorithm, keyID) = (compact.algorithm, compact.keyID)
        (issuer, subject, audiences, tokenID) = (claims.issuer, claims.subject, claims.audiences, claims.tokenID)
        (issuedAt, notBefore, expires) = (claims.issuedAt, claims.notBefore, claims.expires)
        (role, hasGrants) = (claims.role, claims.grants != nil)
    }
}
