import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetTrust

@Suite("Client certificates as credentials") struct CertificateCredentialTests {
    private static func certificate(_ name: String = "till-7.example", from: Int64 = 900_000) -> CertificateCredential {
        CertificateCredential(listener: 3, name: name, validFrom: from, validUntil: 2_000_000, authority: "0a1b")
    }

    private static func session(_ certificate: CertificateCredential, at now: TimeReading) -> Session {
        Session(certificate, rights: .all, generation: 0, at: now)
    }

    @Test("it is read as it was written, and no key or token is taken for one")
    func bytes() {
        #expect(CertificateCredential(Self.certificate().bytes) == Self.certificate())
        for other in [
            "", "certificate", "certificate ", "certificate 1 2 name", "certificate 1 2 3 4 name x", "certificate 1 2 3 name", "eyJ.eyJ.x",
            "fk_a_b",
        ] {
            #expect(CertificateCredential(Array(other.utf8)) == nil, "\(other)")
        }
    }

    @Test("its principal is none of a key or of a token")
    func principal() {
        let principal = Self.session(Self.certificate("a"), at: SessionFixture().now).principal
        #expect(principal.text == "certificate:a" && principal.certificateName == "a")
        for other in [Principal(issuer: "certificate:a", subject: "b"), .anonymous, .operator] { #expect(other.certificateName == nil) }
    }

    @Test("its session ends with it, by both clocks")
    func end() {
        let now = SessionFixture().now
        let session = Self.session(Self.certificate(), at: now)
        #expect(!session.isExpired(at: TimeReading(wall: 1_999_999, monotonic: now.monotonic)))
        #expect(session.isExpired(at: TimeReading(wall: 2_000_000, monotonic: now.monotonic)))
        #expect(session.isExpired(at: TimeReading(wall: now.wall, monotonic: now.monotonic + 1_000_000)))
    }

    @Test("a revocation ends the sessions of a name's earlier certificates, for as long as these may be valid")
    func revocation() throws {
        // Given
        var fixture = SessionFixture()
        let earlier = Self.session(Self.certificate(), at: fixture.now)
        let later = Self.session(Self.certificate(from: 1_000_000), at: fixture.now)
        let other = Self.session(Self.certificate("till-8.example"), at: fixture.now)
        // When
        let revocation = Revocation(.principal(earlier.principal), issuedBefore: 1_000_000, created: 1_000_000)
        try fixture.revocations.add(revocation, at: fixture.now)
        // Then
        #expect([earlier, later, other].map { fixture.revocations.revocation(of: $0) != nil } == [true, false, false])
        // And time does not remove it, as it does one of a token
        let ofToken = Revocation(.principal(SessionFixture.token().principal), issuedBefore: 1_000_000, created: 1_000_000)
        try fixture.revocations.add(ofToken, at: fixture.now)
        #expect(fixture.revocations.removeExpired(longest: 1_000, at: .max) == [ofToken])
        #expect(fixture.revocations.revocation(of: earlier) == revocation)
    }
}
