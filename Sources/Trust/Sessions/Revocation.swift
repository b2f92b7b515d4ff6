/// A right that ends before its time. Times are milliseconds since 1970.
package struct Revocation: Hashable, Sendable {
    package enum Target: Hashable, Sendable {
        /// One key.
        case key(KeyIdentifier)
        /// All tokens of a principal.
        case principal(Principal)
        /// One token, by its `jti`.
        case token(String)
        /// All tokens of an issuer.
        case issuer(String)
    }

    package let target: Target
    /// Tokens that were issued before this are revoked. Keys and single tokens are revoked whenever they were issued.
    ///
    /// `iat` has whole seconds, so that a token of the same second is revoked too. The clock of an issuer may be ahead
    /// by ``TokenVerifier/tolerance``: adding it revokes the tokens of such an issuer as well.
    package let issuedBefore: Int64
    package let created: Int64
    /// How long waits that have begun may continue, so that clients can obtain another token. New requests are refused
    /// at once.
    package let margin: Int64

    package init(_ target: Target, issuedBefore: Int64, created: Int64, margin: Int64 = 0) {
        (self.target, self.issuedBefore, self.created) = (target, issuedBefore, created)
        self.margin = min(max(0, margin), Self.maximumMargin)
    }

    /// The longest ``margin``: an hour.
    package static let maximumMargin: Int64 = 3_600_000

    /// When the waits of revoked sessions end.
    package var waitsEnd: Int64 { created + margin }

    // MARK: The stored form

    /// The kind of target, and its name: two columns of a row.
    package var row: (kind: String, name: String) {
        switch target {
        case .key(let id): ("key", id.text)
        case .principal(let principal): ("principal", principal.text)
        case .token(let id): ("token", id)
        case .issuer(let name): ("issuer", name)
        }
    }

    /// A row that was stored; `nil` for one of a later version.
    package init?(kind: String, name: String, issuedBefore: Int64, created: Int64, margin: Int64) {
        switch kind {
        case "key":
            guard let id = KeyIdentifier(name) else { return nil }
            self.init(.key(id), issuedBefore: issuedBefore, created: created, margin: margin)
        case "principal": self.init(.principal(Principal(text: name)), issuedBefore: issuedBefore, created: created, margin: margin)
        case "token": self.init(.token(name), issuedBefore: issuedBefore, created: created, margin: margin)
        case "issuer": self.init(.issuer(name), issuedBefore: issuedBefore, created: created, margin: margin)
        default: return nil
        }
    }
}
