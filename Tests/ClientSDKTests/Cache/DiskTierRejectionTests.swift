import FreshetSQLite
import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetClient

/// The rejected writes in the file of a device.
@Suite struct DiskTierRejectionTests {
    private let directory = TemporaryDirectory()

    private func open() throws -> DiskTier {
        try DiskTier(directory: directory.path, namespace: Sample.namespace, client: Sample.client)
    }

    private func rejected(_ number: Int64, of key: String = "notes/ä", _ operation: WriteOperation = .put(Sample.json("1")))
        -> RejectedWrite
    {
        let problem = Problem(
            .preconditionFailed, "the record has changed",
            current: Record(
                key: Sample.key(key), revision: Revision(7) ?? .zero, content: Sample.json("{}"), modified: Timestamp(milliseconds: 5)
            ))
        return RejectedWrite(
            Sample.row(number, key, operation), problem, at: Timestamp(milliseconds: 4_000 + number))
    }

    private func apply(_ operations: [RejectionOperation], clear: ClientIdentifier? = nil, to tier: DiskTier) throws {
        _ = try tier.apply(DiskTransaction(id: TransactionID(1), clear: clear, rejections: operations))
    }

    @Test("rejected writes come back as they were, in the order of their rejection")
    func areKept() throws {
        // Given writes of every kind, rejected in another order than they were made in
        let operations: [WriteOperation] = [
            .delete, .put(Content(bytes: [0, 255], type: "image/png")), .patch(Array(#"{"a":null}"#.utf8)),
            .increment(path: try JSONPointer("/n"), by: .integer(-3)),
        ]
        var writes = operations.enumerated().map { rejected(Int64(9 - $0), of: "notes/ä", $1) }
        writes[1].policy = .rejectIfChanged
        writes[2].policy = .merge(MergeName("näme"))
        try apply(writes.map { .put($0) }, to: try open())
        // When the file is opened again
        let tier = try open()
        // Then
        #expect(try tier.rejections() == writes)
        #expect(try tier.load().rejections == writes.map { RejectionEntry(writeID: $0.writeID, size: $0.size) })
        #expect(try tier.rejection(LocalWriteID(8)) == writes[1] && tier.rejection(LocalWriteID(1)) == nil)
    }

    @Test("one that was being merged when the device left its name is kept without its number", arguments: [0, -1] as [Int64])
    func withoutNumber(number: Int64) throws {
        // Given
        var write = rejected(4)
        write.number = number
        try apply([.put(write), .put(rejected(5))], to: try open())
        // When the file is opened again
        let tier = try open()
        // Then all are read
        #expect(try tier.rejections() == [write, rejected(5)])
        #expect(try tier.rejection(write.writeID) == write)
    }

    @Test("one is removed, with its bytes, and a clear removes all")
    func leave() throws {
        // Given
        let tier = try open()
        try apply([.put(rejected(1)), .put(rejected(2)), .put(rejected(3))], to: tier)
        // When
        try apply([.remove(LocalWriteID(2))], to: tier)
        // Then
        #expect(try tier.rejections().map(\.writeID) == [LocalWriteID(1), LocalWriteID(3)])
        // When
        try apply([], clear: try ClientIdentifier("next"), to: tier)
        // Then
        #expect(try tier.rejections().isEmpty && tier.load().rejections.isEmpty)
    }

    @Test(
        "they lose the records that the device may not read any more, and nothing else, on both kinds of disk",
        arguments: [
            ([.evict(.key(Sample.key("notes/b")), before: Cursor(epoch: Sample.epoch, revision: .maximum))], [1, 3]),
            ([.evict(.collection("notes", prefix: ""), before: Cursor(epoch: Sample.epoch, revision: .maximum))], [3]),
            ([.finishPass(2, at: Cursor(epoch: Sample.epoch, revision: .maximum))], [1]),
            ([.evict(.key(Sample.key("notes/b")), before: Sample.cursor(9)), .finishPass(2, at: Sample.cursor(9))], [1, 2, 3]),
        ] as [([EntryOperation], [Int64])])
    func unreadable(operations: [EntryOperation], keeping kept: [Int64]) throws {
        // Given rejected writes of three keys, of which the present pass has brought one
        let writes = [rejected(1, of: "notes/a"), rejected(2, of: "notes/b"), rejected(3, of: "texts/c")]
        let given = DiskTransaction(
            id: TransactionID(1), entries: [.put(Sample.entry("notes/a", 1, pass: 2), onlyIfCached: false)],
            rejections: writes.map { .put($0) })
        let tier = try open()
        var volatile = VolatileStore(client: Sample.client)
        _ = (try tier.apply(given), volatile.commit(given))
        // When
        let transaction = DiskTransaction(id: TransactionID(2), entries: operations)
        _ = (try tier.apply(transaction), volatile.commit(transaction))
        // Then
        let expected = writes.map { write in
            var write = write
            if !kept.contains(write.number) { write.problem.current = nil }
            return write
        }
        #expect(try tier.rejections() == expected && volatile.rejections == expected)
        #expect(try tier.load().rejections.map(\.size) == expected.map(\.size))
    }

    @Test("a file of the version before is brought along, with its writes")
    func migrates() throws {
        // Given a file without the table
        do {
            let tier = try open()
            _ = try tier.apply(
                DiskTransaction(id: TransactionID(1), outbox: [.put(Sample.row(1, "notes/1", .delete))], state: [.nextNumber(2)]))
            try tier.undoRejections()
            try tier.connection.setUserVersion(DiskTier.schemaVersion - 1)
        }
        // When
        let tier = try open()
        // Then
        #expect(try tier.connection.userVersion == DiskTier.schemaVersion)
        let persisted = try tier.load()
        #expect(persisted.outbox.count == 1 && persisted.rejections.isEmpty && persisted.state.droppedRejections == 0)
        try apply([.put(rejected(1))], to: tier)
        #expect(try tier.rejections() == [rejected(1)])
    }

    @Test("a size that no rejected write has is damage of the file", arguments: [Int64.min, -1, 1 << 62])
    func sizes(size: Int64) throws {
        // Given
        let tier = try open()
        try apply([.put(rejected(1)), .put(rejected(2))], to: tier)
        // When
        try tier.connection.execute("UPDATE rejection SET size = \(size)")
        // Then
        #expect(throws: SQLiteError.self) { try tier.load() }
    }

    @Test("a damaged row is damage of the file")
    func damage() throws {
        // Given
        let tier = try open()
        try apply([.put(rejected(1))], to: tier)
        // When
        try tier.connection.execute("UPDATE rejection SET row = CAST('{}' AS BLOB)")
        // Then
        #expect(throws: SQLiteError.self) { try tier.rejections() }
    }
}
