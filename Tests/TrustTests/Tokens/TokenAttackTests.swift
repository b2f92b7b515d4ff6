import FreshetTestSupport
import Testing

@testable import FreshetTrust

/// Tokens that an attacker makes.
struct TokenAttackTests {
    private let fixture: TokenFixture

    init() throws { fixture = try TokenFixture() }

    private func isMalformed(_ token: [UInt8]) -> Bool {
        if case .malformed = fixture.refusal(token) { true } else { false }
    }

    private static func token(header: String, claims: String = TokenFixture.claims(), signature: [UInt8]) -> [UInt8] {
        Base64URL.encode(header.utf8) + [UInt8(ascii: ".")] + Base64URL.encode(claims.utf8) + [UInt8(ascii: ".")]
            + Base64URL.encode(signature)
    }

    // MARK: Algorithms

    @Test(
        "an algorithm that signs nothing, or is none of the four, is refused",
        arguments: ["none", "None", "nOnE", "HS512", "RS512", "PS256", "ES384", "ES256K", "", "hs256", "A128KW"])
    func algorithms(name: String) {
        for signature in [[], [0], TokenSigner.hs256.sign([1])] {
            #expect(isMalformed(Self.token(header: #"{"alg":"\#(name)"}"#, signature: signature)))
        }
        #expect(isMalformed(Self.token(header: "{}", signature: [])))
    }

    @Test("a secret made of a public key verifies nothing", arguments: [TokenSigner.rs256, .es256, .edDSA])
    func publicKeyAsSecret(signer: TokenSigner) throws {
        // Given an issuer with a key pair, whose algorithms still allow HS256 since a careless operator lists it
        var fixture = fixture
        fixture.keys = KeySet([try signer.verificationKey(id: "k")])
        let secrets =
            [signer.jwk(), signer.jwk() + "\n"].map { Array($0.utf8) } + [
                signer.algorithm == .rs256 ? signer.number("n") : signer.algorithm == .edDSA ? signer.point : signer.number("qx")
            ]
        for secret in secrets {
            for id in [#","kid":"k""#, ""] {
                // When the attacker signs by HMAC with the public key
                let signed =
                    Base64URL.encode(#"{"alg":"HS256"\#(id)}"#.utf8) + [UInt8(ascii: ".")] + Base64URL.encode(TokenFixture.claims().utf8)
                let code = HMACCode.of(signed, secret: secret)
                // Then
                #expect(fixture.refusal(signed + [UInt8(ascii: ".")] + Base64URL.encode(code)) == .unknownKey)
            }
        }
    }

    @Test("a key verifies no token of another algorithm", arguments: TokenSigner.all, TokenSigner.all)
    func swaps(signer: TokenSigner, other: TokenSigner) {
        guard signer !== other else { return }
        // Given a token that names the key of the other algorithm, signed by its own
        for (algorithm, id) in [(signer, other), (other, other), (other, signer)] {
            let token = signer.token(
                header: #"{"alg":"\#(algorithm.algorithm.rawValue)","kid":"\#(id.algorithm.rawValue)"}"#, claims: TokenFixture.claims())
            // Then
            let refusal = fixture.refusal(token)
            #expect(refusal == .unknownKey || refusal == .badSignature, "\(refusal.debugDescription)")
        }
    }

    @Test func anAlgorithmThatTheIssuerDoesNotUseIsRefused() throws {
        // Given an issuer with ES256 only, and a key set that also has others
        let fixture = try TokenFixture(algorithms: [.es256])
        // Then
        for signer in TokenSigner.all {
            let refusal = fixture.refusal(signer.token(claims: TokenFixture.claims(), id: signer.algorithm.rawValue))
            #expect(refusal == (signer.algorithm == .es256 ? nil : .wrongAlgorithm))
        }
    }

    // MARK: Headers

    @Test(
        "a header that brings a key or asks for other processing is refused",
        arguments: [
            #""crit":["exp"]"#, #""crit":[]"#, #""jwk":{}"#, #""jku":"https://evil.example/jwks""#, #""x5u":"https://evil.example""#,
            #""x5c":["AA"]"#, #""b64":false"#, #""zip":"DEF""#, #""enc":"A128GCM""#, #""typ":"dpop+jwt""#, #""typ":7"#, #""kid":7"#,
            #""kid":"""#,
            #""kid":"\#(String(repeating: "k", count: 257))""#, #""alg":"EdDSA""#, #""\u0061lg":"EdDSA""#,
        ])
    func headers(member: String) {
        let token = TokenSigner.edDSA.token(header: #"{"alg":"EdDSA",\#(member)}"#, claims: TokenFixture.claims())
        #expect(isMalformed(token))
    }

    @Test(
        "other members of a header are ignored",
        arguments: [#""typ":"JWT""#, #""typ":"at+jwt""#, #""typ":"application/AT+JWT""#, #""x5t":"AA""#, #""more":[{"a":[]}]"#])
    func acceptedHeaders(member: String) {
        #expect(fixture.refusal(TokenSigner.edDSA.token(header: #"{"alg":"EdDSA",\#(member)}"#, claims: TokenFixture.claims())) == nil)
    }

    @Test(
        "a kid is compared, and nothing else is done with it",
        arguments: [
            "../../../../dev/null", "/etc/passwd", "x' UNION SELECT 'key' --", "EdDSA\\u0000", "eddsa", "http://evil.example/key",
            "e\u{301}",
        ])
    func keyIDs(id: String) {
        #expect(fixture.refusal(TokenSigner.edDSA.token(claims: TokenFixture.claims(), id: id)) == .unknownKey)
    }

    // MARK: Claims

    @Test(
        "a claim of another kind is refused",
        arguments: [
            ("exp", #""1700000600""#), ("exp", "1e400"), ("exp", "-1"), ("exp", "-0.5"), ("exp", "253402300800"),
            ("exp", "9223372036854775807"),
            ("exp", "1e30"), ("exp", "null"), ("exp", "true"), ("exp", "[1700000600]"), ("nbf", #""0""#), ("iat", "-9223372036854775808"),
            ("iat", "{}"),
            ("iss", "7"), ("sub", "7"), ("sub", #""""#), ("sub", #""a\u0000b""#), ("sub", #""a\nb""#), ("sub", #""\u007f""#),
            ("sub", "\"\(String(repeating: "s", count: 129))\""), ("jti", "1"), ("aud", "7"), ("aud", "[7]"), ("aud", #""""#),
            ("freshet_role", "[]"), ("sub", #""\ud800""#),
        ])
    func claims(name: String, value: String) {
        #expect(isMalformed(TokenSigner.edDSA.token(claims: TokenFixture.claims([name: value]))), "\(name): \(value)")
    }

    @Test(arguments: [#","exp":1900000000"#, #","\u0065xp":1900000000"#, #","other":{"a":1,"a":2}"#, #","aud":"other""#])
    func aMemberThatStandsTwiceIsRefused(more: String) {
        #expect(isMalformed(TokenSigner.edDSA.token(claims: TokenFixture.claims(more: more))))
    }

    @Test(
        "a time may be written with a fraction or an exponent, and has whole seconds",
        arguments: ["1700000600", "1.7000006e9", "1700000600.0", "1700000600.000001", "1700000600.999"])
    func numbers(text: String) throws {
        #expect(try fixture.verify(claims: TokenFixture.claims(["exp": text])).expires == 1_700_000_600_000)
    }

    @Test(arguments: ["", "7", "[]", "null", "\"a\"", "{", "{}}", "{} ", "\u{FEFF}{}", "{\"a\":1,}"])
    func claimsThatAreNoObjectAreRefused(claims: String) {
        let refusal = fixture.refusal(TokenSigner.edDSA.token(claims: claims))
        #expect(claims == "{} " ? refusal == .unknownIssuer : isMalformed(TokenSigner.edDSA.token(claims: claims)))
    }

    @Test func deepNestingIsRefused() {
        for bracket in ["[", "{\"a\":"] {
            #expect(
                isMalformed(TokenSigner.edDSA.token(claims: TokenFixture.claims(more: ",\"x\":" + String(repeating: bracket, count: 400)))))
            #expect(
                isMalformed(
                    TokenSigner.edDSA.token(header: "{\"alg\":\"EdDSA\",\"x\":" + String(repeating: bracket, count: 400), claims: "{}")))
        }
        let deep = String(repeating: "[", count: 300) + String(repeating: "]", count: 300)
        #expect(isMalformed(TokenSigner.edDSA.token(claims: TokenFixture.claims(["x": deep]))))
    }

    // MARK: Encoding

    @Test func aTokenHasAtMost4KiB() {
        // Given tokens of each size about the limit
        let base = TokenSigner.edDSA.token(claims: TokenFixture.claims(["x": "\"\""])).count
        var sizes: Set<Int> = []
        for filler in ((4_096 - base) * 3 / 4 - 6)...((4_096 - base) * 3 / 4 + 6) {
            let token = TokenSigner.edDSA.token(claims: TokenFixture.claims(["x": "\"\(String(repeating: "a", count: filler))\""]))
            sizes.insert(token.count)
            // Then
            #expect((fixture.refusal(token) == nil) == (token.count <= 4_096), "\(token.count)")
        }
        #expect(sizes.contains { $0 > 4_096 } && sizes.contains { (4_090...4_096).contains($0) })
        #expect(isMalformed([UInt8](repeating: UInt8(ascii: "a"), count: 10_000_000)))
    }

    @Test func aTokenHasThreeParts() {
        let token = String(decoding: TokenSigner.edDSA.token(claims: TokenFixture.claims()), as: UTF8.self)
        for text in [
            "", ".", "..", "...", "a.b", token + ".", "." + token, token.replacing(".", with: ""), token + ".e30.e30",
            token.replacing(".", with: ".."),
        ] {
            #expect(isMalformed(Array(text.utf8)), "\(text)")
        }
    }

    @Test func eachOtherSpellingOfTheSameTokenIsRefused() {
        // Given
        let token = TokenSigner.edDSA.token(claims: TokenFixture.claims())
        #expect(fixture.refusal(token) == nil)
        // Then padding, white space, and characters whose unused bits differ
        for more in ["=", "==", "\n", " ", "%3D", "A"] { #expect(fixture.refusal(token + Array(more.utf8)) != nil) }
        #expect(fixture.refusal([UInt8(ascii: " ")] + token) != nil)
        for place in token.indices where token[place] != UInt8(ascii: ".") {
            for byte in Array("ABQgwz-_=.+/".utf8) where byte != token[place] {
                var other = token
                other[place] = byte
                #expect(fixture.refusal(other) != nil, "byte \(place)")
            }
        }
    }

    // MARK: Signatures

    @Test("a signature of another length or value is refused", arguments: TokenSigner.all)
    func signatures(signer: TokenSigner) {
        // Given
        let header = #"{"alg":"\#(signer.algorithm.rawValue)"}"#
        let signed = Base64URL.encode(header.utf8) + [UInt8(ascii: ".")] + Base64URL.encode(TokenFixture.claims().utf8)
        let good = signer.sign(signed)
        func refusal(_ signature: [UInt8]) -> TokenRefusal? { fixture.refusal(signed + [UInt8(ascii: ".")] + Base64URL.encode(signature)) }
        #expect(refusal(good) == nil)
        // Then
        var others: [[UInt8]] = [
            [], [0], good.dropLast(), good + [0], [0] + good, [0] + good.dropLast(), good.dropFirst() + [0], good.reversed(), good + good,
        ]
        others += [0 as UInt8, 1, 0x7F, 0x80, 0xFF].map { [UInt8](repeating: $0, count: good.count) }
        others += (0..<good.count).map { place in
            var other = good
            other[place] ^= 1
            return other
        }
        // An ECDSA signature as DER, as other protocols have it.
        if signer.algorithm == .es256 { others.append(DER.sequence(DER.integer(good[..<32]), DER.integer(good[32...]))) }
        for other in others where other != good { #expect(refusal(other) == .badSignature) }
    }

    @Test func numbersBeyondTheOrderAreNoECDSASignature() throws {
        // Given the order of P-256, and signatures with 0, the order or more in place of r or s
        let order: [UInt8] = [
            0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E,
            0x84, 0xF3,
            0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
        ]
        let message = Array("message".utf8)
        let (key, good) = (try TokenSigner.es256.verificationKey(), TokenSigner.es256.sign(message))
        let zero = [UInt8](repeating: 0, count: 32)
        let one = zero.dropLast() + [1]
        let values: [[UInt8]] = [
            zero, Array(one), order, order.dropLast() + [0x50], order.dropLast() + [0x52], [UInt8](repeating: 0xFF, count: 32),
        ]
        for r in values + [Array(good[..<32])] {
            for s in values + [Array(good[32...])] where r + s != good {
                #expect(!key.verifies(r + s, of: message[...]))
            }
        }
    }

    @Test func theOtherSOfAnECDSASignatureIsTheSameToken() throws {
        // Both s and n - s are valid (RFC 7518 §3.4 asks for neither), so nothing may depend on a token's bytes being
        // the only ones.
        let order: [UInt8] = [
            0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E,
            0x84, 0xF3,
            0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
        ]
        let signed =
            Base64URL.encode(#"{"alg":"ES256"}"#.utf8) + [UInt8(ascii: ".")] + Base64URL.encode(TokenFixture.claims(["jti": #""t1""#]).utf8)
        let good = TokenSigner.es256.sign(signed)
        var (other, borrow) = (good, 0)
        for place in (0..<32).reversed() {
            let difference = Int(order[place]) - Int(good[32 + place]) - borrow
            borrow = difference < 0 ? 1 : 0
            other[32 + place] = UInt8(difference & 255)
        }
        // When
        let tokens = [good, other].map { signed + [UInt8(ascii: ".")] + Base64URL.encode($0) }
        // Then
        #expect(tokens[0] != tokens[1])
        #expect(try fixture.verify(tokens[0]) == fixture.verify(tokens[1]))
    }

    @Test func atMostFourKeysAreTriedForOneToken() throws {
        // Given a set in which the token's key is the fifth of those without a name
        var fixture = fixture
        let others = try (0..<4).map { try VerificationKey(secret: Secret([UInt8](repeating: UInt8($0), count: 32))) }
        let own = try TokenSigner.hs256.verificationKey()
        let token = TokenSigner.hs256.token(claims: TokenFixture.claims())
        // Then
        fixture.keys = KeySet(others + [own])
        #expect(fixture.refusal(token) == .badSignature)
        fixture.keys = KeySet(others.dropLast() + [own])
        #expect(fixture.refusal(token) == nil)
    }

    @Test("random changes of a token are refused, and none stops the reader", arguments: 0..<50 as Range<UInt64>)
    func randomChanges(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let signer = TokenSigner.all[Int.random(in: 0..<4, using: &random)]
        let token = signer.token(claims: TokenFixture.claims(["freshet_role": #""till""#]), id: signer.algorithm.rawValue)
        for _ in 0..<40 {
            var other = token
            for _ in 0...Int.random(in: 0...3, using: &random) {
                let place = Int.random(in: 0..<other.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: other[place] = UInt8.random(in: 0...255, using: &random)
                case 1: other.remove(at: place)
                case 2: other.insert(token[Int.random(in: 0..<token.count, using: &random)], at: place)
                default: other.swapAt(place, Int.random(in: 0..<other.count, using: &random))
                }
            }
            #expect(other == token || fixture.refusal(other) != nil)
        }
    }
}
