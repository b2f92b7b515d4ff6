import Foundation
import FreshetSQLite
import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetServer

@Suite("Atomic batches on the pages of the store") struct AtomicBatchPageTests {
    private func puts(_ keys: [String], from first: Int64 = 1) throws -> [Write] {
        try zip(first..., keys).map { try Write($0, $1, .put(json: "\"\($0)\"")) }
    }

    /// The revisions of each page of a whole reading.
    private func pages(
        _ fixture: StoreFixture, since start: Since? = nil, filter: ChangeFilter = .all, limit: Int = 1_000, byteLimit: Int = 4 << 20,
        scanLimit: Int = 10_000
    ) throws -> [[Int64]] {
        var pages: [[Int64]] = []
        var since = try start ?? .after(fixture.cursor(0))
        while true {
            let query = ChangeQuery(since: since, filter: filter, limit: limit, byteLimit: byteLimit, scanLimit: scanLimit)
            guard case .changes(let page) = try fixture.store.changes(query, in: fixture.namespace).value else { return pages }
            pages.append(page.changes.map(\.revision.number))
            if page.isComplete { return pages }
            since = .after(page.reached)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func noBoundCutsABatch(_ kind: StoreKind) throws {
        // Given a record, a batch of five, and two records more
        let fixture = try StoreFixture(kind)
        try fixture.put("a/0", "0")
        _ = try fixture.batch(puts((1...5).map { "a/\($0)" }), atomic: true)
        try fixture.put("a/6", "6")
        try fixture.put("a/7", "7")
        // When, then
        #expect(try pages(fixture, limit: 2) == [[1, 2, 3, 4, 5, 6], [7, 8]])
        #expect(try pages(fixture, byteLimit: 5) == [[1, 2, 3, 4, 5, 6], [7, 8]])
        #expect(try pages(fixture, scanLimit: 2) == [[1, 2, 3, 4, 5, 6], [7, 8]])
        #expect(try pages(fixture, since: .start, limit: 2) == [[1, 2, 3, 4, 5, 6], [7, 8]])
        // Then a position within the batch goes on to its end
        #expect(try pages(fixture, since: .after(fixture.cursor(3)), limit: 2) == [[4, 5, 6], [7, 8]])
    }

    @Test(arguments: StoreKind.allCases)
    func oneChangeAtATimeIsAllowed(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        _ = try fixture.batch(puts(["a/1", "a/2", "a/3"]), atomic: true)
        // When, then
        #expect(try pages(fixture, limit: 1) == [[1], [2], [3]])
    }

    @Test(arguments: StoreKind.allCases)
    func onlyTheBatchItselfStaysTogether(_ kind: StoreKind) throws {
        // Given two atomic batches in a row, and one that is not atomic
        let fixture = try StoreFixture(kind)
        _ = try fixture.batch(puts(["a/1", "a/2", "a/3"]), atomic: true)
        _ = try fixture.batch(puts(["a/4", "a/5", "a/6"], from: 4), atomic: true)
        _ = try fixture.batch(puts(["a/7", "a/8", "a/9"], from: 7))
        // When, then
        #expect(try pages(fixture, limit: 2) == [[1, 2, 3], [4, 5, 6], [7, 8], [9]])
        #expect(try pages(fixture, limit: 4) == [[1, 2, 3, 4, 5, 6], [7, 8, 9]])
    }

    @Test(arguments: StoreKind.allCases)
    func whatIsLeftOfABatchStaysTogether(_ kind: StoreKind) throws {
        // Given a batch whose first and third record have been overwritten, with a delete of nothing in it
        let fixture = try StoreFixture(kind)
        var writes = try puts((1...6).map { "a/\($0)" })
        writes[1].operation = .delete
        _ = try fixture.batch(writes, atomic: true)
        try fixture.put("a/1", "7")
        try fixture.put("a/4", "8")
        try fixture.invalidate(.collection("b", prefix: ""))
        // When, then the delete took no revision
        #expect(try pages(fixture, limit: 2) == [[2, 4, 5], [6, 7], [8]])
        // Then a new write to a record of the batch leaves it
        try fixture.put("a/6", "9")
        #expect(try pages(fixture, limit: 2) == [[2, 4], [6, 7], [8, 9]])
    }

    @Test(arguments: StoreKind.allCases)
    func deletesEditsAndRepeatedRecordsCount(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        for number in 1...4 { try fixture.put("a/\(number)", "{\"n\":\(number)}") }
        let batch = [
            try Write(1, "a/1", .delete), try Write(2, "a/2", .increment("/n")), try Write(3, "a/2", .increment("/n")),
            try Write(4, "a/3", .patch(json: "{\"m\":1}")), try Write(5, "a/4", .delete),
        ]
        // When
        _ = try fixture.batch(batch, atomic: true)
        // Then: revision 6 has been overwritten by 7
        #expect(try pages(fixture, limit: 2) == [[5, 7, 8, 9]])
    }

    @Test(arguments: StoreKind.allCases)
    func aFilterMeetsTheWholeBatch(_ kind: StoreKind) throws {
        // Given a batch in which the wanted records lie far apart
        let fixture = try StoreFixture(kind)
        _ = try fixture.batch(puts(["a/1", "b/1", "b/2", "b/3", "a/2", "b/4", "a/3"]), atomic: true)
        try fixture.put("a/9", "1")
        let filter = try ChangeFilter(collections: ["a"])
        // When, then
        #expect(try pages(fixture, filter: filter, scanLimit: 2) == [[1, 5, 7], [8]])
        #expect(try pages(fixture, filter: filter, limit: 2) == [[1, 5, 7], [8]])
    }

    @Test(arguments: StoreKind.allCases)
    func aRejectedBatchLeavesNoTrace(_ kind: StoreKind) throws {
        // Given a batch that is undone at its last write, and one whose revisions begin where that one's would have
        let fixture = try StoreFixture(kind)
        var writes = try puts(["a/1", "a/2", "a/3"])
        writes[2].ifRevision = Revision(99)
        let results = try fixture.batch(writes, atomic: true)
        #expect(results.last == "3 rejected precondition-failed")
        // When
        for number in 4...6 { try fixture.put("a/\(number)", "1") }
        // Then
        #expect(try pages(fixture, limit: 2) == [[1, 2], [3]])
    }

    @Test(arguments: StoreKind.allCases)
    func theAuthorsOfALargeBatchAreWhatTheyWere(_ kind: StoreKind) throws {
        // Given the largest batch, by numbers near the largest
        let fixture = try StoreFixture(kind)
        let first = Revision.maximum.number - 999
        let batch = WriteBatch(
            client: try ClientIdentifier("phone"), epoch: try fixture.store.state(of: fixture.namespace).epoch, resume: true, atomic: true,
            writes: try puts((0..<1_000).map { "a/\($0)" }, from: first))
        // When
        _ = try fixture.commit { .batch(batch, in: fixture.namespace, then: $0) }.result.get()
        try fixture.put("b/1", "1")
        // Then
        #expect(try pages(fixture, limit: 2) == [Array(1...1_000), [1_001]])
        let changes = try fixture.changes(since: .start).changes
        #expect(changes.compactMap(\.author?.write) == Array(first...Revision.maximum.number))
    }

    @Test func aBatchStaysTogetherAfterARestartAndACompaction() throws {
        // Given
        let directory = TemporaryDirectory()
        let path = directory.file("data")
        let namespace = try Namespace("shop")
        try Self.write(puts(["a/1", "a/2", "a/3"]), to: SQLiteRecordStore(directory: path, seed: 1), namespace)
        // When
        let store = try SQLiteRecordStore(directory: path, seed: 1)
        _ = try store.transaction { try $0.compact(before: Timestamp(milliseconds: .max), limit: 100) }
        // Then
        let query = ChangeQuery(since: .start, limit: 2)
        guard case .changes(let page) = try store.changes(query, in: namespace).value else { throw Unexpected(what: "refused") }
        #expect(page.brief == ["1 put a/1", "2 put a/2", "3 put a/3"] && page.isComplete)
    }

    @Test func aFileOfTheThirdVersionGoesOn() throws {
        // Given a file of version 3, in which an atomic batch was written
        let directory = TemporaryDirectory()
        let path = directory.file("data")
        let namespace = try Namespace("shop")
        _ = try SQLiteRecordStore(directory: path, seed: 1)
        try FileManager.default.removeItem(atPath: path + "/freshet.db")
        let connection = try Connection(path: path + "/freshet.db")
        for step in Schema.steps.prefix(3) { try connection.execute(step) }
        try connection.execute(
            """
            PRAGMA application_id = \(Schema.applicationIdentifier);
            INSERT INTO store(seed, touched) VALUES(1, 0);
            INSERT INTO namespace(id, name, epoch, head, forgotten, records, bytes, invalidations) VALUES(1, 'shop', 'abc', 3, 0, 3, 3, 0);
            INSERT INTO client(id, namespace, client, last) VALUES(7, 1, 'phone', 3);
            INSERT INTO record(namespace, collection, id, revision, modified, client, write, value) VALUES
                (1, 'a', '1', 1, 100, 'phone', 1, x'31'), (1, 'a', '2', 2, 100, 'phone', 2, x'32'), (1, 'a', '3', 3, 100, 'phone', 3, x'33');
            """)
        try connection.setUserVersion(3)
        // When
        let store = try SQLiteRecordStore(directory: path, seed: 1)
        try Self.write(puts(["a/4", "a/5", "a/6"], from: 4), to: store, namespace)
        // Then the earlier batch is paged as before, and the new one stays together
        var since = Since.start
        var pages: [[Int64?]] = []
        for _ in 1...2 {
            guard case .changes(let page) = try store.changes(ChangeQuery(since: since, limit: 3), in: namespace).value else { break }
            pages.append(page.changes.map(\.author?.write))
            since = .after(page.reached)
        }
        #expect(pages == [[1, 2, 3], [4, 5, 6]])
        guard case .changes(let page) = try store.changes(ChangeQuery(since: .start, limit: 2), in: namespace).value else { return }
        #expect(page.brief == ["1 put a/1", "2 put a/2"])
        // Then an earlier server, which would misread the numbers, does not open the file
        #expect(try connection.userVersion > 3)
    }

    private static func write(_ writes: [Write], to store: SQLiteRecordStore, _ namespace: Namespace) throws {
        let recorder = CompletionRecorder<[WriteOutcome]>()
        let batch = WriteBatch(client: try ClientIdentifier("phone"), atomic: true, writes: writes)
        try GroupCommit.commit(
            [.batch(batch, in: namespace, then: recorder.record)], to: store, at: WriteTime(milliseconds: 1_000), editLimit: 1_000
        ).complete()
        _ = try recorder.once().result.get()
    }
}
