internal import FreshetWire

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
    /// `iat` has whole seconds, so that a token of the same second is revoked too. The clock of an issuer may be ahead by
    /// ``TokenVerifier/tolerance``: adding it revokes the tokens of such an issuer as well.
    package let issuedBefore: Int64
    package let created: Int64
    /// How long waits that have begun may continue, so that clients can obtain another token. New requests are refused at once.
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

/// The revocations in force. A revocation takes effect by a higher ``generation``, with which each session is compared before it is
/// used.
package struct RevocationList: Sendable {
    /// The most revocations.
    package static let maximumCount = 100_000

    private enum Name: Hashable, Sendable {
        case key(KeyIdentifier)
        case principal(Principal)
        case token(ByteIdentity.Name)
        case issuer(ByteIdentity.Name)

        init(_ target: Revocation.Target) {
            switch target {
            case .key(let id): self = .key(id)
            case .principal(let principal): self = .principal(principal)
            case .token(let id): self = .token(ByteIdentity.Name(text: id))
            case .issuer(let name): self = .issuer(ByteIdentity.Name(text: name))
            }
        }
    }

    private struct Entry: Sendable {
        let revocation: Revocation
        /// The list's generation since the revocation was added.
        let generation: UInt64
    }

    private var entries: [Name: Entry] = [:]
    /// The number of changes; a session that was checked by a lower one has to be checked again.
    package private(set) var generation: UInt64 = 0

    /// The generation of the newest revocation that was removed. A session that was checked before it cannot be checked any
    /// more: its credential has to be verified again.
    package private(set) var oldestComparable: UInt64 = 0

    package init() {}

    package var count: Int { entries.count }

    /// Adds a revocation, or extends the one of the same target. O(1).
    /// - Returns: the row to store, which replaces one with the same target.
    /// - Throws: ``RevocationError/full`` at the limit.
    @discardableResult package mutating func add(_ revocation: Revocation) throws(RevocationError) -> Revocation {
        let name = Name(revocation.target)
        let known = entries[name]?.revocation
        guard known != nil || entries.count < Self.maximumCount else { throw .full }
        let merged = Revocation(
            revocation.target, issuedBefore: max(revocation.issuedBefore, known?.issuedBefore ?? .min),
            created: max(revocation.created, known?.created ?? .min), margin: revocation.margin)
        generation += 1
        entries[name] = Entry(revocation: merged, generation: generation)
        return merged
    }

    /// The revocation that ends a session; `nil` if there is none. O(1).
    package func revocation(of session: Session) -> Revocation? {
        if let key = session.key, let found = entries[.key(key)] { return found.revocation }
        if let id = session.tokenID, let found = entries[.token(ByteIdentity.Name(text: id))] { return found.revocation }
        let byTime = [entries[.principal(session.principal)], session.issuer.flatMap { entries[.issuer(ByteIdentity.Name(text: $0))] }]
        return byTime.lazy.compactMap { $0?.revocation }.first { session.issuedAt < $0.issuedBefore }
    }

    /// Removes the revocations whose tokens have all expired, and returns them, so that their rows are deleted. O(n).
    /// - Parameter longest: the longest life of a token of any issuer, in milliseconds.
    package mutating func removeExpired(longest: Int64, at now: Int64) -> [Revocation] {
        let ended = entries.filter { _, entry in
            // The clocks of issuers may be ahead.
            let last = max(entry.revocation.waitsEnd, entry.revocation.issuedBefore) + TokenVerifier.tolerance * 1_000
            return last + longest <= now
        }
        for (name, entry) in ended {
            entries[name] = nil
            oldestComparable = max(oldestComparable, entry.generation)
        }
        return ended.values.map(\.revocation)
    }
}

/// Why a revocation is not added.
package enum RevocationError: Error, Hashable, Sendable, CustomStringConvertible {
    case full

    package var description: String {
        "there are \(RevocationList.maximumCount) revocations: revoke a whole issuer, or wait until some have expired"
    }
}
