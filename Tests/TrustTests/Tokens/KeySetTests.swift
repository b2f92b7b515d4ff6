import FreshetTestSupport
import Testing

@testable import FreshetTrust

struct KeySetTests {
    private static func read(_ keys: String..., allowsSecrets: Bool = false) throws -> KeySet {
        try KeySet(jwks: Array(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8), allowsSecrets: allowsSecrets)
    }

    @Test func keysOfAllKindsAreRead() throws {
        // When
        let set = try Self.read(
            TokenSigner.rs256.jwk(#","kid":"a","use":"sig","alg":"RS256","x5t":"AA""#),
            TokenSigner.es256.jwk(#","kid":"b","key_ops":["verify"]"#),
            TokenSigner.edDSA.jwk(#","kid":"c","alg":"EdDSA""#))
        // Then
        #expect(set.keys.map(\.id) == ["a", "b", "c"] && set.keys.map(\.algorithm) == [.rs256, .es256, .edDSA] && set.skipped.isEmpty)
        for (key, signer) in zip(set.keys, [TokenSigner.rs256, .es256, .edDSA]) {
            #expect(key.verifies(signer.sign([1, 2, 3]), of: [1, 2, 3]))
        }
    }

    @Test func aSecretIsReadFromAFileOnly() throws {
        #expect(try Self.read(TokenSigner.hs256.jwk(), allowsSecrets: true).keys.map(\.algorithm) == [.hs256])
        let published = try Self.read(TokenSigner.hs256.jwk(#","kid":"s""#))
        #expect(published.keys.isEmpty && published.skipped.count == 1 && published.skipped[0].contains("'s'"))
        let text = "a secret of 32 bytes, for tests.."
        for end in ["", "\n", "\r\n"] {
            #expect(try KeySet(secretFile: Array((text + end).utf8)).keys[0].verifies(TokenSigner.hs256.sign([1]), of: [1]))
        }
        #expect(throws: KeyError.shortSecret(0)) { try KeySet(secretFile: Array("\n".utf8)) }
        #expect(throws: KeyError.shortSecret(31)) { try KeySet(secretFile: [UInt8](repeating: 1, count: 31)) }
    }

    @Test func aTokenWithAKidIsVerifiedByTheSecretOfAFile() throws {
        // Given a secret, and the same one in a JWK Set
        let (signer, claims) = (TokenSigner.hs256, TokenFixture.claims())
        var fixture = try TokenFixture()
        fixture.keys = try KeySet(secretFile: signer.secret)
        // Then the kid of a token chooses among the keys of a set alone
        for id in [nil, "any"] as [String?] { #expect(fixture.refusal(signer.token(claims: claims, id: id)) == nil) }
        #expect(fixture.refusal(TokenSigner(.edDSA).token(claims: claims, id: "any")) == .unknownKey)
        fixture.keys = try Self.read(signer.jwk(), allowsSecrets: true)
        #expect(fixture.refusal(signer.token(claims: claims, id: "any")) == .unknownKey)
    }

    @Test func aKeyThatCannotBeUsedDoesNotDisableTheOthers() throws {
        let good = TokenSigner.es256.jwk(#","kid":"good""#)
        let unusable = [
            TokenSigner.es256.jwk(#","use":"enc""#), TokenSigner.es256.jwk(#","key_ops":["sign"]"#),
            TokenSigner.es256.jwk(#","alg":"ES384""#),
            TokenSigner.es256.jwk(#","d":"AA""#), TokenSigner.rs256.jwk(#","alg":"PS256""#), TokenSigner.rs256.jwk(#","alg":"HS256""#),
            #"{"kty":"EC","crv":"P-384","x":"AA","y":"AA"}"#, #"{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#,
            #"{"kty":"OKP","crv":"X25519","x":"AA"}"#, #"{"kty":"OKP","crv":"Ed25519","x":"AA=="}"#, #"{"kty":"AKP"}"#, "{}",
            #"{"kty":"RSA","n":"","e":""}"#, #"{"kty":"RSA","n":"AQAB","e":"AQAB"}"#, "7", "null", "[]",
            TokenSigner.es256.jwk(#","kid":7"#), TokenSigner.es256.jwk(#","use":null"#), TokenSigner.es256.jwk(#","alg":null"#),
            TokenSigner.es256.jwk(#","key_ops":null"#), TokenSigner.es256.jwk(#","key_ops":"verify""#), #"{"kty":"AKP","x":7}"#,
        ]
        for key in unusable {
            let set = try Self.read(key, good)
            #expect(set.keys.map(\.id) == ["good"] && set.skipped.count == 1, "\(key)")
        }
    }

    @Test func aKeyWithoutAKidThatNoTokenWouldTryIsLeftOutWithTheReason() throws {
        let signers = (0..<5).map { _ in TokenSigner(.es256) }
        let set = try KeySet(
            jwks: Array(#"{"keys":[\#((signers.map { $0.jwk() } + [TokenSigner.edDSA.jwk()]).joined(separator: ","))]}"#.utf8),
            allowsSecrets: false)
        #expect(set.keys.map(\.algorithm) == [.es256, .es256, .es256, .es256, .edDSA])
        #expect(set.skipped.count == 1 && set.skipped[0].contains("give it a 'kid'"))
        // One with a kid is found by it
        let named = try Self.read(signers[0].jwk(), signers[1].jwk(), signers[2].jwk(), signers[3].jwk(), signers[4].jwk(#","kid":"e""#))
        #expect(named.skipped.isEmpty && named.has(.es256, "e"))
    }

    @Test func aShortRSAKeyIsRefused() throws {
        let signer = TokenSigner(.rs256, bits: 1_024)
        #expect(throws: KeyError.shortModulus(1_024)) { try signer.verificationKey() }
        #expect(try Self.read(signer.jwk()).skipped.count == 1)
        // Zeros before the number do not make it longer.
        #expect(throws: KeyError.shortModulus(1_024)) {
            try VerificationKey(rsa: [UInt8](repeating: 0, count: 128) + signer.number("n"), exponent: [1, 0, 1])
        }
    }

    @Test func numbersThatAreNoKeyAreRefused() throws {
        let modulus = TokenSigner.rs256.number("n")
        let even = modulus.dropLast() + [modulus[255] & 0xFE]
        #expect(throws: KeyError.noPublicKey) { try VerificationKey(rsa: Array(even), exponent: [1, 0, 1]) }
        for exponent: [UInt8] in [[], [0], [1], [2], [1, 0, 0]] {
            #expect(throws: KeyError.noPublicKey, "\(exponent)") { try VerificationKey(rsa: modulus, exponent: exponent) }
        }
        #expect(throws: KeyError.largeNumbers) { try VerificationKey(rsa: modulus, exponent: [1, 0, 0, 0, 1]) }
        #expect(throws: KeyError.largeNumbers) { try VerificationKey(rsa: [UInt8](repeating: 0xFF, count: 1_025), exponent: [1, 0, 1]) }
        let (x, y) = (TokenSigner.es256.number("qx"), TokenSigner.es256.number("qy"))
        #expect(throws: KeyError.noPublicKey) { try VerificationKey(p256: x, x) }
        #expect(throws: KeyError.noPublicKey) { try VerificationKey(p256: x + [0], y) }
        let zero = [UInt8](repeating: 0, count: 32)
        #expect(throws: KeyError.noPublicKey) { try VerificationKey(p256: zero, zero) }
        #expect(throws: KeyError.noPublicKey) { try VerificationKey(ed25519: zero.dropLast()) }
    }

    @Test(
        "a document that is no key set is refused",
        arguments: [
            "", "[]", "{}", #"{"keys":{}}"#, #"{"keys":[]"#, #"{"keys":[{"kid":"a","kid":"b"}]}"#, #"{"keys":[],"keys":[]}"#, "<html>",
        ])
    func refuses(text: String) {
        #expect(throws: TrustError.self) { try KeySet(jwks: Array(text.utf8), allowsSecrets: true) }
    }

    @Test func aDocumentIsBounded() throws {
        let most = Array(repeating: "{}", count: KeySet.maximumKeys).joined(separator: ",")
        #expect(try Self.read(most).skipped.count == KeySet.maximumKeys)
        #expect(throws: TrustError.self) { try Self.read(most, "{}") }
        let large = #"{"keys":[],"x":"\#(String(repeating: "a", count: KeySet.maximumBytes))"}"#
        #expect(throws: TrustError.self) { try KeySet(jwks: Array(large.utf8), allowsSecrets: false) }
    }
}
