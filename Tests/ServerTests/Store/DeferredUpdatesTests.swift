import FreshetSQLite
import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetServer

/// The updates that a group of writes makes in the file: of each record its last state, once.
@Suite("Deferred updates") struct DeferredUpdatesTests {
    private let directory = TemporaryDirectory()

    private func update(_ row: Int64, _ revision: Int64, json: UInt8? = 0x31, togglesTombstone: Bool = false) throws
        -> DeferredUpdates.Update
    {
        DeferredUpdates.Update(
            row: row, revision: try #require(Revision(revision)), metadata: WriteMetadata(time: WriteTime(milliseconds: revision)),
            content: json.map { Content(checkedJSON: [$0]) }, togglesTombstone: togglesTombstone)
    }

    /// A writer over a separate file, with a connection to inspect the file.
    private func writer() throws -> (StoreWriter, Connection) {
        let path = directory.file("freshet.db")
        func open() throws -> sending Connection {
            let connection = try Connection(path: path)
            try Schema.migrate(connection, from: Schema.check(connection, path: path), seed: 1)
            return connection
        }
        let checkpoints = CheckpointSchedule(interval: 1_000, limit: 2_000)
        return (StoreWriter(try open(), RowCache(limit: 1 << 20), LookupTimer(), AccessCounter(), checkpoints), try open())
    }

    private func submit(_ batch: WriteBatch, to writer: StoreWriter, at milliseconds: Int64 = 1) throws {
        let recorder = CompletionRecorder<[WriteOutcome]>()
        let submission = Submission.batch(batch, in: try Namespace("shop"), then: recorder.record)
        let performed = try writer.transaction { transaction in
            var context = Submission.Context(transaction: transaction, time: WriteTime(milliseconds: milliseconds), editLimit: 100)
            return try submission.perform(&context)
        }
        guard case .whole(let completion) = performed else { throw StoreError.failed(path: "", reason: "a part of the batch is left") }
        completion.notify()
        _ = try recorder.once().result.get()
    }

    @Test func theLastUpdateOfARowTakesThePlaceOfTheFirst() throws {
        // Given
        var deferred = DeferredUpdates()
        // When
        for (row, revision) in [(7, 1), (8, 2), (7, 3)] as [(Int64, Int64)] { deferred.put(try update(row, revision)) }
        // Then
        #expect(deferred.updates.map(\.row) == [7, 8])
        #expect(deferred.updates.map(\.revision.number) == [3, 2])
        #expect(deferred.update(of: 7)?.revision.number == 3 && deferred.update(of: 9) == nil)
    }

    @Test func aRowThatDiedAndCameBackIsStillOneWhoseLifeChanges() throws {
        // Given a tombstone that becomes a record, which is then written again
        var deferred = DeferredUpdates()
        deferred.put(try update(7, 1, togglesTombstone: true))
        // When
        deferred.put(try update(7, 2))
        // Then the tombstone's time has to go
        #expect(deferred.updates.map(\.togglesTombstone) == [true])
        deferred.removeAll()
        #expect(deferred.isEmpty && deferred.update(of: 7) == nil)
    }

    @Test func aGroupThatWritesARecordOftenChangesItsRowOnce() throws {
        // Given
        let (writer, connection) = try self.writer()
        let client = try ClientIdentifier("phone")
        let first = Write(number: 1, key: try RecordKey("a/1"), operation: .put(Content(checkedJSON: [0x30])))
        try submit(WriteBatch(client: client, writes: [first]), to: writer)
        let before = writer.connection.totalChanges
        // When
        let writes = try (2...101).map { number in
            Write(number: Int64(number), key: try RecordKey("a/1"), operation: .put(Content(checkedJSON: Array(String(number).utf8))))
        }
        try submit(WriteBatch(client: client, writes: writes), to: writer)
        // Then seven rows were written: the record, the device, four of its outcomes, the namespace
        #expect(writer.connection.totalChanges - before == 7)
        let value = try connection.withStatement("SELECT value, revision FROM record") { row in
            try row.step() ? (String(decoding: row.bytes(0), as: UTF8.self), row.int64(1)) : nil
        }
        #expect(value?.0 == "101" && value?.1 == 101)
    }

    @Test func aDeviceHasNoMoreOutcomesThanItMayAskFor() throws {
        // Given
        let (writer, connection) = try self.writer()
        let client = try ClientIdentifier("phone")
        var most: Int64 = 0
        // When
        for number: Int64 in 1...3_000 {
            let write = Write(number: number, key: try RecordKey("a/1"), operation: .put(Content(checkedJSON: [0x30])))
            try submit(WriteBatch(client: client, writes: [write]), to: writer)
            guard number % 50 == 0 else { continue }
            let count = try connection.withStatement("SELECT count(*), min(last) FROM outcome") { row in
                try row.step() ? (row.int64(0), row.int64(1)) : (0, 0)
            }
            most = max(most, count.0)
            // Then all that may be asked for again are there
            #expect(count.1 <= max(1, number - WriteLedger.kept + 1))
        }
        #expect((WriteLedger.kept...WriteLedger.kept + 200).contains(most))
    }
}
