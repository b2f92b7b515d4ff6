import FreshetSQLite
import FreshetServer
import FreshetTestSupport
import FreshetWire
import Testing

/// A reader keeps its snapshot while nothing is written: neither its caller nor the log may notice.
@Suite struct SnapshotReaderTests {
    @Test(arguments: StoreKind.allCases)
    func eachReadSeesAllThatWasWrittenBefore(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        let keys = [try RecordKey("a/1"), try RecordKey("b/é/2")]
        for round in 1...60 {
            // When one record is written or deleted
            let key = keys[round % 2]
            let isDelete = round % 5 == 0
            try fixture.write(key.description, isDelete ? .delete : .put(json: "\(round)"))
            // Then every read after it says so, the second of a snapshot like the first, and of other namespaces between them
            for _ in 0..<2 {
                let read = try fixture.store.lookUp(key, in: fixture.namespace)
                #expect(read.value?.content?.bytes == (isDelete ? nil : Array("\(round)".utf8)))
                #expect(read.cursor.revision.number == Int64(round))
                #expect(try fixture.store.state(of: fixture.namespace) == read.state)
                let other = try fixture.store.lookUp(key, in: Namespace("other"))
                #expect(other.value == nil && other.state.head == .zero)
            }
        }
    }

    @Test func aReadWithinAWriteSeesWhatIsCommitted() throws {
        // Given a record, and a snapshot that is kept
        let fixture = try StoreFixture(.sqlite)
        try fixture.put("a/1", "1")
        let (store, namespace, key) = (fixture.store, fixture.namespace, try RecordKey("a/1"))
        #expect(try store.lookUp(key, in: namespace).cursor.revision.number == 1)
        // When the record is overwritten and read before the commit
        let during = try store.transaction { transaction in
            let open = try transaction.namespace(namespace)
            let metadata = WriteMetadata(time: WriteTime(milliseconds: 0))
            _ = try open.put(Content(json: Array("2".utf8)), at: key, over: open.existingRow(of: key), metadata)
            return try store.lookUp(key, in: namespace)
        }
        // Then it is as it was, and after the commit as it is
        #expect(during.cursor.revision.number == 1 && during.value?.content?.bytes == Array("1".utf8))
        #expect(try store.lookUp(key, in: namespace).value?.content?.bytes == Array("2".utf8))
    }

    @Test func aKeptSnapshotDoesNotHoldUpTheLog() throws {
        // Given a store whose reader is used between writes
        let directory = TemporaryDirectory()
        let path = directory.file("data")
        let store = try SQLiteRecordStore(directory: path, seed: 1, lookups: 2)
        let (namespace, key) = (try Namespace("shop"), try RecordKey("a/1"))
        let log = try Connection(path: path + "/freshet.db", mode: .readWrite)
        for round in 1...20 {
            _ = try store.lookUp(key, in: namespace)
            try GroupCommit.commit(
                [.single(SingleWrite(key: key, operation: .put(json: "\(round)")), in: namespace) { _ in }],
                to: store, at: WriteTime(milliseconds: 0), editLimit: 1_000
            ).complete()
            // When the log is moved into the file
            let (pages, moved) = try log.checkpoint()
            // Then all of it is
            #expect(pages > 0 && moved == pages)
        }
    }

    @Test func aReadThatFailsKeepsNothing() throws {
        // Given a store that is read, with a row that no version of Freshet wrote
        let directory = TemporaryDirectory()
        let path = directory.file("data")
        let store = try SQLiteRecordStore(directory: path, seed: 1)
        let (namespace, key) = (try Namespace("shop"), try RecordKey("a/1"))
        try GroupCommit.commit(
            [.single(SingleWrite(key: key, operation: .put(json: "1")), in: namespace) { _ in }],
            to: store, at: WriteTime(milliseconds: 0), editLimit: 1_000
        ).complete()
        let other = try Connection(path: path + "/freshet.db", mode: .readWrite)
        try other.execute("UPDATE record SET revision = -1")
        // When it is read, Then it is reported as corrupt; and once that is mended, the next read sees it
        #expect(throws: StoreError.self) { try store.lookUp(key, in: namespace) }
        try other.execute("UPDATE record SET revision = 1")
        #expect(try store.lookUp(key, in: namespace).value?.revision.number == 1)
    }
}

extension RecordStore {
    /// Reads a record as an event loop does.
    fileprivate func lookUp(_ key: RecordKey, in namespace: Namespace) throws(StoreError) -> Snapshot<Record?> {
        try record(key, in: namespace, for: nil, valueBytes: ReadBounds.lookupValueBytes)
    }
}
