import FreshetTrust
import FreshetWire

/// What a person has to know about a token: what it states, and what it may do or why it may do nothing.
struct TokenReport {
    let contents: TokenContents

    /// A name and a value for each line.
    var lines: [(name: String, value: String)] {
        let key = contents.keyID.map { ", key '\($0)'" } ?? ", no key named"
        let role = contents.role.map { "role '\($0)'" }
        let parts: [(String, String?)] = [
            ("algorithm", contents.algorithm.rawValue + key), ("issuer", contents.issuer), ("subject", contents.subject),
            ("audience", contents.audiences.isEmpty ? nil : contents.audiences.joined(separator: ", ")), ("id", contents.tokenID),
            ("issued", contents.issuedAt.map(Self.time)), ("valid from", contents.notBefore.map(Self.time)),
            ("expires", contents.expires.map(Self.time)), ("asks for", contents.hasGrants ? "the grants in 'freshet'" : role),
        ]
        return parts.map { ($0.0, $0.1 ?? "none") }
    }

    /// The lines about a token that is valid.
    static func lines(of token: VerifiedToken) -> [(name: String, value: String)] {
        let grants = token.rights.grants.flatMap { grant in
            grant.ranges.ranges.map { "\(grant.namespaces):\($0.rangeText):\(grant.verbs.verbs.map(\.rawValue).joined(separator: ","))" }
        }
        return [("valid", "yes"), ("principal", token.principal.text)]
            + grants.enumerated().map { ($0.offset == 0 ? "rights" : "", $0.element) }
    }

    /// Why a valid token allows nothing.
    static let noRights = "the token is valid and allows nothing: the issuer must set 'freshet' to grants, or 'freshet_role' to a role"

    /// Why the token is refused, and what would be right, from the configuration.
    ///
    /// - Parameter keys: those of the token's issuer, if it has one.
    func reason(_ refusal: TokenRefusal, _ configuration: Configuration, _ keys: KeySet?) -> String {
        let issuer = configuration.issuers.first { $0.issuer.name == contents.issuer }
        let detail: String? =
            switch refusal {
            case .unknownIssuer:
                "'iss' is \(contents.issuer.map { "'\($0)'" } ?? "missing"), and the configuration has "
                    + Self.list(configuration.issuers.map { "'\($0.issuer.name)'" })
            case .wrongAudience:
                "'aud' is \(Self.list(contents.audiences.map { "'\($0)'" })), and the configuration has \(issuer.map { "'\($0.issuer.audience)'" } ?? "none")"
            case .wrongAlgorithm:
                "'alg' is \(contents.algorithm.rawValue), and the issuer may use "
                    + Self.list(issuer?.issuer.algorithms.map(\.rawValue).sorted() ?? [])
            case .unknownKey:
                "the token names \(contents.keyID.map { "'\($0)'" } ?? "no key") (\(contents.algorithm.rawValue)), and the issuer has "
                    + Self.list((keys?.keys ?? []).map { "'\($0.id ?? "")' (\($0.algorithm.rawValue))" })
                    + ((keys?.skipped ?? []).isEmpty ? "" : "; left out: \(Self.list(keys?.skipped ?? []))")
            case .unknownRole: "the configuration has " + Self.list(configuration.roles.keys.sorted().map { "'\($0)'" })
            default: nil
            }
        return refusal.description + (detail.map { "; \($0)" } ?? "")
    }

    private static func list(_ items: [String]) -> String { items.isEmpty ? "none" : items.prefix(16).joined(separator: ", ") }

    private static func time(_ seconds: Int64) -> String { Timestamp(milliseconds: seconds * 1_000).description }
}
