import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetTrust

struct TokenVerifierTests {
    private let fixture: TokenFixture
    private let now = TokenFixture.now

    init() throws { fixture = try TokenFixture() }

    @Test("a token of each algorithm is accepted", arguments: TokenSigner.all)
    func accepts(signer: TokenSigner) throws {
        // Given
        let token = signer.token(claims: TokenFixture.claims(["jti": #""t1""#]), id: signer.algorithm.rawValue)
        // When
        let verified = try fixture.verify(token)
        // Then
        #expect(verified.principal.text == "https://id.example.org|u7" && verified.tokenID == "t1" && verified.rights == .none)
        #expect(verified.expires == (now + 600) * 1_000 && verified.issuedAt == (now - 60) * 1_000)
    }

    @Test("a token without kid is tried with the keys of its algorithm", arguments: TokenSigner.all)
    func withoutKeyID(signer: TokenSigner) throws {
        #expect(try fixture.verify(signer.token(claims: TokenFixture.claims())).principal.text == "https://id.example.org|u7")
    }

    @Test("a token is valid from its times on, with 30 s for the clocks, and until its end without")
    func times() throws {
        let claims = TokenFixture.claims(["nbf": "\(now)", "iat": "\(now)", "exp": "\(now + 10)"])
        #expect(throws: TokenRefusal.notYetValid(now)) { try fixture.verify(claims: claims, at: now - 31) }
        for time in [now - 30, now, now + 9] { #expect(try fixture.verify(claims: claims, at: time).expires == (now + 10) * 1_000) }
        #expect(throws: TokenRefusal.expired(now + 10)) { try fixture.verify(claims: claims, at: now + 10) }
    }

    @Test func aLongTokenIsRefused() throws {
        // Given
        let fixture = try TokenFixture(longest: 600)
        // Then
        #expect(try fixture.verify(claims: TokenFixture.claims(["iat": "\(now)"])).issuedAt == now * 1_000)
        #expect(throws: TokenRefusal.tooLong(limit: 600)) { try fixture.verify(claims: TokenFixture.claims(["iat": "\(now - 1)"])) }
        #expect(try fixture.verify(claims: TokenFixture.claims(["iat": nil])).issuedAt == 0)
        #expect(throws: TokenRefusal.tooLong(limit: 600)) {
            try fixture.verify(claims: TokenFixture.claims(["iat": nil, "exp": "\(now + 601)"]))
        }
        #expect(throws: TokenRefusal.tooLong(limit: 600)) { try fixture.verify(claims: TokenFixture.claims(["exp": "253402300799"])) }
    }

    @Test("a claim that is missing is named", arguments: ["sub", "exp", "aud"])
    func missing(name: String) {
        #expect(throws: TokenRefusal.missingClaim(name)) { try fixture.verify(claims: TokenFixture.claims([name: nil])) }
    }

    @Test func aTokenIDIsRequiredIfTheIssuerSaysSo() throws {
        let fixture = try TokenFixture(requiresTokenID: true)
        #expect(throws: TokenRefusal.missingClaim("jti")) { try fixture.verify(claims: TokenFixture.claims()) }
        #expect(try fixture.verify(claims: TokenFixture.claims(["jti": #""t""#])).tokenID == "t")
    }

    @Test func theAudienceMustBeTheServers() throws {
        #expect(throws: TokenRefusal.wrongAudience) { try fixture.verify(claims: TokenFixture.claims(["aud": #""other""#])) }
        #expect(throws: TokenRefusal.wrongAudience) { try fixture.verify(claims: TokenFixture.claims(["aud": #"["other","freshe"]"#])) }
        #expect(throws: TokenRefusal.missingClaim("aud")) { try fixture.verify(claims: TokenFixture.claims(["aud": "[]"])) }
        #expect(try fixture.verify(claims: TokenFixture.claims(["aud": #"["other","freshet"]"#])).rights == .none)
    }

    @Test func subjectsAreToldApartByTheirBytes() throws {
        let composed = try fixture.verify(claims: TokenFixture.claims(["sub": "\"\u{E9}\""]))
        let decomposed = try fixture.verify(claims: TokenFixture.claims(["sub": "\"e\u{301}\""]))
        #expect(composed.principal != decomposed.principal && Set([composed.principal, decomposed.principal]).count == 2)
    }

    @Test func anotherIssuerIsRefused() {
        #expect(throws: TokenRefusal.unknownIssuer) {
            try fixture.verify(claims: TokenFixture.claims(["iss": #""https://id.example.com""#]))
        }
        #expect(throws: TokenRefusal.unknownIssuer) { try fixture.verify(claims: TokenFixture.claims(["iss": nil])) }
        #expect(throws: TokenRefusal.wrongAlgorithm) { try fixture.verify(claims: TokenFixture.claims(["iss": #""other""#])) }
    }

    @Test func theReasonIsReportedOnlyIfTheSignatureIsValid() {
        // Given an expired token, and the same with another signature
        let token = TokenSigner.edDSA.token(claims: TokenFixture.claims(["exp": "\(now - 1)"]), id: "EdDSA")
        var forged = token
        forged[forged.count - 10] ^= 1
        // Then
        #expect(fixture.refusal(token) == .expired(now - 1))
        #expect(TokenRefusal.expired(now - 1).isSigned)
        let refusal = fixture.refusal(forged)
        #expect(refusal == .badSignature || refusal.map { !$0.isSigned } == true)
    }

    @Test func grantsAreReadFromTheToken() throws {
        // When
        let verified = try fixture.verify(
            claims: TokenFixture.claims(["freshet": #"[{"ns":"shop","in":["articles","carts/u7/*"],"may":["read"]}]"#]))
        // Then
        let range = KeyRange.collection("carts", prefix: "u7/")
        #expect(verified.rights.decide(.read, in: try Namespace("shop"), of: range) == .allowed(grant: 0))
    }

    @Test(
        "rights that are none are refused",
        arguments: [
            #"[{"ns":"shop","in":["a"],"may":["everything"]}]"#, #"{"ns":"shop"}"#, "7",
            #"[{"ns":"shop","in":["a"],"may":["read"],"x":1}]"#,
        ])
    func invalidGrants(grants: String) throws {
        let refusal = try #require(throws: TokenRefusal.self) { try fixture.verify(claims: TokenFixture.claims(["freshet": grants])) }
        guard case .invalidRights = refusal else {
            Issue.record("\(refusal)")
            return
        }
        #expect(refusal.isSigned)
    }

    @Test func bothKindsOfRightsAreRefused() {
        let claims = TokenFixture.claims(["freshet": "[]", "freshet_role": #""till""#])
        #expect(throws: TokenRefusal.self) { try fixture.verify(claims: claims) }
        #expect(throws: TokenRefusal.unknownRole("other")) {
            try fixture.verify(claims: TokenFixture.claims(["freshet_role": #""other""#]))
        }
    }
}
