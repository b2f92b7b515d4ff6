/// A credential that was verified: its holder, rights and end.
///
/// The two ends come first: each poll of a token reads them, and the rest hardly ever.
package struct Session: Sendable {
    /// Milliseconds since 1970; `nil` if the credential has no end.
    package let expires: Int64?
    /// The same by the monotonic clock, as far as the wall clock was right when the session began.
    private let monotonicEnd: Int64?
    package let principal: Principal
    package let rights: Rights
    /// Whether it may use the admin listener.
    package let isAdmin: Bool
    /// The key, if the credential is one.
    package let key: KeyIdentifier?
    /// The issuer and `jti`, if the credential is a JWT.
    package let issuer: String?
    package let tokenID: String?
    /// Milliseconds since 1970; 0 if the credential does not state it, so that each revocation by time matches.
    package let issuedAt: Int64
    /// The generation of the revocations by which the session was checked last.
    package private(set) var generation: UInt64

    /// A session of a JWT.
    /// - Parameter generation: that of the revocations before the verification began, and before its keys were read: a
    ///   change in the meantime has the credential verified again.
    package init(_ token: VerifiedToken, generation: UInt64, at now: TimeReading) {
        (principal, rights, isAdmin, key) = (token.principal, token.rights, false, nil)
        (issuer, tokenID, issuedAt, expires) = (token.issuer, token.tokenID, token.issuedAt, token.expires)
        monotonicEnd = Self.end(token.expires, now)
        self.generation = generation
    }

    /// A session of a key.
    /// - Parameters:
    ///   - expires: as ``StoredKey/check(_:at:)`` returns it.
    ///   - generation: that of the revocations before the key was read from the store.
    package init(_ key: StoredKey, expires: Int64?, generation: UInt64, at now: TimeReading) {
        (principal, rights, isAdmin, self.key) = (Principal(key: key.id), key.rights, key.isAdmin, key.id)
        (issuer, tokenID, issuedAt, self.expires) = (nil, nil, key.created, expires)
        monotonicEnd = expires.map { Self.end($0, now) }
        self.generation = generation
    }

    /// The session of a client certificate. One that was issued after a revocation of its principal is good again.
    /// - Parameter generation: that of the revocations before the role was read.
    package init(_ certificate: CertificateCredential, rights: Rights, generation: UInt64, at now: TimeReading) {
        (principal, self.rights, isAdmin, key) = (Principal(certificateName: certificate.name), rights, false, nil)
        (issuer, tokenID, issuedAt, expires) = (nil, nil, certificate.validFrom, certificate.validUntil)
        monotonicEnd = Self.end(certificate.validUntil, now)
        self.generation = generation
    }

    /// The session of requests without a credential.
    package init(anonymous rights: Rights, generation: UInt64) {
        (principal, self.rights, isAdmin, key) = (.anonymous, rights, false, nil)
        (issuer, tokenID, issuedAt, expires, monotonicEnd) = (nil, nil, 0, nil, nil)
        self.generation = generation
    }

    /// The session of requests over the admin socket: everything is allowed, without end.
    package static let `operator` = Session(operator: ())

    private init(operator _: Void) {
        (principal, rights, isAdmin, key) = (.operator, .all, true, nil)
        (issuer, tokenID, issuedAt, expires, monotonicEnd) = (nil, nil, 0, nil, nil)
        generation = 0
    }

    /// Whether it is that of the operator, which no credential stands for and nothing revokes.
    package var isOperator: Bool { isAdmin && key == nil }

    /// Whether the session has ended by one of the clocks: a clock that is set back does not prolong it, and one that
    /// is set forward ends it. One that has no end does not read them.
    package func isExpired(at now: @autoclosure () -> TimeReading) -> Bool {
        guard let expires, let monotonicEnd else { return false }
        let now = now()
        return now.wall >= expires || now.monotonic >= monotonicEnd
    }

    /// When a wait of the session must end at the latest, by the monotonic clock; `nil` if it has no end.
    package func deadline(at now: @autoclosure () -> TimeReading) -> Int64? {
        guard let expires, let monotonicEnd else { return nil }
        return min(monotonicEnd, Self.end(expires, now()))
    }

    /// Whether the session may be used without a look at the table: three comparisons. Otherwise
    /// ``SessionTable/find(_:revocations:at:)`` decides.
    package func isCurrent(_ revocations: RevocationList, at now: @autoclosure () -> TimeReading) -> Bool {
        generation == revocations.generation && !isExpired(at: now())
    }

    mutating func noteCheck(by revocations: RevocationList) { generation = revocations.generation }

    private static func end(_ expires: Int64, _ now: TimeReading) -> Int64 {
        let (left, leftOverflows) = expires.subtractingReportingOverflow(now.wall)
        let (end, endOverflows) = now.monotonic.addingReportingOverflow(left)
        return leftOverflows || endOverflows ? .max : end
    }
}
