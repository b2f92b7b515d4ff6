import CFreshetCrypto
import Foundation

@testable import FreshetTrust
@testable import FreshetWire

/// Tokens, key sets, grants and configurations.
enum Trust {
    private static let now: Int64 = 1_700_000_000
    private static let secret = Array("a secret of 32 bytes, for tests..".utf8)

    private static let issuer: (verifier: TokenVerifier, keys: KeySet) = {
        var reader = StrictReader(
            Array(#"[{"ns":"t-{claim:t}","in":["carts/{sub}/*","{claim:c}/a-{sub}"],"may":["read"]}]"#.utf8))
        guard let role = try? Role(&reader), let key = try? VerificationKey(secret: Secret(secret)) else { fatalError("no role or key") }
        let issuer = Issuer(name: "i", audience: "a", algorithms: Set(SignatureAlgorithm.allCases))
        return (TokenVerifier(issuers: [issuer], roles: ["r": role]), KeySet([key]))
    }()

    /// Reads any bytes as a token, and as the header and claims of a token that is signed.
    static func readToken(_ input: [UInt8]) {
        let dot = UInt8(ascii: ".")
        if let token = try? issuer.verifier.read(input) {
            require(input.count <= CompactToken.maximumCount, "a token beyond the limit")
            let again = Array(token.compact.signed) + [dot] + Base64URL.encode(token.compact.signature)
            require(again == input, "a token that another spelling has too")
            require((try? issuer.verifier.verify(token, by: KeySet([]), at: now * 1_000)) == nil, "a token without a key")
        }
        if let bytes = Base64URL.decode(input) { require(Base64URL.encode(bytes) == input, "base64url that another spelling has too") }
        let parts = input.split(separator: 0xFF, maxSplits: 1, omittingEmptySubsequences: false)
        let (header, claims) = parts.count == 2 ? (Array(parts[0]), Array(parts[1])) : (Array(#"{"alg":"HS256"}"#.utf8), input)
        let signed = Base64URL.encode(header) + [dot] + Base64URL.encode(claims)
        var code = [UInt8](repeating: 0, count: 32)
        HMAC(EVP_sha256(), secret, Int32(secret.count), signed, signed.count, &code, nil)
        guard let token = try? issuer.verifier.read(signed + [dot] + Base64URL.encode(code)),
            let verified = try? issuer.verifier.verify(token, by: issuer.keys, at: now * 1_000)
        else { return }
        require(verified.expires > now * 1_000 && verified.expires <= (now + 86_400 + TokenVerifier.tolerance) * 1_000, "a token that has ended, or is too long")
        require(verified.rights.grants.count <= Rights.maximumGrants, "more grants than allowed")
        // Foundation has to read the same.
        guard let object = (try? JSONSerialization.jsonObject(with: Data(claims))) as? [String: Any] else { return }
        require((object["sub"] as? String).map { "i|\($0)" } == verified.principal.text, "another subject than Foundation's")
        require((object["exp"] as? NSNumber)?.doubleValue == Double(verified.expires / 1_000), "another end than Foundation's")
        require((object["iss"] as? String) == "i", "another issuer than Foundation's")
        for grant in verified.rights.grants where object["freshet_role"] != nil { checkRole(grant, verified.principal.text) }
    }

    /// The role gives no records but those below the subject.
    private static func checkRole(_ grant: Grant, _ principal: String) {
        let subject = principal.dropFirst(2)
        require(grant.ranges.ranges.count <= 2 && !grant.ranges.isEverything, "a role that grew")
        for range in grant.ranges.ranges {
            switch range {
            case .collection("carts", let prefix): require(prefix == "\(subject)/", "a prefix beyond the subject")
            case .key(let key): require(key.id == "a-\(subject)", "a record beyond the subject")
            default: fatalError("a range beyond the role")
            }
        }
        if case .namespace(let namespace) = grant.namespaces { require(namespace.name.hasPrefix("t-"), "a namespace beyond the role") } else {
            fatalError("namespaces beyond the role")
        }
    }

    /// Reads any bytes as a key set, and verifies a signature by each of its keys.
    static func readKeys(_ input: [UInt8]) {
        guard let set = try? KeySet(jwks: input, allowsSecrets: input.count % 2 == 0) else { return }
        require(set.keys.count + set.skipped.count <= KeySet.maximumKeys, "more keys than allowed")
        for key in set.keys {
            require(input.count % 2 == 0 || key.algorithm != .hs256, "a published secret")
            for count in [0, 32, 64, 256] { require(!key.verifies([UInt8](repeating: 1, count: count), of: [1]), "a signature of nothing") }
        }
    }

    /// Reads any bytes as grants, which allow their own ranges, and are the same once they were written.
    static func readGrants(_ input: [UInt8]) {
        guard let rights = try? Rights(json: input) else { return }
        require((try? Rights(json: rights.json)) == rights, "rights that are read as others once they were written")
        require(rights.grants.reduce(0) { $0 + $1.ranges.ranges.count } <= Rights.maximumRanges, "more ranges than allowed")
        for grant in rights.grants {
            guard case .namespace(let namespace) = grant.namespaces else { continue }
            for verb in grant.verbs.verbs {
                let ranges = rights.ranges(of: verb, in: namespace)
                for range in grant.ranges.ranges {
                    if case .needs = rights.decide(verb, in: namespace, of: range) { fatalError("a grant that does not allow its range") }
                    require(ranges.covers(range) && ranges.intersection(range) == RangeSet([range]), "a union without its part")
                }
            }
            if case .needs(let missing) = rights.decideFeed(in: namespace, .all) { require(!missing.of.isEmpty && !grant.verbs.contains(.read), "a feed without its part") }
        }
    }

    private static let rules = Configuration.Rules(isHostName: { !$0.contains("/") }, isOrigin: { $0.hasPrefix("http") }, isNetwork: { !$0.contains(" ") })

    /// Reads any bytes as a configuration, and makes its verifier.
    static func readConfiguration(_ input: [UInt8]) {
        do throws(TrustError) {
            let configuration = try Configuration(json: input, rules: rules)
            require(!configuration.listeners.isEmpty, "a configuration without a listener")
            require(configuration.verifier.issuers.allSatisfy { !$0.algorithms.isEmpty && !$0.name.contains("|") }, "an issuer that is none")
            require(configuration.longest <= 2_592_000_000, "a token that lives too long")
        } catch {
            require((0...input.count).contains(error.offset) && !error.description.isEmpty, "an error beyond the file")
        }
    }
}
