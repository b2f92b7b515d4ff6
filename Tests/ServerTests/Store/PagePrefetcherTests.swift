import FreshetSQLite
import FreshetTestSupport
import FreshetWire
import Synchronization
import Testing

@testable import FreshetServer

@Suite("Pages that are fetched before a group of writes")
struct PagePrefetcherTests {
    /// A clock by which each lookup takes this long, and which counts the lookups.
    private final class Clock: Sendable {
        let look: Int64
        private let readings = Mutex(Int64(0))

        init(look: Int64) { self.look = look }

        var looks: Int64 { readings.withLock { $0 / 2 } }
        @Sendable func now() -> Int64 {
            readings.withLock { readings in
                readings += 1
                return readings * look
            }
        }
    }

    private let directory = TemporaryDirectory()
    private var path: String { directory.file("data") + "/freshet.db" }

    private func address(_ key: String, in namespace: String = "shop") throws -> RecordAddress {
        RecordAddress(namespace: try Namespace(namespace), key: try RecordKey(key))
    }

    private func store(_ keys: [String]) throws -> SQLiteRecordStore {
        let store = try SQLiteRecordStore(directory: directory.file("data"), seed: 1)
        try put(keys, into: store)
        return store
    }

    private func put(_ keys: [String], into store: SQLiteRecordStore) throws {
        let namespace = try Namespace("shop")
        try GroupCommit.commit(
            keys.map { .single(SingleWrite(key: try RecordKey($0), operation: .put(json: "1")), in: namespace) { _ in } }, to: store,
            at: Timestamp(milliseconds: 0), editLimit: 1_000
        ).complete()
    }

    /// A prefetcher whose lookups have taken that long.
    private func prefetcher(_ clock: Clock) -> PagePrefetcher {
        let timer = LookupTimer(now: clock.now)
        for _ in 0..<20 { timer.time {} }
        return PagePrefetcher(path: path, timer: timer)
    }

    @Test("no record is asked for while memory answers")
    func quick() throws {
        let store = try store(["a/1"])
        prefetcher(Clock(look: 5_000)).prepare {
            Issue.record("the records were asked for")
            return []
        }
        withExtendedLifetime(store) {}
    }

    @Test("each record is looked up once if the disk is slow, whether it exists or not, and the log is moved as usual")
    func slow() throws {
        // Given a store with records, and looks that take as long as a disk does
        let keys = (1...50).map { "a/\($0)" }
        let store = try store(keys)
        let clock = Clock(look: 100_000)
        let prefetcher = prefetcher(clock)
        let before = clock.looks
        // When a group is prepared
        let records = try keys.map { try address($0) } + [address("b/none"), address("a/1", in: "elsewhere")]
        prefetcher.prepare { records }
        // Then
        #expect(clock.looks - before == 52)
        // And no connection continues to read: a later write goes into the file
        try put(keys, into: store)
        let (pages, moved) = try Connection(path: path, mode: .readWrite).checkpoint()
        #expect(pages > 0 && moved == pages)
        // And a group of one is left to the writer
        prefetcher.prepare { [records[0]] }
        #expect(clock.looks - before == 52)
    }

    @Test("a file that cannot be read is left to the transaction to report")
    func unreadable() throws {
        let prefetcher = prefetcher(Clock(look: 100_000))
        let records = try [address("a/1"), address("a/2")]
        prefetcher.prepare { records }
    }

    @Test("a group names the records of single writes and of batches, before its transaction")
    func named() throws {
        // Given a store that records its preparations
        let store = NotingStore()
        let namespace = try Namespace("shop")
        let batch = WriteBatch(
            client: try ClientIdentifier("phone"),
            writes: [
                Write(number: 1, key: try RecordKey("a/2"), operation: .put(json: "2")),
                Write(number: 2, key: try RecordKey("a/3"), operation: .delete),
            ])
        // When
        try GroupCommit.commit(
            [
                .single(SingleWrite(key: try RecordKey("a/1"), operation: .put(json: "1")), in: namespace) { _ in },
                .batch(batch, in: namespace) { _ in }, .probe { _ in },
            ], to: store, at: Timestamp(milliseconds: 0), editLimit: 1_000
        ).complete()
        // Then
        #expect(store.notes.withLock { $0 } == ["prepare shop a/1, shop a/2, shop a/3", "transaction"])
    }

    private final class NotingStore: RecordStore {
        private let base = MemoryRecordStore(seed: 1)
        let notes = Mutex<[String]>([])

        func prepare(_ records: () -> [RecordAddress]) {
            let names = records().map { "\($0.namespace) \($0.key)" }
            notes.withLock { $0.append("prepare \(names.joined(separator: ", "))") }
        }

        func transaction<Result: Sendable>(_ body: @Sendable (any RecordTransaction) throws -> Result) throws -> Result {
            notes.withLock { $0.append("transaction") }
            return try base.transaction(body)
        }

        func namespaces(limit: Int) -> [Namespace] { base.namespaces(limit: limit) }
        func state(of namespace: Namespace) -> NamespaceState { base.state(of: namespace) }
        func counts(of namespace: Namespace) -> Snapshot<NamespaceCounts> { base.counts(of: namespace) }
        func totals() -> StoreTotals { base.totals() }
        func record(_ key: RecordKey, in namespace: Namespace, for client: ClientIdentifier?, valueBytes: Int) -> Snapshot<Record?> {
            base.record(key, in: namespace, for: client, valueBytes: valueBytes)
        }
        func records(_ query: ListQuery, in namespace: Namespace) -> Snapshot<RecordSlice> { base.records(query, in: namespace) }
        func records(_ request: ReadsRequest, within bounds: ReadBounds, in namespace: Namespace) -> Snapshot<DifferingRecords> {
            base.records(request, within: bounds, in: namespace)
        }
        func changes(_ query: ChangeQuery, in namespace: Namespace) throws(StoreError) -> Snapshot<ChangeQueryResult> {
            try base.changes(query, in: namespace)
        }
        func lastWrite(of client: ClientIdentifier, in namespace: Namespace) -> Snapshot<Int64> {
            base.lastWrite(of: client, in: namespace)
        }
    }
}
