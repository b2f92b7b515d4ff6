import FreshetTrust
import FreshetWire
import Testing

@testable import FreshetServer

/// The sessions of client certificates when their authority or their role changes.
@Suite("Sessions of client certificates") struct CertificateAuthorityTests {
    private static let now = TimeReading(wall: 1_000_000, monotonic: 50_000)

    private static func policy(authorities: [Int: String], role: String? = "till") throws -> AccessPolicy {
        var configuration = RecordServerConfiguration()
        let roles = #"{"till":[{"ns":"s","in":["c/{sub}/*"],"may":["read"]}],"other":[{"ns":"s","in":["d"],"may":["read"]}]}"#
        let file = try Configuration(
            json: Array(#"{"listen":[{"address":"127.0.0.1:0"}],"roles":\#(roles)}"#.utf8), rules: RecordServerConfiguration.fileRules)
        try configuration.take(file)
        var policy = configuration.policy(authorities)
        policy.certificateRoles = role.flatMap { file.roles[$0] }.map { [0: $0] } ?? [:]
        return policy
    }

    private static func credential(_ name: String = "till-7", _ authority: String = "a", from: Int64 = 0) -> CertificateCredential {
        CertificateCredential(listener: 0, name: name, validFrom: from, validUntil: 2_000_000, authority: authority)
    }

    private static func state(_ policy: AccessPolicy) -> AccessState {
        let rows = AccessChanges(after: nil, version: AccessVersion(number: 0))
        return AccessState(policy, [], rows, at: now)
    }

    private static func refusal(_ lookup: SessionTable.Lookup?) -> SessionRefusal? {
        guard case .refused(let refusal) = lookup else { return nil }
        return refusal
    }

    @Test("it opens a session with the role of its listener, and else none")
    func opening() throws {
        var state = Self.state(try Self.policy(authorities: [0: "a"]))
        // Then
        guard case .session(let session) = state.openAtOnce(Self.credential().bytes, at: Self.now) else {
            Issue.record("no session")
            return
        }
        #expect(session.principal == Principal(certificateName: "till-7") && session.rights.grants.count == 1)
        let cases: [(CertificateCredential, CertificateRefusal)] = [
            (Self.credential("till-7", "b"), .otherAuthority), (Self.credential("spiffe://a/b"), .invalidRights),
            (Self.credential(from: 1_000_000 + 31_000), .notYetValid),
        ]
        for (credential, refusal) in cases {
            #expect(Self.refusal(state.openAtOnce(credential.bytes, at: Self.now)) == .certificate(refusal))
        }
        #expect(Self.refusal(state.openAtOnce(Self.credential().bytes, at: TimeReading(wall: 2_000_000, monotonic: 0))) == .expired)
    }

    @Test("a reload ends the sessions of another authority, and those of listeners without a role, wherever they are kept")
    func reload() throws {
        for (policy, refusal) in [
            (try Self.policy(authorities: [0: "b"]), CertificateRefusal.otherAuthority),
            (try Self.policy(authorities: [0: "a"], role: nil), .noRole),
        ] {
            // Given
            var state = Self.state(try Self.policy(authorities: [0: "a"]))
            let bytes = Self.credential().bytes
            guard case .session(let session) = state.openAtOnce(bytes, at: Self.now) else {
                Issue.record("no session")
                return
            }
            #expect(Self.refusal(state.check(session, of: bytes, at: Self.now)) == nil)
            // When
            state.policy = policy
            state.revocations.requireVerification()
            // Then
            #expect(Self.refusal(state.check(session, of: bytes, at: Self.now)) == .certificate(refusal))
        }
    }
}
