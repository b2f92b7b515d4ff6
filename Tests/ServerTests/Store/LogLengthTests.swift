import Dispatch
import Foundation
import FreshetSQLite
import FreshetTestSupport
import FreshetWire
import Synchronization
import Testing

@testable import FreshetServer

/// The write-ahead log of the SQLite store begins again from its start, however many reads overlap.
@Suite("Length of the log") struct LogLengthTests {
    private let directory = TemporaryDirectory()
    private static let logPages = 100
    /// A page of the log has a header of 24 bytes: https://www.sqlite.org/fileformat.html#walformat
    private static let pageBytes = 4_096 + 24

    private func store() throws -> SQLiteRecordStore {
        try SQLiteRecordStore(directory: directory.file("data"), seed: 1, readers: 3, lookups: 2, logPages: Self.logPages)
    }

    /// Commits one record of 20 pages after the other.
    private func write(_ count: Int, to store: SQLiteRecordStore) throws {
        let value = WriteOperation.put(Content(bytes: Array(repeating: 7, count: 20 * 4_096), type: "image/png"))
        for number in 0..<count {
            try GroupCommit.commit(
                [.single(SingleWrite(key: RecordKey("c/\(number % 10)"), operation: value), in: Namespace("shop")) { _ in }],
                to: store, at: WriteTime(milliseconds: 0), editLimit: 1_000
            ).complete()
        }
    }

    /// The bytes of the log's file, which is never shortened below 64 MiB while the store is open.
    private func logBytes() throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: directory.file("data/freshet.db-wal"))[.size] as? Int)
    }

    @Test func readersThatOverlapWithoutEndDoNotLetItGrow() throws {
        // Given a store that readers and lookups use without a pause
        let store = try store()
        let (namespace, key) = (try Namespace("shop"), try RecordKey("c/1"))
        try write(1, to: store)
        let isDone = Atomic(false)
        let reads = Mutex(0)
        let threads = DispatchGroup()
        for place in 0..<4 {
            threads.enter()
            Thread.detachNewThread {
                while !isDone.load(ordering: .relaxed) {
                    let valueBytes = place < 3 ? Int.max : 0
                    _ = try? store.record(key, in: namespace, for: nil, valueBytes: valueBytes)
                    reads.withLock { $0 += 1 }
                }
                threads.leave()
            }
        }
        do {
            defer {
                isDone.store(true, ordering: .relaxed)
                threads.wait()
            }
            while reads.withLock({ $0 }) < 100 {}
            // When ten times as much is written as the log may have
            try write(100, to: store)
        }
        // Then it has stayed within its limit, by two commits and the eighth of an interval at most
        #expect(try logBytes() <= (2 * Self.logPages + Self.logPages / 8 + 60) * Self.pageBytes)
        #expect(try store.state(of: namespace).head.number == 101)
    }

    @Test func anotherProcessThatReadsHoldsUpNoWrite() throws {
        // Given a store, and a snapshot of another process, as of a copy that is being made
        let store = try store()
        try write(1, to: store)
        let other = try Connection(path: directory.file("data/freshet.db"), mode: .readWrite)
        try other.withStatement("BEGIN DEFERRED") { try $0.run() }
        _ = try other.pragma("user_version")
        // When more is written than the log may have, Then the writes are made, and the log keeps what the other reads
        try write(30, to: store)
        let grown = try logBytes()
        #expect(grown > 3 * Self.logPages * Self.pageBytes)
        // When the other ends, Then the log begins again
        try other.withStatement("COMMIT") { try $0.run() }
        try write(100, to: store)
        #expect(try logBytes() <= grown + 2 * Self.logPages * Self.pageBytes)
        #expect(try store.state(of: Namespace("shop")).head.number == 131)
    }
}
