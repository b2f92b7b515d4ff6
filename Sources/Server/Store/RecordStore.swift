package import FreshetWire

/// Holds the records of all namespaces: one row a record, tombstones among them, and no log of changes.
///
/// Any thread may read; each answer is of one snapshot and has its position. Reads do not wait for a write. At most
/// ``lanes`` callers write at a time, the ``Committer``. Every call may block on the disk or the network, so none
/// belongs on the cooperative pool.
package protocol RecordStore: Sendable {
    /// Identifies the store for as long as its records are kept.
    var identifier: StoreIdentifier { get }

    /// Whether short reads take microseconds, so that an event loop may make them. If not, every call belongs on a
    /// thread that may wait.
    var answersAtOnce: Bool { get }

    /// How many transactions may be in progress at once, at least 1. Two at once name no namespace in common, and one of
    /// the whole store is alone; over a store that several servers share, this is true of the transactions of each server.
    var lanes: Int { get }

    /// Why the store can no longer be used until it is opened again; `nil` while it can. O(1), without the disk.
    var failure: StoreError? { get }

    /// Checks that the store still has the files that a later start would open, for ``failure``. May block on the disk.
    func checkFiles()

    /// The namespaces that writes have made and whose names begin with `prefix`, in the order of the names, at most `limit`.
    ///
    /// - Parameter prefix: empty, or the beginning of a name that a ``Namespace`` may have.
    func namespaces(withPrefix prefix: String, limit: Int) throws(StoreError) -> [Namespace]

    /// The state of a namespace.
    func state(of namespace: Namespace) throws(StoreError) -> NamespaceState

    /// The states of namespaces, in their order, each as ``state(of:)`` returns it. A store behind a network reads them in one round trip.
    func states(of namespaces: [Namespace]) throws(StoreError) -> [NamespaceState]

    /// The counts of a namespace. O(1), as ``state(of:)``.
    func counts(of namespace: Namespace) throws(StoreError) -> Snapshot<NamespaceCounts>

    /// How the store is doing; `nil` for one that is in this process. May block.
    func statistics() -> StoreStatistics?

    /// The totals of the store. O(namespaces).
    func totals() throws(StoreError) -> StoreTotals

    /// One record, without its value if that has more than `valueBytes` bytes. The snapshot states the last decided
    /// write of `client`.
    ///
    /// Up to ``ReadBounds/lookupValueBytes`` this is short: it waits neither for lists and scans nor for the reading of
    /// large values, so it may be called on an event loop if the store ``answersAtOnce``. So may ``state(of:)``,
    /// ``counts(of:)``, ``lastWrite(of:in:)`` and ``owner(of:in:)``.
    func record(
        _ key: RecordKey, in namespace: Namespace, for client: ClientIdentifier?, valueBytes: Int
    ) throws(StoreError) -> Snapshot<Record?>

    /// Several records, each as ``record(_:in:for:valueBytes:)`` returns it, and each of a snapshot. In the order of the lookups. A
    /// store behind a network reads them in one round trip.
    func records(_ lookups: [RecordLookup]) -> [Result<Snapshot<Record?>, StoreError>]

    /// The records of a collection, ordered by the bytes of their ids.
    func records(_ query: ListQuery, in namespace: Namespace) throws(StoreError) -> Snapshot<RecordSlice>

    /// Those of many records that differ from the client's, in the order asked, as far as the bounds allow. The
    /// snapshot states the last decided write of the request's client.
    func records(
        _ request: ReadsRequest, within bounds: ReadBounds, in namespace: Namespace
    ) throws(StoreError) -> Snapshot<DifferingRecords>

    /// The latest change of each record, and the invalidations, after a position. The snapshot states the last decided write of the query's
    /// client.
    func changes(_ query: ChangeQuery, in namespace: Namespace) throws(StoreError) -> Snapshot<ChangeQueryResult>

    /// The number of the last decided write of a device; 0 if it has none.
    func lastWrite(of client: ClientIdentifier, in namespace: Namespace) throws(StoreError) -> Snapshot<Int64>

    /// The principal that a device's name belongs to; `nil` if it has no owner.
    func owner(of client: ClientIdentifier, in namespace: Namespace) throws(StoreError) -> ClientOwner?

    /// What the store keeps of the retention clock. O(log n).
    func retention() throws(StoreError) -> RetentionClock.Stored

    /// The version of the access rows. O(1).
    func accessVersion() throws(StoreError) -> AccessVersion

    /// The changes of the access rows after a version, or all rows: if there is no version, and if the store no longer
    /// knows what was removed since.
    func accessChanges(after version: AccessVersion?) throws(StoreError) -> AccessChanges

    /// Runs the closure in a write transaction. Its changes are on disk when this returns. They are undone if the closure
    /// or the commit throws, except for ``StoreError/outcomeUnknown(path:reason:)``: then they may be on disk or undone,
    /// all of them.
    ///
    /// A store may run the closure several times, if it cannot commit what an earlier run did. It undoes the earlier run,
    /// and returns the result of the last. The closure therefore has no other effects than those on the transaction.
    ///
    /// - Parameter scope: what the closure is about to use. Called only by a store that makes use of it: one that would
    ///   wait for each row may fetch them all beforehand.
    func transaction<Result: Sendable>(
        touching scope: () -> TransactionScope, _ body: @Sendable (any RecordTransaction) throws -> Result
    ) throws -> Result
}

extension RecordStore {
    /// One record with its value, however large.
    package func record(_ key: RecordKey, in namespace: Namespace) throws(StoreError) -> Snapshot<Record?> {
        try record(key, in: namespace, for: nil, valueBytes: .max)
    }

    /// The namespaces that writes have made, in the order of their names, at most `limit`.
    package func namespaces(limit: Int) throws(StoreError) -> [Namespace] { try namespaces(withPrefix: "", limit: limit) }

    /// The states of namespaces, one after the other.
    package func states(of namespaces: [Namespace]) throws(StoreError) -> [NamespaceState] {
        var states: [NamespaceState] = []
        for namespace in namespaces { states.append(try state(of: namespace)) }
        return states
    }

    /// Several records, one after the other.
    package func records(_ lookups: [RecordLookup]) -> [Result<Snapshot<Record?>, StoreError>] {
        lookups.map { lookup in
            Result { () throws(StoreError) in
                try record(lookup.key, in: lookup.namespace, for: lookup.client, valueBytes: lookup.valueBytes)
            }
        }
    }

    /// Those of many records that differ from the client's, as far as one answer goes.
    package func records(_ request: ReadsRequest, in namespace: Namespace) throws(StoreError) -> Snapshot<DifferingRecords> {
        try records(request, within: .page, in: namespace)
    }

    /// Runs the closure in a transaction that may touch anything.
    package func transaction<Result: Sendable>(_ body: @Sendable (any RecordTransaction) throws -> Result) throws -> Result {
        try transaction(touching: { .wholeStore }, body)
    }

    /// The store is in this process.
    package var answersAtOnce: Bool { true }

    /// No failure is final.
    package var failure: StoreError? { nil }

    /// The store has no files.
    package func checkFiles() {}

    /// The store is in this process.
    package func statistics() -> StoreStatistics? { nil }

    /// One writer.
    package var lanes: Int { 1 }

    /// The keys and revocations of access control, by kind and name.
    package func accessRows() throws(StoreError) -> [AccessRow] { try accessChanges(after: nil).rows }

    /// A store without access control.
    package func accessVersion() throws(StoreError) -> AccessVersion { AccessVersion(number: 0) }

    package func accessChanges(after version: AccessVersion?) throws(StoreError) -> AccessChanges {
        AccessChanges(after: version, version: try accessVersion())
    }

    package func owner(of client: ClientIdentifier, in namespace: Namespace) throws(StoreError) -> ClientOwner? { nil }

    /// All stores that keep their records in memory have the same identifier.
    package var identifier: StoreIdentifier { .memory }
}

/// A record among those of all namespaces.
package struct RecordAddress: Hashable, Sendable {
    package var namespace: Namespace
    package var key: RecordKey
}

/// The arguments of a lookup of one record.
package struct RecordLookup: Hashable, Sendable {
    package var key: RecordKey
    package var namespace: Namespace
    package var client: ClientIdentifier?
    package var valueBytes: Int

    package init(_ key: RecordKey, in namespace: Namespace, for client: ClientIdentifier? = nil, valueBytes: Int = .max) {
        self.key = key
        self.namespace = namespace
        self.client = client
        self.valueBytes = valueBytes
    }
}

/// A query for the records of a collection.
package struct ListQuery: Hashable, Sendable {
    package var collection: String
    /// Only ids after this one.
    package var after: String?
    /// Only ids that begin with this.
    package var prefix: String
    /// The most records in the answer, at least 1.
    package var limit: Int
    /// The most bytes of values in the answer; the first record comes whatever its size.
    package var byteLimit: Int
    /// The most rows to look at, at least 1, so that a collection of tombstones is not walked over at once.
    package var scanLimit: Int

    package init(
        collection: String, after: String? = nil, prefix: String = "", limit: Int = 100, byteLimit: Int = 4 << 20, scanLimit: Int = 10_000
    ) {
        self.collection = collection
        self.after = after
        self.prefix = prefix
        self.limit = max(limit, 1)
        self.byteLimit = byteLimit
        self.scanLimit = max(scanLimit, 1)
    }
}

/// A part of a collection. It may be empty and yet not the last.
package struct RecordSlice: Hashable, Sendable {
    package var records: [Record]
    /// The id after which to continue, which may be that of a deleted record; `nil` if nothing remains.
    package var next: String?

    package init(records: [Record], next: String?) {
        self.records = records
        self.next = next
    }
}
