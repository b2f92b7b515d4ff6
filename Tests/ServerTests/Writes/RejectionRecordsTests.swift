import FreshetServer
import FreshetWire
import Testing

@Suite("Records of rejections") struct RejectionRecordsTests {
    /// Rejected writes to these records, committed and not completed yet.
    private func rejected(_ keys: [String], in fixture: StoreFixture) throws -> Committed<[WriteOutcome]> {
        let writes = try keys.enumerated().map { try Write(Int64($0 + 1), $1, .put(json: "0"), ifRevision: 99) }
        let batch = WriteBatch(client: try ClientIdentifier("phone"), writes: writes)
        return try fixture.commit { .batch(batch, in: fixture.namespace, then: $0) }
    }

    private func current(_ committed: Committed<[WriteOutcome]>) throws -> [Record?] {
        try committed.result.get().map { outcome in
            guard case .rejected(let problem) = outcome.verdict else { throw Unexpected(what: "\(outcome) is not rejected") }
            return problem.current
        }
    }

    private func complete(
        _ committed: Committed<[WriteOutcome]>, in fixture: StoreFixture, within bounds: ReadBounds = RejectionRecords.bounds
    ) throws -> Committed<[WriteOutcome]> {
        try RejectionRecords.read(
            committed, of: ClientIdentifier("phone"), in: fixture.namespace, from: fixture.store, within: bounds)
    }

    @Test("the transaction shows no value, and the read after it shows those within the bounds", arguments: StoreKind.allCases)
    func bounds(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        for (id, count) in [(1, 4), (2, 9), (3, 4), (4, 4)] {
            try fixture.put("a/\(id)", "\"\(String(repeating: "x", count: count - 2))\"")
        }
        let committed = try rejected(["a/1", "a/2", "a/1", "a/3", "a/4", "a/5"], in: fixture)
        // Then
        #expect(try current(committed).map { $0?.size } == [4, 9, 4, 4, 4, nil])
        #expect(try current(committed).allSatisfy { $0?.content == nil })
        // When values of 5 bytes may be shown, and 8 bytes of them
        let complete = try complete(committed, in: fixture, within: ReadBounds(bytes: 8, valueBytes: 5, coversAll: true))
        // Then each record has its value once, and those beyond have none
        #expect(try current(complete).map { $0?.content?.bytes.count } == [4, nil, nil, 4, nil, nil])
        #expect(try current(complete).map { $0?.revision.number } == [1, 2, 1, 3, 4, nil])
        #expect(complete.cursor == committed.cursor && complete.lastWrite == 6)
    }

    @Test("all shown records are of one state, with its position and the number of the device in it", arguments: StoreKind.allCases)
    func oneState(_ kind: StoreKind) throws {
        // Given a rejection, and further writes before its record is read
        let fixture = try StoreFixture(kind)
        try fixture.put("a/1", "1")
        try fixture.put("a/2", "1")
        let committed = try rejected(["a/1", "a/2"], in: fixture)
        _ = try fixture.batch([Write(3, "a/1", .put(json: "3"))])
        try fixture.write("a/2", .delete)
        // When
        let complete = try complete(committed, in: fixture)
        // Then
        #expect(try current(complete).map { $0?.content?.bytes } == [Array("3".utf8), nil])
        #expect(try current(complete)[1] == nil)
        #expect(try complete.cursor == fixture.cursor(4) && complete.lastWrite == 3)
        #expect(try committed.cursor == fixture.cursor(2) && committed.lastWrite == 2)
    }

    @Test("nothing is shown of another history", arguments: StoreKind.allCases)
    func otherHistory(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        try fixture.put("a/1", "1")
        let committed = try rejected(["a/1"], in: fixture)
        #expect(try fixture.drop())
        try fixture.put("a/1", "2")
        // When
        let complete = try complete(committed, in: fixture)
        // Then
        #expect(try current(complete) == current(committed) && complete.cursor == committed.cursor && complete.lastWrite == 1)
    }
}
