package import FreshetWire

/// A one-time substitute for a token in a URL, where no header field can be sent: `ft_` and 43 characters of base62, 256
/// bits.
package struct Ticket: Sendable {
    private static let prefix = "ft_"

    package let text: Secret

    /// A new ticket. `random` must be cryptographically secure, as `SystemRandomNumberGenerator` is.
    package init(using random: inout some RandomNumberGenerator) {
        let secret = (0..<AccessKey.secretCount).map { _ in Base62.alphabet[Int.random(in: 0..<62, using: &random)] }
        text = Secret(Array(Self.prefix.utf8) + secret)
    }
}

/// The tickets that were issued and not used yet. Times are milliseconds of a clock that never goes back.
///
/// A ticket is found by its digest, so that the time of a lookup states nothing about others. Bounded by the number of
/// tickets, in all and for each principal. Each operation is O(1) on average.
package struct TicketTable: Sendable {
    /// How long a ticket is good, in milliseconds.
    package static let lifetime: Int64 = 30_000
    /// The most tickets, and the most of one principal. Each keeps its token, of at most 4 KiB.
    static let maximumCount = 4_096
    static let maximumCountOfPrincipal = 32

    private struct Entry: Sendable {
        let credential: Secret
        let principal: Principal
        let namespace: Namespace
        let end: Int64
    }

    private var entries: [SHA256Digest: Entry] = [:]
    /// All digests in the order of their ends, those of used tickets among them; the ones before ``first`` are over.
    private var order: [(digest: SHA256Digest, end: Int64)] = []
    private var first = 0
    private var counts: CountLimiter<Principal>

    package init() { counts = CountLimiter(Self.maximumCountOfPrincipal) }

    package var count: Int { entries.count }

    /// The number of digests that are kept in order, for tests.
    var orderedCount: Int { order.count }

    /// Keeps a ticket for the holder of a credential, in one namespace.
    package mutating func issue(
        _ ticket: Ticket, for credential: Secret, of principal: Principal, in namespace: Namespace, at now: Int64
    ) throws(TicketRefusal) {
        removeExpired(at: now)
        guard entries.count < Self.maximumCount else { throw .tooMany }
        guard counts.acquire(principal) else { throw .tooManyOfPrincipal }
        let digest = SHA256Digest(of: ticket.text.exposed)
        let end = now + Self.lifetime
        entries[digest] = Entry(credential: credential, principal: principal, namespace: namespace, end: end)
        order.append((digest, end))
        removeUsed()
    }

    /// The credential for which a ticket was issued; `nil` if there is no such ticket in the namespace. No ticket is good
    /// twice, whatever the result.
    package mutating func redeem(_ ticket: [UInt8], in namespace: Namespace, at now: Int64) -> Secret? {
        guard let entry = remove(SHA256Digest(of: ticket)), now < entry.end, entry.namespace == namespace else { return nil }
        return entry.credential
    }

    private mutating func remove(_ digest: SHA256Digest) -> Entry? {
        guard let entry = entries.removeValue(forKey: digest) else { return nil }
        counts.release(entry.principal)
        return entry
    }

    /// Bounds the order: used tickets leave it once they may be as many as the others. A ticket costs O(1) on average.
    private mutating func removeUsed() {
        guard order.count - first > 2 * Self.maximumCount else { return }
        order = order[first...].filter { entries[$0.digest] != nil }
        first = 0
    }

    private mutating func removeExpired(at now: Int64) {
        while first < order.count, order[first].end <= now {
            _ = remove(order[first].digest)
            first += 1
        }
        guard first > order.count / 2 else { return }
        order.removeFirst(first)
        first = 0
    }
}

/// Why no ticket is issued. Both end within ``TicketTable/lifetime``.
package enum TicketRefusal: Error, Hashable, Sendable {
    case tooMany
    case tooManyOfPrincipal
}
