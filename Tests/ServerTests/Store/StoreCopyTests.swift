import FreshetSQLite
import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetServer

@Suite("Copies of data directories") struct StoreCopyTests {
    private let directory = TemporaryDirectory()
    private var source: SQLiteCopyEnd { get throws { try SQLiteCopyEnd(directory: directory.file("source")) } }
    private var target: SQLiteCopyEnd { get throws { try SQLiteCopyEnd(directory: directory.file("target")) } }

    private func open(_ name: String) throws -> StoreFixture {
        try StoreFixture(over: SQLiteRecordStore(directory: directory.file(name), seed: 5, readers: 1))
    }

    /// Makes a store, and returns what it states.
    @discardableResult
    private func makeSource(steps: Int = 60) throws -> [String] {
        let store = try open("source")
        var script = StoreScript(seed: 3)
        for step in 1...steps { _ = try store.run(script.group(), at: StoreScript.time(Int64(step * 10))) }
        try store.addRareRows()
        return try store.everything()
    }

    @Test("A copy states what its source states, and says how much it is")
    func copy() throws {
        // Given
        let before = try makeSource()
        // When
        var progress: [String] = []
        let copied = try StoreCopy.run(from: source, to: target) { progress.append("\($0) \($1)") }
        // Then all rows were counted twice, as they were copied and as they were compared
        #expect(progress.contains("copying \(copied.rows)") && progress.last == "comparing \(copied.rows)")
        let store = try open("target")
        #expect(try store.everything() == before)
        #expect(copied.size(of: .namespace).rows == 2 && copied.size(of: .access).rows == 2)
        let totals = try store.store.totals()
        #expect(copied.size(of: .record).rows == totals.records + totals.counts.tombstones)
        #expect(directory.files == ["source", "target"])
        // And the source is as it was
        #expect(try open("source").everything() == before)
    }

    @Test("Rows of a dropped namespace are not copied, and its successor keeps its epoch")
    func dropped() throws {
        // Given a drop that no compaction has followed
        do {
            let store = try open("source")
            try store.put("a/1", "1")
            #expect(try store.drop())
        }
        // When
        let copied = try StoreCopy.run(from: source, to: target)
        // Then
        #expect(StoredTable.allCases.map { copied.size(of: $0).rows } == [1, 0, 0, 0, 0, 0, 0])
        let namespace = try Namespace("shop")
        #expect(try open("target").store.state(of: namespace) == open("source").store.state(of: namespace))
    }

    @Test("A copy that fails, or that differs from its source, leaves nothing", arguments: LossyEnd<SQLiteCopyEnd>.Loss.allCases)
    func losses(_ loss: LossyEnd<SQLiteCopyEnd>.Loss) throws {
        // Given an empty store at the target
        try makeSource(steps: 10)
        let empty = try open("target").store.identifier
        // When
        let failure: StoreError?
        do {
            _ = try StoreCopy.run(from: source, to: LossyEnd(end: target, loss: loss))
            failure = nil
        } catch { failure = try #require(error as? StoreError) }
        // Then
        let store = try open("target").store
        guard loss != .nothing else {
            #expect(failure == nil)
            #expect(try !store.namespaces(limit: 9).isEmpty)
            return
        }
        switch failure {
        case .full where loss == .failure: break
        case .copyDiffers(let path, let reason) where loss != .failure:
            #expect(path == directory.file("target") && !reason.isEmpty)
        default: Issue.record("\(String(describing: failure))")
        }
        #expect(try store.identifier == empty && store.namespaces(limit: 9).isEmpty)
        #expect(try store.accessRows().isEmpty)
    }

    @Test("A directory that a server has open is refused, at either end")
    func running() throws {
        try makeSource(steps: 3)
        for name in ["source", "target"] {
            // Given
            let server = try open(name)
            // Then
            let path = directory.file(name)
            #expect(throws: StoreError.inUse(path: path)) { try StoreCopy.run(from: source, to: target) }
            _ = server
        }
    }

    @Test("A target that holds something, and a source that holds nothing, are refused as they are")
    func refusals() throws {
        // Given no source: none is made
        #expect(throws: StoreError.noStore(path: directory.file("source"))) { try StoreCopy.run(from: source, to: target) }
        #expect(directory.files.isEmpty)
        // Given a target with a record, one with a key, and one with a drop
        try makeSource(steps: 3)
        try open("target").put("a/1", "1")
        #expect(throws: StoreError.notEmpty(path: directory.file("target"))) { try StoreCopy.run(from: source, to: target) }
        #expect(try open("target").value("a/1") == "1")
        #expect(try open("target").drop())
        #expect(throws: StoreError.notEmpty(path: directory.file("target"))) { try StoreCopy.run(from: source, to: target) }
        let keys = try SQLiteCopyEnd(directory: directory.file("keys"))
        _ = try open("keys").store.transaction { try $0.keep(AccessRow(.key, name: "k", value: [])) }
        #expect(throws: StoreError.notEmpty(path: directory.file("keys"))) { try StoreCopy.run(from: source, to: keys) }
        // Given a newer schema, at either end
        let path = directory.file("target/freshet.db")
        try Connection(path: path).setUserVersion(99)
        let newer = StoreError.newerSchema(path: path, found: 99, known: Schema.version)
        #expect(throws: newer) { try StoreCopy.run(from: source, to: target) }
        #expect(throws: newer) { try StoreCopy.run(from: target, to: SQLiteCopyEnd(directory: directory.file("new"))) }
        #expect(try Connection(path: path).userVersion == 99)
    }

    @Test("A source of an earlier version is brought up to date, and copied")
    func earlierVersion() throws {
        // Given a file of version 2, whose outcomes are not counted
        try DirectoryLock.makeDirectory(directory.file("source"))
        do {
            let connection = try Connection(path: directory.file("source/freshet.db"))
            for step in Schema.steps[..<2] { try connection.execute(step) }
            try connection.execute(
                """
                PRAGMA application_id = \(Schema.applicationIdentifier);
                INSERT INTO store(seed, touched) VALUES(1, 0);
                INSERT INTO namespace(id, name, epoch, head, forgotten, records, bytes, invalidations) VALUES(1, 'shop', 'abc', 6, 0, 1, 1, 0);
                INSERT INTO record(namespace, collection, id, revision, modified, value) VALUES(1, 'a', '1', 1, 100, x'31');
                INSERT INTO client(id, namespace, client, last) VALUES(7, 1, 'phone', 3);
                INSERT INTO outcome(client, last, outcomes) VALUES(7, 2, '[1,null]'), (7, 3, '[5]');
                """)
            try connection.setUserVersion(2)
        }
        // When
        let copied = try StoreCopy.run(from: source, to: target)
        // Then
        #expect(StoredTable.allCases.map { copied.size(of: $0).rows } == [0, 1, 1, 0, 1, 2, 0])
        let (first, second) = (try open("source"), try open("target"))
        #expect(try second.everything() == first.everything())
        #expect(try second.store.state(of: second.namespace).cursor.description == "abc-6" && second.value("a/1") == "1")
    }

    @Test("A store whose epochs have a token gives new epochs as any other")
    func token() throws {
        // Given a copy of a store with a token, as one from PostgreSQL may have
        try makeSource(steps: 3)
        let rows = directory.file("source/freshet.db")
        try Connection(path: rows).execute("UPDATE store SET token = 11; UPDATE namespace SET base = 'x' || id")
        _ = try StoreCopy.run(from: source, to: target)
        let store = try open("target")
        let (made, unmade) = (try Namespace("shop"), try Namespace("unmade"))
        let rule = EpochRule(seed: 5, token: 11)
        #expect(try ["x1", "x2"].compactMap { Epoch($0) }.map(rule.epoch).contains(store.store.state(of: made).epoch))
        // When a namespace is made
        let waiting = try store.store.state(of: unmade).epoch
        #expect(waiting == rule.epoch(rule.base(of: unmade, generation: 0)))
        _ = try store.store.transaction { transaction in
            let metadata = WriteMetadata(time: WriteTime(milliseconds: 1))
            return try transaction.namespace(unmade).put(Content(json: [0x31]), at: RecordKey("a/1"), over: nil, metadata)
        }
        #expect(try store.store.state(of: unmade).epoch == waiting)
        // When its epoch is renewed, and then all are
        _ = try store.store.transaction { try $0.renewEpoch(of: unmade, seed: 21) }
        let renewed = try store.store.state(of: unmade).epoch
        #expect(renewed != waiting)
        try store.store.transaction { try $0.rotateEpochs(seed: 22) }
        let rotated = try (store.store.state(of: unmade).epoch, store.store.state(of: made).epoch)
        // Then each is new
        #expect(rotated.0 != renewed && rotated.0 != waiting && rotated.0 == EpochSource(seed: 22).epoch(of: unmade, generation: 0))
        #expect(rotated.1 == EpochSource(seed: 22).epoch(of: made, generation: 0))
    }
}
