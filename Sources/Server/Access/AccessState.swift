import FreshetTrust
import FreshetWire

/// What a server decides by: the policy of its configuration, a copy of the store's access rows, and the sessions that were
/// opened by them. A pure value, but for the fetches of issuers' keys.
struct AccessState: Sendable {
    var policy: AccessPolicy
    /// In the order of the verifier's issuers.
    var issuers: [IssuerKeys]
    private(set) var keys: KeyTable
    var sessions = SessionTable()
    var revocations = RevocationList()
    var classes = RightsClasses()
    /// That of the rows.
    private(set) var version: AccessVersion

    /// - Parameter rows: all rows of the store.
    init(_ policy: AccessPolicy, _ issuers: [IssuerKeys], _ rows: AccessChanges, at now: TimeReading) {
        (self.policy, self.issuers, version) = (policy, issuers, rows.version)
        keys = KeyTable(rows.rows)
        takeRevocations(rows.rows, at: now)
    }

    /// Takes changes of the rows, unless it has them already or lacks earlier ones. Sessions are checked again before they are
    /// used.
    ///
    /// Revocations are only ever added: each server forgets those that have expired by itself, and one that is yet to be
    /// stored is in force already.
    ///
    /// - Returns: whether anything has changed that sessions depend on.
    mutating func take(_ changes: AccessChanges, at now: TimeReading) -> Bool {
        guard changes.version > version, changes.base.map({ $0.history == version.history && $0 <= version }) ?? true else { return false }
        version = changes.version
        let generation = revocations.generation
        if changes.base == nil {
            keys = KeyTable(changes.rows, over: keys)
            keysChanged()
        } else if keys.take(changes) {
            keysChanged()
        }
        takeRevocations(changes.rows, at: now)
        return revocations.generation != generation
    }

    private mutating func keysChanged() {
        sessions.forgetRefusals()
        revocations.requireVerificationOfKeys()
    }

    private mutating func takeRevocations(_ rows: [AccessRow], at now: TimeReading) {
        for row in rows where row.kind == .revocation {
            guard let revocation = Revocation(row), revocations.revocation(of: revocation.target) != revocation else { continue }
            // There are as many as there may be: the list refuses more, and so did the server that stored them.
            _ = try? revocations.add(revocation, at: now)
        }
    }

    /// Removes the revocations whose tokens have all expired, and returns them.
    ///
    /// - Parameter now: a wall clock that is ahead may be set back again, and the tokens be valid then, so both clocks have to be late.
    mutating func removeExpiredRevocations(at now: WriteTime) -> [Revocation] {
        revocations.removeExpired(longest: Revocation.retention, at: min(now.wall, now.retention).milliseconds)
    }

    // MARK: Sessions

    /// The session of a credential that is known.
    mutating func find(_ credential: [UInt8], at now: TimeReading) -> SessionTable.Lookup {
        let known = sessions.find(credential, revocations: revocations, at: now)
        keys.noteUse(known, at: now)
        return known
    }

    /// Checks a session that a request has kept; its credential opens another one if it has to be verified again.
    mutating func check(_ session: Session, of credential: [UInt8], at now: TimeReading) -> SessionTable.Lookup {
        let checked = SessionTable.check(session, by: revocations, at: now)
        guard case .stale = checked else { return checked }
        return openAtOnce(credential, at: now) ?? checked
    }

    /// The session of requests without a credential; `nil` if they have no rights.
    var anonymousSession: Session? {
        policy.anonymous.grants.isEmpty ? nil : Session(anonymous: policy.anonymous, generation: revocations.generation)
    }

    /// Opens the session of a key.
    mutating func openKey(_ credential: [UInt8], at now: TimeReading) -> SessionTable.Lookup {
        do throws(SessionRefusal) {
            let session = try keys.session(credential, generation: revocations.generation, at: now)
            let opened = sessions.admit(session, for: credential, revocations: revocations, at: now)
            keys.noteUse(opened, at: now)
            return opened
        } catch {
            sessions.noteRefusal(error, of: credential, at: now)
            return .refused(error)
        }
    }

    /// Opens the session of a client certificate.
    mutating func open(_ certificate: CertificateCredential, at now: TimeReading) -> SessionTable.Lookup {
        let credential = certificate.bytes
        do throws(CertificateRefusal) {
            guard let role = policy.certificateRoles[certificate.listener] else { throw .noRole }
            guard certificate.authority == policy.authorities[certificate.listener] else { throw .otherAuthority }
            guard certificate.validFrom <= now.wall + TokenVerifier.tolerance * 1_000 else { throw .notYetValid }
            let rights: Rights
            do throws(TokenRefusal) { rights = try role.rights(ofSubject: certificate.name) } catch { throw .invalidRights }
            let session = Session(certificate, rights: rights, generation: revocations.generation, at: now)
            return sessions.admit(session, for: credential, revocations: revocations, at: now)
        } catch {
            sessions.noteRefusal(.certificate(error), of: credential, at: now)
            return .refused(.certificate(error))
        }
    }

    /// Opens the session of a credential that nothing has to be fetched for; `nil` for a token.
    mutating func openAtOnce(_ credential: [UInt8], at now: TimeReading) -> SessionTable.Lookup? {
        if let certificate = CertificateCredential(credential) { return open(certificate, at: now) }
        return AccessKey.isKey(credential) || issuers.isEmpty ? openKey(credential, at: now) : nil
    }

    /// Whether a grace period has ended since the last call: the margin of a revocation, or the overlap of a replaced secret.
    mutating func takeEndedGracePeriods(at now: TimeReading) -> Bool {
        let hasMargin = revocations.takeEndedMargins(at: now)
        return keys.takeEndedOverlaps(at: now.wall) || hasMargin
    }

    /// The rows of the last uses that are not stored yet, each once; at most 1,000.
    mutating func takeUnstoredUses() -> [AccessRow] { keys.takeUnstoredUses() }
}
