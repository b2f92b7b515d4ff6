import Foundation
import FreshetSQLite
import FreshetTestSupport
import FreshetWire
import Glibc
import Testing

@testable import FreshetServer

/// Files of earlier versions.
@Suite("Schema of the store") struct SchemaTests {
    private let directory = TemporaryDirectory()

    private func open(_ name: String) throws -> SQLiteRecordStore { try SQLiteRecordStore(directory: directory.file(name), seed: 2) }

    /// A file as the first version made it, with two records and two deletes.
    private func makeFirstVersion() throws {
        mkdir(directory.file("old"), 0o700)
        let connection = try Connection(path: directory.file("old/freshet.db"))
        try connection.execute(Schema.steps[0])
        try connection.execute(
            """
            PRAGMA application_id = \(Schema.applicationIdentifier);
            INSERT INTO store(seed, touched) VALUES(1, 0);
            INSERT INTO namespace(id, name, epoch, head, forgotten, records, bytes, invalidations) VALUES(1, 'shop', 'abc', 6, 0, 2, 2, 0);
            INSERT INTO record(namespace, collection, id, revision, modified, value) VALUES
                (1, 'a', '1', 1, 100, x'31'), (1, 'a', '2', 4, 400, NULL), (1, 'a', '3', 5, 500, x'33'), (1, 'a', '4', 6, 600, NULL);
            INSERT INTO client(id, namespace, client, last) VALUES(7, 1, 'phone', 3), (8, 1, 'tablet', 1), (9, 1, 'till', 5);
            INSERT INTO outcome(client, last, outcomes) VALUES(7, 2, '[1,null]'), (7, 3, '[5]'), (8, 1, '[6]');
            """)
        try connection.setUserVersion(1)
    }

    private func indexes(_ name: String) throws -> [String: String] {
        let connection = try Connection(path: directory.file("\(name)/freshet.db"))
        return try connection.withStatement("SELECT name, sql FROM sqlite_schema WHERE type = 'index'") { row in
            var found: [String: String] = [:]
            while try row.step() { found[row.text(0)] = row.optionalText(1) ?? "" }
            return found
        }
    }

    @Test func aFileOfTheFirstVersionGoesOnWithAllThatItHas() throws {
        // Given
        try makeFirstVersion()
        // When
        let store = try open("old")
        let namespace = try Namespace("shop")
        // Then
        let state = try store.state(of: namespace)
        #expect(state.cursor.description == "abc-6" && state.records == 2)
        #expect(try store.record(RecordKey("a/3"), in: namespace).value?.content?.bytes == [0x33])
        #expect(try store.record(RecordKey("a/4"), in: namespace).value == nil)
        // When the older delete is to be forgotten, and the younger is written over
        let compacted = try store.transaction { try $0.compact(before: Timestamp(milliseconds: 500), limit: 10) }
        #expect(compacted.forgotten == 1)
        let key = try RecordKey("a/4")
        _ = try store.transaction { transaction in
            let open = try transaction.namespace(namespace)
            return try open.put(
                Content(checkedJSON: [0x34]), at: key, over: open.existingRow(of: key),
                WriteMetadata(time: WriteTime(milliseconds: 700)))
        }
        // Then no delete is left to be forgotten
        #expect(try store.transaction { try $0.compact(before: Timestamp(milliseconds: 9_000), limit: 10) }.forgotten == 0)
        #expect(try store.record(key, in: namespace).value?.content?.bytes == [0x34])
    }

    @Test func aFileOfTheFirstVersionIsCounted() throws {
        // Given
        try makeFirstVersion()
        // When; the day may change meanwhile
        let today = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
        let store = try open("old")
        let namespace = try Namespace("shop")
        // Then
        var expected = NamespaceCounts()
        (expected.tombstones, expected.clients, expected.outcomes, expected.outcomeBytes) = (2, 3, 4, 14)
        #expect(try store.counts(of: namespace).value == expected)
        // Then earlier clients count as if they had written today
        #expect(try store.transaction { try $0.forgetOutcomes(before: today, limit: 100) } == Compaction())
        let later = Timestamp(milliseconds: today.milliseconds + 2 * 86_400_000)
        #expect(try store.transaction { try $0.forgetOutcomes(before: later, limit: 100) } == Compaction(outcomes: 4))
        #expect(try store.lastWrite(of: ClientIdentifier("phone"), in: namespace).value == 3)
    }

    @Test func aNameOfAFileWithoutOwnersBelongsToTheNextPrincipalThatWritesUnderIt() throws {
        // Given a file of version 6
        mkdir(directory.file("old"), 0o700)
        do {
            let connection = try Connection(path: directory.file("old/freshet.db"))
            for step in Schema.steps[..<6] { try connection.execute(step) }
            try connection.execute(
                """
                PRAGMA application_id = \(Schema.applicationIdentifier);
                INSERT INTO store(seed, touched, identifier) VALUES(1, 0, 'aaaaaaaaaaaaa');
                INSERT INTO namespace(id, name, epoch, head, forgotten, records, bytes, invalidations) VALUES(1, 'shop', 'abc', 6, 0, 0, 0, 0);
                INSERT INTO client(id, namespace, client, last) VALUES(7, 1, 'phone', 3);
                """)
            try connection.setUserVersion(6)
        }
        // When
        let store = try open("old")
        // Then
        let (namespace, phone) = (try Namespace("shop"), try ClientIdentifier("phone"))
        #expect(try store.lastWrite(of: phone, in: namespace).value == 3 && store.owner(of: phone, in: namespace) == nil)
        // When
        let holders = KeyHolders()
        let accesses = try (0..<2).map { _ in try holders.access(in: namespace).access }
        let results = try accesses.map { access in
            let batch = WriteBatch(client: phone, writes: [try Write(4, "a/1", .put(json: "1"))])
            let recorder = CompletionRecorder<[WriteOutcome]>()
            let submission = Submission.batch(batch, in: namespace, by: access, then: recorder.record)
            try GroupCommit.commit([submission], to: store, at: WriteTime(milliseconds: 1_000), editLimit: 1_000).complete()
            return try recorder.once().result.map { $0.map(\.brief) }
        }
        // Then
        #expect(try results[0].get() == ["4 applied 7"])
        guard case .failure(let problem) = results[1] else { throw Unexpected(what: "it was applied") }
        #expect(problem.code == .clientTaken)
        #expect(try store.owner(of: phone, in: namespace) == accesses[0].owner)
    }

    @Test("An invalidation of a file without a retention clock ages from the time at which it was made")
    func earlierInvalidations() throws {
        // Given a file of version 8
        mkdir(directory.file("old"), 0o700)
        do {
            let connection = try Connection(path: directory.file("old/freshet.db"))
            for step in Schema.steps[..<8] { try connection.execute(step) }
            try connection.execute(
                """
                PRAGMA application_id = \(Schema.applicationIdentifier);
                INSERT INTO store(seed, touched, identifier) VALUES(1, 0, 'aaaaaaaaaaaaa');
                INSERT INTO namespace(id, name, epoch, head, forgotten, records, bytes, invalidations) VALUES(1, 'shop', 'abc', 2, 0, 0, 0, 2);
                INSERT INTO invalidation(namespace, kind, collection, name, revision, modified) VALUES
                    (1, 2, 'a', '1', 1, 100), (1, 2, 'a', '2', 2, 200);
                """)
            try connection.setUserVersion(8)
        }
        // When
        let store = try open("old")
        // Then
        #expect(try store.retention() == RetentionClock.Stored(mark: nil, latestStamp: 200))
        #expect(try store.transaction { try $0.compact(before: Timestamp(milliseconds: 200), limit: 10) }.forgotten == 1)
        #expect(try store.transaction { try $0.compact(before: Timestamp(milliseconds: 201), limit: 10) }.forgotten == 1)
    }

    @Test func aFileOfTheFirstVersionComesToTheIndexesOfANewOne() throws {
        // Given
        try makeFirstVersion()
        // When
        _ = try open("old")
        _ = try open("new")
        // Then
        let indexes = try indexes("old")
        #expect(try self.indexes("new") == indexes)
        #expect(indexes["tombstone_by_time"]?.contains("deleted") == true)
    }
}
