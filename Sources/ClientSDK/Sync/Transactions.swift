import FreshetWire

/// The inputs that wait to become a transaction, and the transaction that the disk has.
///
/// One transaction is under way at a time, made from the state on disk, so decisions cannot conflict.
struct Transactions: Hashable, Sendable {
    private struct UnderWay: Hashable, Sendable {
        var id: TransactionID
        var plan: TransactionPlan
    }

    private var inputs: [QueuedInput] = []
    private var current: UnderWay?
    private var last: Int64 = 0

    var isIdle: Bool { current == nil }
    var inputCount: Int { inputs.count }

    func isUnderWay(_ id: TransactionID) -> Bool { current?.id == id }

    /// The plan that the disk has.
    var underWay: TransactionPlan? { current?.plan }

    /// Whether a record may be on its way to the disk.
    var mayStoreRecords: Bool { inputs.contains(where: \.isFromServer) || current?.plan.storesRecords ?? false }

    mutating func add(_ input: QueuedInput) { inputs.append(input) }

    mutating func next() -> QueuedInput? { inputs.isEmpty ? nil : inputs.removeFirst() }

    /// Drops the inputs that came from the server, which a reset makes worthless.
    mutating func dropResponses() { inputs.removeAll(where: \.isFromServer) }

    /// Drops the results of reads: they may be older than the beginning of the pass.
    mutating func dropFetches() { inputs.removeAll { if case .fetched = $0 { true } else { false } } }

    /// Removes the calls to discard rejected writes. Returns the ids of their callers, in order.
    mutating func removeDiscards() -> [CallerID] {
        let callerIDs = inputs.compactMap { if case .discard(_, let callerID) = $0 { callerID } else { nil } }
        inputs.removeAll { if case .discard = $0 { true } else { false } }
        return callerIDs
    }

    mutating func begin(_ plan: TransactionPlan, generation: Int64) -> TransactionID {
        last += 1
        let id = TransactionID(last, generation: generation)
        current = UnderWay(id: id, plan: plan)
        return id
    }

    /// Ends the transaction that the disk has answered.
    mutating func end() -> TransactionPlan? {
        defer { current = nil }
        return current?.plan
    }

    /// Removes everything; the answer to the transaction under way will be ignored.
    mutating func removeAll() {
        inputs = []
        current = nil
    }

    /// See ``SyncMachine/relativeState(at:)``.
    mutating func makeRelative() {
        current?.id = TransactionID(0)
        last = 0
    }
}
