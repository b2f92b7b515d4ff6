import FreshetServer
import FreshetWire

/// A store of a test that answers reads as another store does, and whose transactions the test controls.
protocol ForwardingStore: RecordStore {
    /// The store that answers a read. Called once for each.
    var reads: any RecordStore { get }
}

extension ForwardingStore {
    func namespaces(withPrefix prefix: String, limit: Int) throws(StoreError) -> [Namespace] {
        try reads.namespaces(withPrefix: prefix, limit: limit)
    }
    func retention() throws(StoreError) -> RetentionClock.Stored { try reads.retention() }
    func accessVersion() throws(StoreError) -> AccessVersion { try reads.accessVersion() }
    func accessChanges(after version: AccessVersion?) throws(StoreError) -> AccessChanges {
        try reads.accessChanges(after: version)
    }
    func state(of namespace: Namespace) throws(StoreError) -> NamespaceState { try reads.state(of: namespace) }
    func states(of namespaces: [Namespace]) throws(StoreError) -> [NamespaceState] { try reads.states(of: namespaces) }
    func counts(of namespace: Namespace) throws(StoreError) -> Snapshot<NamespaceCounts> { try reads.counts(of: namespace) }
    func statistics() -> StoreStatistics? { reads.statistics() }
    func totals() throws(StoreError) -> StoreTotals { try reads.totals() }
    func record(
        _ key: RecordKey, in namespace: Namespace, for client: ClientIdentifier?, valueBytes: Int
    ) throws(StoreError) -> Snapshot<Record?> {
        try reads.record(key, in: namespace, for: client, valueBytes: valueBytes)
    }
    func records(_ query: ListQuery, in namespace: Namespace) throws(StoreError) -> Snapshot<RecordSlice> {
        try reads.records(query, in: namespace)
    }
    func records(
        _ request: ReadsRequest, within bounds: ReadBounds, in namespace: Namespace
    ) throws(StoreError) -> Snapshot<DifferingRecords> {
        try reads.records(request, within: bounds, in: namespace)
    }
    func changes(_ query: ChangeQuery, in namespace: Namespace) throws(StoreError) -> Snapshot<ChangeQueryResult> {
        try reads.changes(query, in: namespace)
    }
    func lastWrite(of client: ClientIdentifier, in namespace: Namespace) throws(StoreError) -> Snapshot<Int64> {
        try reads.lastWrite(of: client, in: namespace)
    }
    func owner(of client: ClientIdentifier, in namespace: Namespace) throws(StoreError) -> ClientOwner? {
        try reads.owner(of: client, in: namespace)
    }
}
