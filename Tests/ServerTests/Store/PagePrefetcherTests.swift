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
            at: WriteTime(milliseconds: 0), editLimit: 1_000
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
}
