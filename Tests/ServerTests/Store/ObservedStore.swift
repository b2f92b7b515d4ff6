import FreshetServer
import FreshetWire

/// A store that reports each call before another store answers it, and can be like one behind a network.
final class ObservedStore: RecordStore {
    enum Call: Hashable {
        case read
        case transaction(TransactionScope)
    }

    /// How a transaction fails.
    enum Failure: Hashable {
        /// Nothing of it is stored.
        case undone(StoreError)
        /// All of it is stored.
        case stored(StoreError)
    }

    private struct Undone: Error {}

    let answersAtOnce: Bool
    let lanes: Int
    private let base: any RecordStore
    private let undoneRuns: Int
    private let failure: @Sendable () -> Failure?
    private let onCall: @Sendable (Call) -> Void

    /// - Parameters:
    ///   - undoneRuns: how many times the closure of each transaction runs and is undone before the run that is committed.
    ///   - failure: called for each transaction.
    ///   - onCall: called on the caller's thread.
    init(
        _ base: any RecordStore, answersAtOnce: Bool = true, lanes: Int = 1, undoneRuns: Int = 0,
        onCall: @escaping @Sendable (Call) -> Void = { _ in }, failure: @escaping @Sendable () -> Failure?
    ) {
        self.base = base
        self.answersAtOnce = answersAtOnce
        self.lanes = lanes
        self.undoneRuns = undoneRuns
        self.failure = failure
        self.onCall = onCall
    }

    convenience init(
        _ base: any RecordStore, answersAtOnce: Bool = true, lanes: Int = 1, undoneRuns: Int = 0,
        onCall: @escaping @Sendable (Call) -> Void = { _ in }
    ) {
        self.init(base, answersAtOnce: answersAtOnce, lanes: lanes, undoneRuns: undoneRuns, onCall: onCall, failure: { nil })
    }

    func transaction<Result: Sendable>(
        touching scope: () -> TransactionScope, _ body: @Sendable (any RecordTransaction) throws -> Result
    ) throws -> Result {
        onCall(.transaction(scope()))
        for _ in 0..<undoneRuns {
            do {
                try base.transaction(touching: scope) { transaction in
                    _ = try body(transaction)
                    throw Undone()
                }
            } catch is Undone {}
        }
        switch failure() {
        case .undone(let error)?: throw error
        case .stored(let error)?:
            _ = try base.transaction(touching: scope, body)
            throw error
        case nil: return try base.transaction(touching: scope, body)
        }
    }

    private func reading() -> any RecordStore {
        onCall(.read)
        return base
    }

    var identifier: StoreIdentifier { base.identifier }

    func namespaces(limit: Int) throws(StoreError) -> [Namespace] { try reading().namespaces(limit: limit) }
    func accessRows() throws(StoreError) -> [AccessRow] { try reading().accessRows() }
    func state(of namespace: Namespace) throws(StoreError) -> NamespaceState { try reading().state(of: namespace) }
    func counts(of namespace: Namespace) throws(StoreError) -> Snapshot<NamespaceCounts> { try reading().counts(of: namespace) }
    func totals() throws(StoreError) -> StoreTotals { try reading().totals() }
    func record(
        _ key: RecordKey, in namespace: Namespace, for client: ClientIdentifier?, valueBytes: Int
    ) throws(StoreError) -> Snapshot<Record?> {
        try reading().record(key, in: namespace, for: client, valueBytes: valueBytes)
    }
    func records(_ query: ListQuery, in namespace: Namespace) throws(StoreError) -> Snapshot<RecordSlice> {
        try reading().records(query, in: namespace)
    }
    func records(
        _ request: ReadsRequest, within bounds: ReadBounds, in namespace: Namespace
    ) throws(StoreError) -> Snapshot<DifferingRecords> {
        try reading().records(request, within: bounds, in: namespace)
    }
    func changes(_ query: ChangeQuery, in namespace: Namespace) throws(StoreError) -> Snapshot<ChangeQueryResult> {
        try reading().changes(query, in: namespace)
    }
    func lastWrite(of client: ClientIdentifier, in namespace: Namespace) throws(StoreError) -> Snapshot<Int64> {
        try reading().lastWrite(of: client, in: namespace)
    }
    func owner(of client: ClientIdentifier, in namespace: Namespace) throws(StoreError) -> ClientOwner? {
        try reading().owner(of: client, in: namespace)
    }
}
