import FreshetSQLite
import FreshetTestSupport
import FreshetWire
import Glibc
import Testing

@testable import FreshetServer

@Suite struct SQLiteRecordStoreTests {
    private let directory = TemporaryDirectory()

    private func open(_ name: String = "data") throws -> SQLiteRecordStore {
        try SQLiteRecordStore(directory: directory.file(name), seed: 1, readers: 1)
    }

    private func failure(_ name: String = "data") -> StoreError? {
        do { _ = try open(name) } catch { return error as? StoreError }
        return nil
    }

    private func put(_ key: String, _ content: Content, in store: SQLiteRecordStore) throws {
        let recorder = CompletionRecorder<SingleReceipt>()
        let write = SingleWrite(key: try RecordKey(key), operation: .put(content))
        let group = try GroupCommit.commit(
            [.single(write, in: Namespace("shop"), then: recorder.record)], to: store, at: WriteTime(milliseconds: 1), editLimit: 1)
        group.complete()
        _ = try recorder.once().result.get()
    }

    @Test func whatWasStoredIsThereAfterReopening() throws {
        // Given
        var store: SQLiteRecordStore? = try open()
        try put("a/1", Content(json: [0x31]), in: #require(store))
        let state = try store?.state(of: Namespace("shop"))
        let unmade = try store?.state(of: Namespace("unmade"))
        // When
        store = nil
        let reopened = try SQLiteRecordStore(directory: directory.file("data"), seed: 2)
        // Then
        #expect(try reopened.state(of: Namespace("shop")) == state)
        #expect(try reopened.state(of: Namespace("unmade")) == unmade)
        #expect(try reopened.record(RecordKey("a/1"), in: Namespace("shop")).value?.content?.bytes == [0x31])
    }

    @Test func twoServersCannotHaveOneDirectory() throws {
        let store = try open()
        #expect(failure() == .inUse(path: directory.file("data")))
        withExtendedLifetime(store) {}
    }

    @Test func aMissingParentIsNamed() {
        #expect(failure("none/data") == .missingDirectory(path: directory.file("none/data")))
        #expect(failure("none/data")?.description.contains("mkdir -p \(directory.file("none/data"))") == true)
    }

    @Test func aFileIsNoDirectory() {
        directory.write([1], to: "file")
        // In its place, and above it
        for path in ["file", "file/data"] { #expect(failure(path) == .notADirectory(path: directory.file(path))) }
    }

    @Test func aNewerSchemaIsRefusedAndLeftAlone() throws {
        // Given
        _ = try open()
        let path = directory.file("data/freshet.db")
        try Connection(path: path).setUserVersion(Schema.version + 1)
        // When
        let failure = failure()
        // Then
        #expect(failure == .newerSchema(path: path, found: Schema.version + 1, known: Schema.version))
        #expect(
            failure?.description.contains("schema \(Schema.version + 1)") == true
                && failure?.description.contains("up to \(Schema.version)") == true)
        #expect(try Connection(path: path).userVersion == Schema.version + 1)
    }

    @Test func anotherFileIsNotTakenForADatabase() throws {
        mkdir(directory.file("data"), 0o700)
        directory.write(
            Array("A letter to a friend, long enough to be no header of a database, and kept in the wrong place.".utf8),
            to: "data/freshet.db")
        #expect(failure() == .notADatabase(path: directory.file("data/freshet.db")))
    }

    @Test func aDatabaseOfAnotherProgramIsLeftAlone() throws {
        mkdir(directory.file("data"), 0o700)
        let path = directory.file("data/freshet.db")
        try Connection(path: path).execute("CREATE TABLE record(mine)")
        #expect(failure() == .notADatabase(path: path))
        #expect(try Connection(path: path).pragma("journal_mode") == "delete")
    }

    @Test func aDamagedFileIsCorruptAndSaysWhatToDo() throws {
        // Given
        do {
            let store = try open()
            for number in 1...200 {
                try put("a/\(number)", Content(bytes: [UInt8](repeating: 7, count: 1_000), type: "image/png"), in: store)
            }
        }
        // When
        for page in 1...20 { directory.write([UInt8](repeating: 0xA5, count: 4_096), to: "data/freshet.db", at: page * 4_096) }
        // Then
        do {
            let store = try open()
            for number in 1...200 { _ = try store.record(RecordKey("a/\(number)"), in: Namespace("shop")) }
            Issue.record("nobody noticed")
        } catch let error as StoreError {
            guard case .corrupt = error else { throw error }
            #expect(error.description.contains("back-up"))
            #expect(error.problem.code == .storageFailed)
        }
    }

    @Test func aFullDiskLosesNothingAndTheNextGroupIsTriedAfresh() throws {
        // Given a file that may not grow: the pages of the file's end are taken by a value
        let store = try open()
        try put("a/1", Content(json: [0x31]), in: store)
        try store.limitPages(to: 40)
        let recorder = CompletionRecorder<SingleReceipt>()
        // When
        let large = Content(bytes: [UInt8](repeating: 1, count: 1 << 20), type: "image/png")
        let submissions: [Submission] = try ["a/2", "a/3"].map { key in
            .single(SingleWrite(key: try RecordKey(key), operation: .put(large)), in: try Namespace("shop"), then: recorder.record)
        }
        #expect(throws: StoreError.full(path: directory.file("data/freshet.db"))) {
            try GroupCommit.commit(submissions, to: store, at: WriteTime(milliseconds: 1), editLimit: 1)
        }
        // Then
        #expect(recorder.count == 2)
        #expect(try store.state(of: Namespace("shop")).head.number == 1)
        try put("a/4", Content(json: [0x34]), in: store)
        #expect(try store.state(of: Namespace("shop")).head.number == 2)
        #expect(StoreError.full(path: "").problem.status == 507)
    }

    @Test func droppedRowsAreClearedAwayBitByBit() throws {
        // Given
        let store = try open()
        let namespace = try Namespace("shop")
        for number in 1...25 { try put("a/\(number)", Content(json: [0x31]), in: store) }
        _ = try store.transaction { transaction in
            let open = try transaction.namespace(namespace)
            _ = try open.invalidate(.everything, at: WriteTime(milliseconds: 1))
            try open.keep(
                [StoredOutcome(number: 1, verdict: .applied(nil))], of: ClientIdentifier("phone"), owner: nil, settled: 0,
                at: Timestamp(milliseconds: 1))
        }
        // When
        #expect(try store.transaction { try $0.drop(namespace) })
        var steps: [Compaction] = []
        repeat {
            steps.append(try store.transaction { try $0.compact(before: Timestamp(milliseconds: 0), limit: 10) })
        } while steps.last?.isComplete == false
        // Then 25 records, an invalidation, an outcome, a client and the note of the drop
        #expect(steps.map(\.purged) == [10, 10, 9])
    }

    @Test func everyErrorSaysWhatToDo() throws {
        let errors: [StoreError] = [
            .missingDirectory(path: "/d"), .notADirectory(path: "/d"), .inUse(path: "/d"), .readOnly(path: "/d", reason: "r"),
            .notADatabase(path: "/d"),
            .corrupt(path: "/d", reason: "r"), .newerSchema(path: "/d", found: 2, known: 1), .full(path: "/d"),
            .revisionsExhausted(try Namespace("shop")), .failed(path: "/d", reason: "r"),
            .unusable(path: "/d", reason: "r"), .serversConnected(path: "/d", connections: 2),
        ]
        for error in errors {
            #expect(error.description.contains("/d") || error.description.contains("shop"))
            #expect(!error.problem.detail.contains("/d"), "paths stay on the server")
        }
    }
}
