import FreshetWire
import Synchronization

/// A store that can be closed while others still hold it, so that its files are free as soon as a stop has returned.
final class ClosableStore: RecordStore {
    let identifier: StoreIdentifier
    let answersAtOnce: Bool
    let lanes: Int
    private let base: Mutex<(any RecordStore)?>

    init(_ base: any RecordStore) {
        (identifier, answersAtOnce, lanes) = (base.identifier, base.answersAtOnce, base.lanes)
        self.base = Mutex(base)
    }

    /// Closes the store. Calls that are in progress finish; later calls fail.
    func close() {
        let closed = base.withLock { $0.take() }
        // Its deinit closes the files, which is no work to do under the lock.
        _ = closed
    }

    private func open() throws(StoreError) -> any RecordStore {
        guard let base = base.withLock({ $0 }) else { throw .failed(path: "", reason: "the store is closed, since the server has stopped") }
        return base
    }

    var failure: StoreError? { base.withLock { $0 }?.failure }

    func checkFiles() { base.withLock { $0 }?.checkFiles() }

    func namespaces(withPrefix prefix: String, limit: Int) throws(StoreError) -> [Namespace] {
        try open().namespaces(withPrefix: prefix, limit: limit)
    }

    func retention() throws(StoreError) -> RetentionClock.Stored { try open().retention() }

    func accessVersion() throws(StoreError) -> AccessVersion { try open().accessVersion() }

    func accessChanges(after version: AccessVersion?) throws(StoreError) -> AccessChanges {
        try open().accessChanges(after: version)
    }

    func state(of namespace: Namespace) throws(StoreError) -> NamespaceState { try open().state(of: namespace) }

    func states(of namespaces: [Namespace]) throws(StoreError) -> [NamespaceState] { try open().states(of: namespaces) }

    func counts(of namespace: Namespace) throws(StoreError) -> Snapshot<NamespaceCounts> { try open().counts(of: namespace) }

    func statistics() -> StoreStatistics? { (try? open())?.statistics() }

    func totals() throws(StoreError) -> StoreTotals { try open().totals() }

    func record(
        _ key: RecordKey, in namespace: Namespace, for client: ClientIdentifier?, valueBytes: Int
    ) throws(StoreError) -> Snapshot<Record?> {
        try open().record(key, in: namespace, for: client, valueBytes: valueBytes)
    }

    func records(_ lookups: [RecordLookup]) -> [Result<Snapshot<Record?>, StoreError>] {
        do throws(StoreError) { return try open().records(lookups) } catch { return lookups.map { _ in .failure(error) } }
    }

    func records(_ query: ListQuery, in namespace: Namespace) throws(StoreError) -> Snapshot<RecordSlice> {
        try open().records(query, in: namespace)
    }

    func records(
        _ request: ReadsRequest, within bounds: ReadBounds, in namespace: Namespace
    ) throws(StoreError) -> Snapshot<DifferingRecords> {
        try open().records(request, within: bounds, in: namespace)
    }

    func changes(_ query: ChangeQuery, in namespace: Namespace) throws(StoreError) -> Snapshot<ChangeQueryResult> {
        try open().changes(query, in: namespace)
    }

    func lastWrite(of client: ClientIdentifier, in namespace: Namespace) throws(StoreError) -> Snapshot<Int64> {
        try open().lastWrite(of: client, in: namespace)
    }

    func owner(of client: ClientIdentifier, in namespace: Namespace) throws(StoreError) -> ClientOwner? {
        try open().owner(of: client, in: namespace)
    }

    func transaction<Result: Sendable>(
        touching scope: () -> TransactionScope, _ body: @Sendable (any RecordTransaction) throws -> Result
    ) throws -> Result {
        try open().transaction(touching: scope, body)
    }
}
