internal import FreshetPlatform
internal import FreshetWire

/// Verifies the tokens of the configured issuers.
///
/// In two steps, since the keys may have to be fetched between them: ``read(_:)`` finds the issuer, and
/// ``verify(_:by:at:)`` takes the issuer's current keys.
package struct TokenVerifier: Sendable {
    /// How far the clocks of issuer and server may differ, in seconds. `exp` has no tolerance: it ends waits.
    package static let tolerance: Int64 = 30

    package let issuers: [Issuer]
    private let roles: [String: Role]

    package init(issuers: [Issuer], roles: [String: Role]) {
        self.issuers = issuers
        self.roles = roles
    }

    /// Reads a token without verifying it, and finds its issuer. O(n) in at most 4 KiB.
    package func read(_ token: [UInt8]) throws(TokenRefusal) -> UnverifiedToken {
        let compact = try CompactToken(token)
        let claims: Claims
        do { claims = try Claims(compact.payload) } catch { throw .malformed("in its claims, \(error.description)") }
        guard let name = claims.issuer, let issuer = issuers.firstIndex(where: { $0.isNamed(name) }) else { throw .unknownIssuer }
        guard issuers[issuer].algorithms.contains(compact.algorithm) else { throw .wrongAlgorithm }
        return UnverifiedToken(issuer: issuer, compact: compact, claims: claims)
    }

    /// Verifies the signature, then judges the claims.
    /// - Parameter now: milliseconds since 1970.
    /// - Throws: ``TokenRefusal/unknownKey`` if a fetch of the issuer's keys could change the answer.
    package func verify(_ token: UnverifiedToken, by keys: KeySet, at now: Int64) throws(TokenRefusal) -> VerifiedToken {
        let candidates = keys.candidates(token.algorithm, token.keyID)
        guard !candidates.isEmpty else { throw .unknownKey }
        guard candidates.contains(where: { $0.verifies(token.compact.signature, of: token.compact.signed) }) else { throw .badSignature }
        return try judge(token.claims, of: issuers[token.issuer], at: now / 1_000)
    }

    private func judge(_ claims: Claims, of issuer: Issuer, at now: Int64) throws(TokenRefusal) -> VerifiedToken {
        guard let subject = claims.subject else { throw .missingClaim("sub") }
        guard let expires = claims.expires else { throw .missingClaim("exp") }
        guard !claims.audiences.isEmpty else { throw .missingClaim("aud") }
        guard claims.tokenID != nil || !issuer.requiresTokenID else { throw .missingClaim("jti") }
        guard claims.audiences.contains(where: issuer.isAudience) else { throw .wrongAudience }
        guard now < expires else { throw .expired(expires) }
        let begin = max(claims.notBefore ?? 0, claims.issuedAt ?? 0)
        guard begin <= now + Self.tolerance else { throw .notYetValid(begin) }
        // A token that does not state when it was issued is judged by the rest of its life.
        guard expires - (claims.issuedAt ?? now) <= issuer.longest else { throw .tooLong(limit: issuer.longest) }
        return VerifiedToken(
            principal: Principal(issuer: issuer.name, subject: subject), issuer: issuer.name, tokenID: claims.tokenID,
            issuedAt: (claims.issuedAt ?? 0) * 1_000, expires: expires * 1_000, rights: try rights(claims))
    }

    private func rights(_ claims: Claims) throws(TokenRefusal) -> Rights {
        switch (claims.grants, claims.role) {
        case (nil, nil): return .none
        case (nil, let name?):
            guard let role = roles[name] else { throw .unknownRole(name.shortened) }
            return try role.rights(claims)
        case (let grants?, nil):
            do { return try Rights(json: grants.json) } catch {
                throw .invalidRights("in 'freshet', at byte \(grants.offset) of the claims: \(error.description)")
            }
        case (.some, .some): throw .invalidRights("it has both 'freshet' and 'freshet_role': use one of them")
        }
    }
}

/// An identity provider whose tokens are accepted, without its keys.
package struct Issuer: Hashable, Sendable {
    /// The `iss` of its tokens.
    package let name: String
    /// The `aud` that its tokens must have.
    package let audience: String
    /// The longest life of a token, in seconds.
    package let longest: Int64
    package let algorithms: Set<SignatureAlgorithm>
    /// Whether a token must have a `jti`, by which it can be revoked alone.
    package let requiresTokenID: Bool

    package init(
        name: String, audience: String, longest: Int64 = 86_400, algorithms: Set<SignatureAlgorithm>, requiresTokenID: Bool = false
    ) {
        (self.name, self.audience, self.longest) = (name, audience, longest)
        (self.algorithms, self.requiresTokenID) = (algorithms, requiresTokenID)
    }

    /// By bytes, as RFC 7519 §4.1 demands.
    func isNamed(_ text: String) -> Bool { ByteIdentity.areEqual(name, text) }
    func isAudience(_ text: String) -> Bool { ByteIdentity.areEqual(audience, text) }
}

/// A token that was read and not verified: nothing in it may be believed.
package struct UnverifiedToken: Sendable {
    /// The index of the issuer that the token names.
    package let issuer: Int
    let compact: CompactToken
    let claims: Claims

    /// The name of the key that the token states.
    package var keyID: String? { compact.keyID }
    package var algorithm: SignatureAlgorithm { compact.algorithm }
}

/// A token whose signature and claims are valid. Times are milliseconds since 1970.
package struct VerifiedToken: Hashable, Sendable {
    package let principal: Principal
    package let issuer: String
    package let tokenID: String?
    /// 0 if the token does not state it.
    package let issuedAt: Int64
    package let expires: Int64
    package let rights: Rights
}
