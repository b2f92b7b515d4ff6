internal import FreshetPlatform
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
        /// The end of the margin by the monotonic clock, as far as the wall clock was right when the revocation was added.
        let monotonicWaitsEnd: Int64

        /// Whether waits may continue: a clock that is set back does not prolong the margin, and one that is set forward ends it.
        func keepsWaits(at now: TimeReading) -> Bool { now.wall < revocation.waitsEnd && now.monotonic < monotonicWaitsEnd }
    }

    private var entries: [Name: Entry] = [:]
    /// The number of changes; a session that was checked by a lower one has to be checked again.
    package private(set) var generation: UInt64 = 0

    /// The generation of the newest revocation that was removed. A session that was checked before it cannot be checked
    /// any more: its credential has to be verified again.
    private var oldestComparable: UInt64 = 0
    /// The same for sessions of keys.
    private var oldestComparableKey: UInt64 = 0
    /// The earliest ends of margins by both clocks that ``takeEndedMargins(at:)`` has not reported.
    private var nextMarginEnd: TimeReading?

    package init() {}

    package var count: Int { entries.count }

    /// All revocations, the newest first. O(n log n).
    package var all: [Revocation] { entries.values.sorted { $0.generation > $1.generation }.map(\.revocation) }

    /// The revocation of a target, with all that was added to it; `nil` if there is none. O(1).
    package func revocation(of target: Revocation.Target) -> Revocation? { entries[Name(target)]?.revocation }

    /// Adds a revocation, or extends the one of the same target. O(1).
    /// - Returns: the row to store, which replaces one with the same target.
    /// - Throws: ``RevocationError/full`` at the limit.
    @discardableResult package mutating func add(_ revocation: Revocation, at now: TimeReading) throws(RevocationError) -> Revocation {
        let name = Name(revocation.target)
        let known = entries[name]?.revocation
        guard known != nil || entries.count < Self.maximumCount else { throw .full }
        let merged = Revocation(
            revocation.target, issuedBefore: max(revocation.issuedBefore, known?.issuedBefore ?? .min),
            created: max(revocation.created, known?.created ?? .min), margin: revocation.margin)
        generation += 1
        // The time of a stored revocation is that of another clock, or of one that was set since.
        let left = min(max(0, merged.waitsEnd - now.wall), merged.margin)
        entries[name] = Entry(revocation: merged, generation: generation, monotonicWaitsEnd: now.monotonic + left)
        if merged.margin > 0 { noteMarginEnd(wall: merged.waitsEnd, monotonic: now.monotonic + left) }
        return merged
    }

    private mutating func noteMarginEnd(wall: Int64, monotonic: Int64) {
        nextMarginEnd = TimeReading(
            wall: min(nextMarginEnd?.wall ?? .max, wall), monotonic: min(nextMarginEnd?.monotonic ?? .max, monotonic))
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
    package func revocation(of session: Session) -> Revocation? { entries(of: session).first?.revocation }

    private func entries(of session: Session) -> [Entry] {
        let ofKey = session.key.flatMap { entries[.key($0)] }
        return (ofKey.map { [$0] } ?? [])
            + entries(
                ofTokenWith: session.tokenID, principal: session.principal, issuer: session.issuer, issuedAt: session.issuedAt)
    }

    /// Whether the waits of a revoked session may continue, since the margin of its revocation has not ended. O(1).
    package func keepsWaits(of session: Session, at now: TimeReading) -> Bool {
        guard !session.isExpired(at: now) else { return false }
        let found = entries(of: session)
        // One without a margin ends the waits, whichever margin another has.
        return !found.isEmpty && found.allSatisfy { $0.keepsWaits(at: now) }
    }

    /// Whether a margin has ended since the last call, so that waits have to be looked at. O(1), and O(n) if one has.
    package mutating func takeEndedMargins(at now: TimeReading) -> Bool {
        guard let end = nextMarginEnd, end.wall <= now.wall || end.monotonic <= now.monotonic else { return false }
        nextMarginEnd = nil
        for entry in entries.values where entry.revocation.margin > 0 && entry.keepsWaits(at: now) {
            noteMarginEnd(wall: entry.revocation.waitsEnd, monotonic: entry.monotonicWaitsEnd)
        }
        return true
    }

    /// The revocation that ends a verified token; `nil` if there is none. O(1).
    package func revocation(of token: VerifiedToken) -> Revocation? {
        entries(ofTokenWith: token.tokenID, principal: token.principal, issuer: token.issuer, issuedAt: token.issuedAt).first?.revocation
    }

    private func entries(ofTokenWith id: String?, principal: Principal, issuer: String?, issuedAt: Int64) -> [Entry] {
        let byID = id.flatMap { entries[.token(ByteIdentity.Name(text: $0))] }
        let byTime = [entries[.principal(principal)], issuer.flatMap { entries[.issuer(ByteIdentity.Name(text: $0))] }]
        return (byID.map { [$0] } ?? []) + byTime.compactMap(\.self).filter { issuedAt < $0.revocation.issuedBefore }
    }

    /// Removes the revocations whose tokens have all expired, and returns them, so that their rows are deleted. Those of
    /// client certificates stay: how long these are valid, their authority decides. O(n).
    /// - Parameter longest: the longest life of a token of any issuer, in milliseconds.
    package mutating func removeExpired(longest: Int64, at now: Int64) -> [Revocation] {
        let ended = entries.filter { _, entry in
            if case .principal(let principal) = entry.revocation.target, principal.certificateName != nil { return false }
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
