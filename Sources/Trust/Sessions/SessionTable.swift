internal import FreshetPlatform

/// The sessions of the credentials that were used recently, and the credentials that were refused in the last second.
///
/// Bounded by the bytes of the credentials, and by the number of refusals. Credentials are found by
/// a hash with a random key of the process, then by their bytes. A dropped session costs one verification more.
package struct SessionTable: Sendable {
    /// How long a refusal is remembered, in milliseconds.
    package static let refusalTime: Int64 = 1_000
    /// The bytes of a session besides its credential and its rights, about.
    static let sessionWeight = 512

    package enum Lookup: Sendable {
        case session(Session)
        case refused(SessionRefusal)
        /// The credential had a session, but a key or the configuration has changed since: verify it again, then do as for
        /// ``unknown``. Its sender is no stranger, so that the limits of strangers do not apply.
        case stale
        /// Verify the credential, then call ``SessionTable/admit(_:for:revocations:at:)`` or
        /// ``SessionTable/noteRefusal(_:of:at:)``.
        case unknown
    }

    /// Bytes of a credential as a key of the table. Nothing shows them.
    private struct Credential: Hashable, Sendable {
        let secret: Secret

        init(_ bytes: [UInt8]) { secret = Secret(bytes) }

        static func == (left: Credential, right: Credential) -> Bool { left.secret.matches(right.secret) }
        /// In one piece: an array combines its elements one by one.
        func hash(into hasher: inout Hasher) { secret.exposed.withUnsafeBytes { hasher.combine(bytes: $0) } }
    }

    private var sessions: GenerationTable<Credential, Session>
    private var refusals: GenerationTable<Int, (refusal: SessionRefusal, until: Int64)>

    /// - Parameters:
    ///   - bytes: about the memory of the sessions.
    ///   - refusals: the most refusals that are remembered.
    package init(bytes: Int = 16 << 20, refusals: Int = 8_192) {
        sessions = GenerationTable(limit: bytes / 2)
        self.refusals = GenerationTable(limit: refusals / 2)
    }

    package var count: Int { sessions.count }

    /// Finds the session of a credential. O(n) for the n bytes of the credential.
    package mutating func find(_ credential: [UInt8], revocations: RevocationList, at now: TimeReading) -> Lookup {
        let key = Credential(credential)
        if var session = sessions.value(for: key) {
            guard !session.isCurrent(revocations, at: now) else { return .session(session) }
            let checked = Self.check(session, by: revocations, at: now)
            switch checked {
            case .session:
                session.noteCheck(by: revocations)
                store(session, for: key)
                return .session(session)
            case .refused: sessions.remove(key)
            // Until its credential is admitted or refused, so that it stays known meanwhile.
            case .stale, .unknown: break
            }
            return checked
        }
        guard let found = refusals.value(for: key.hashValue), now.monotonic < found.until else { return .unknown }
        return .refused(found.refusal)
    }

    /// Checks a session that a caller has kept, which need not be in the table any more. O(1).
    /// - Returns: ``Lookup/stale`` if the credential has to be verified again.
    package static func check(_ session: Session, by revocations: RevocationList, at now: TimeReading) -> Lookup {
        if session.isExpired(at: now) { return .refused(.expired) }
        guard revocations.canJudge(session) else { return .stale }
        return revocations.revocation(of: session) == nil ? .session(session) : .refused(.revoked)
    }

    /// Adds the session of a verified credential, unless it is revoked or has ended.
    /// - Returns: ``Lookup/stale`` if the verification began before a change of keys: verify the credential again.
    package mutating func admit(
        _ session: Session, for credential: [UInt8], revocations: RevocationList, at now: TimeReading
    ) -> Lookup {
        let checked = Self.check(session, by: revocations, at: now)
        guard case .session(var session) = checked else {
            if case .refused(let refusal) = checked { noteRefusal(refusal, of: credential, at: now) }
            return checked
        }
        session.noteCheck(by: revocations)
        store(session, for: Credential(credential))
        return .session(session)
    }

    /// Remembers that a credential was refused, so that a flood of it costs a lookup each time. It has no session any more.
    package mutating func noteRefusal(_ refusal: SessionRefusal, of credential: [UInt8], at now: TimeReading) {
        let key = Credential(credential)
        sessions.remove(key)
        refusals.set((refusal, now.monotonic + Self.refusalTime), for: key.hashValue)
    }

    /// Forgets the refused credentials, since a key was added or enabled.
    package mutating func forgetRefusals() { refusals.removeAll() }

    private mutating func store(_ session: Session, for key: Credential) {
        sessions.set(session, for: key, weight: key.secret.exposed.count + session.rights.weight + Self.sessionWeight)
    }
}

/// Why a credential opens no session.
package enum SessionRefusal: Error, Hashable, Sendable {
    case token(TokenRefusal)
    case key(KeyRefusal)
    case malformedKey(AccessKeyError)
    case certificate(CertificateRefusal)
    case expired
    case revoked
}
