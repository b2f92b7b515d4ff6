internal import FreshetWire

/// The revocations in force. A revocation takes effect by a higher ``generation``, with which each session is compared
/// before it is used.
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

    /// The generation of the newest revocation that was removed. A session that was checked before it cannot be checked
    /// any more: its credential has to be verified again.
    private var oldestComparable: UInt64 = 0
    /// The same for sessions of keys.
    private var oldestComparableKey: UInt64 = 0
    /// The earliest end of a margin that ``takeEndedMargins(at:)`` has not reported, in milliseconds since 1970.
    private var nextMarginEnd: Int64?

    package init() {}

    package var count: Int { entries.count }

    /// All revocations, the newest first. O(n log n).
    package var all: [Revocation] { entries.values.sorted { $0.generation > $1.generation }.map(\.revocation) }

    /// The revocation of a target, with all that was added to it; `nil` if there is none. O(1).
    package func revocation(of target: Revocation.Target) -> Revocation? { entries[Name(target)]?.revocation }

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
        if merged.margin > 0 { nextMarginEnd = min(nextMarginEnd ?? .max, merged.waitsEnd) }
        return merged
    }

    /// Has each credential verified again before its session is used: the configuration was read again. Call it after the
    /// change, so that a verification that began before is not admitted.
    package mutating func requireVerification() {
        generation += 1
        oldestComparable = generation
    }

    /// The same for keys alone: one was changed. A token depends on none.
    package mutating func requireVerificationOfKeys() {
        generation += 1
        oldestComparableKey = generation
    }

    /// Whether the list can decide if the session is revoked. Otherwise its credential has to be verified again.
    func canJudge(_ session: Session) -> Bool {
        session.generation >= (session.key == nil ? oldestComparable : max(oldestComparable, oldestComparableKey))
    }

    /// The revocation that ends a session; `nil` if there is none. O(1).
    package func revocation(of session: Session) -> Revocation? { revocations(of: session).first }

    private func revocations(of session: Session) -> [Revocation] {
        let ofKey = session.key.flatMap { entries[.key($0)]?.revocation }
        return (ofKey.map { [$0] } ?? [])
            + revocations(
                ofTokenWith: session.tokenID, principal: session.principal, issuer: session.issuer, issuedAt: session.issuedAt)
    }

    /// Whether the waits of a revoked session may continue, since the margin of its revocation has not ended. O(1).
    package func keepsWaits(of session: Session, at now: TimeReading) -> Bool {
        guard !session.isExpired(at: now) else { return false }
        let found = revocations(of: session)
        // One without a margin ends the waits, whichever margin another has.
        return !found.isEmpty && found.allSatisfy { now.wall < $0.waitsEnd }
    }

    /// Whether a margin has ended since the last call, so that waits have to be looked at. O(1), and O(n) if one has.
    package mutating func takeEndedMargins(at now: Int64) -> Bool {
        guard let end = nextMarginEnd, end <= now else { return false }
        nextMarginEnd = entries.values.lazy.filter { $0.revocation.margin > 0 }.map(\.revocation.waitsEnd).filter { $0 > now }.min()
        return true
    }

    /// The revocation that ends a verified token; `nil` if there is none. O(1).
    package func revocation(of token: VerifiedToken) -> Revocation? {
        revocations(ofTokenWith: token.tokenID, principal: token.principal, issuer: token.issuer, issuedAt: token.issuedAt).first
    }

    private func revocations(ofTokenWith id: String?, principal: Principal, issuer: String?, issuedAt: Int64) -> [Revocation] {
        let byID = id.flatMap { entries[.token(ByteIdentity.Name(text: $0))]?.revocation }
        let byTime = [entries[.principal(principal)], issuer.flatMap { entries[.issuer(ByteIdentity.Name(text: $0))] }]
        return (byID.map { [$0] } ?? []) + byTime.compactMap { $0?.revocation }.filter { issuedAt < $0.issuedBefore }
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
