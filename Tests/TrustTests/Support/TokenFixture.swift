import FreshetTestSupport

@testable import FreshetTrust

/// A verifier with one issuer, which uses all algorithms, and claims that it accepts.
struct TokenFixture {
    static let now: Int64 = 1_700_000_000
    var verifier: TokenVerifier
    var keys: KeySet

    init(
        longest: Int64 = 86_400, algorithms: Set<SignatureAlgorithm> = Set(SignatureAlgorithm.allCases), requiresTokenID: Bool = false,
        roles: String = "[]"
    ) throws {
        var reader = StrictReader(Array(roles.utf8))
        verifier = TokenVerifier(
            issuers: [
                Issuer(
                    name: "https://id.example.org", audience: "freshet", longest: longest, algorithms: algorithms,
                    requiresTokenID: requiresTokenID),
                Issuer(name: "other", audience: "freshet", algorithms: [.hs256]),
            ],
            roles: ["till": try Role(&reader)])
        keys = KeySet(try TokenSigner.all.map { try $0.verificationKey(id: $0.algorithm.rawValue) })
    }

    /// Claims that are accepted, with `changes` to them; a `nil` removes one. More members follow at the end.
    static func claims(_ changes: [String: String?] = [:], more: String = "") -> String {
        var claims: [String: String] = [
            "iss": #""https://id.example.org""#, "aud": #""freshet""#, "sub": #""u7""#, "exp": "\(now + 600)", "iat": "\(now - 60)",
        ]
        for (name, value) in changes { claims[name] = value }
        return "{" + claims.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + more + "}"
    }

    func verify(_ token: [UInt8], at now: Int64 = Self.now) throws(TokenRefusal) -> VerifiedToken {
        try verifier.verify(verifier.read(token), by: keys, at: now * 1_000)
    }

    /// Verifies a token of Ed25519 with these claims.
    func verify(claims: String, at now: Int64 = Self.now) throws(TokenRefusal) -> VerifiedToken {
        try verify(TokenSigner.edDSA.token(claims: claims, id: "EdDSA"), at: now)
    }

    /// Why a token is refused; `nil` if it is accepted.
    func refusal(_ token: [UInt8]) -> TokenRefusal? {
        do throws(TokenRefusal) {
            _ = try verify(token)
            return nil
        } catch { return error }
    }
}
