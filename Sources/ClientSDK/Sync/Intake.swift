import FreshetWire

/// Writes of the user that are not on disk yet, and the records over which they were made.
struct Intake: Hashable, Sendable {
    /// The record of a key for writes that are not on disk yet.
    private struct Claim: Hashable, Sendable {
        var base: Entry?
        var count: Int
    }

    private var queue: [SetRequest] = []
    private var claims: [RecordKey: Claim] = [:]

    var isEmpty: Bool { queue.isEmpty }

    /// Whether writes to the key are being stored.
    func claims(_ key: RecordKey) -> Bool { claims[key] != nil }

    var claimCount: Int { claims.count }

    /// The record over which the key's writes are made.
    func base(of key: RecordKey) -> Entry? { claims[key]?.base }

    /// - Parameter base: the key's record in the outbox, if the outbox has the key.
    mutating func add(_ request: SetRequest, base: Entry?) {
        claims[request.key, default: Claim(base: base, count: 0)].count += 1
        queue.append(request)
    }

    /// Removes and returns all waiting writes, for one transaction.
    mutating func takeAll() -> [SetRequest] {
        defer { queue = [] }
        return queue
    }

    /// Releases the claim of a write that is on disk, or will not be stored.
    mutating func release(_ request: SetRequest) {
        guard var claim = claims[request.key] else { return }
        claim.count -= 1
        claims[request.key] = claim.count > 0 ? claim : nil
    }

    /// Applies stored operations to the claimed records.
    mutating func apply(_ operations: [EntryOperation]) {
        guard !claims.isEmpty else { return }
        for key in claims.keys {
            guard var claim = claims[key] else { continue }
            for operation in operations { claim.base = operation.applied(to: claim.base, of: key) }
            claims[key] = claim
        }
    }

    /// Removes everything. Returns the tokens of the waiting callers, in order.
    mutating func removeAll() -> [Token] {
        defer { self = Intake() }
        return queue.map(\.token)
    }
}
