import FreshetWire

/// The intents that wait to become a transaction, and the transaction that the disk has.
///
/// One transaction is under way at a time, made from the state on disk, so decisions cannot conflict.
struct Transactions: Hashable, Sendable {
    private struct UnderWay: Hashable, Sendable {
        var id: TransactionID
        var plan: Plan
    }

    private var intents: [Intent] = []
    private var current: UnderWay?
    private var last: Int64 = 0

    var isIdle: Bool { current == nil }

    func isUnderWay(_ id: TransactionID) -> Bool { current?.id == id }

    /// The plan that the disk has.
    var underWay: Plan? { current?.plan }

    mutating func add(_ intent: Intent) { intents.append(intent) }

    mutating func next() -> Intent? { intents.isEmpty ? nil : intents.removeFirst() }

    /// Drops the intents that came from the server, which a reset makes worthless.
    mutating func dropResponses() { intents.removeAll(where: \.isFromServer) }

    /// Drops the results of reads: they may be older than the beginning of the pass.
    mutating func dropFetches() { intents.removeAll { if case .fetched = $0 { true } else { false } } }

    /// Removes the calls to discard rejected writes. Returns the tokens of their callers, in order.
    mutating func removeDiscards() -> [Token] {
        let tokens = intents.compactMap { if case .discard(_, let token) = $0 { token } else { nil } }
        intents.removeAll { if case .discard = $0 { true } else { false } }
        return tokens
    }

    mutating func begin(_ plan: Plan, generation: Int64) -> TransactionID {
        last += 1
        let id = TransactionID(last, generation: generation)
        current = UnderWay(id: id, plan: plan)
        return id
    }

    /// Ends the transaction that the disk has answered.
    mutating func end() -> Plan? {
        defer { current = nil }
        return current?.plan
    }

    /// Removes everything; the answer to the transaction under way will be ignored.
    mutating func removeAll() {
        intents = []
        current = nil
    }

    /// See ``SyncMachine/relativeState(at:)``.
    mutating func makeRelative() {
        current?.id = TransactionID(0)
        last = 0
    }
}
