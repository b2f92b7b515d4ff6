import FreshetServer
import FreshetWire
import Testing

/// A store's cache of recently written keys agrees with its rows, even after writes were undone.
@Suite struct WrittenLatelyTests {
    private func put(_ key: String, _ json: String, over revision: Int64, in fixture: StoreFixture) throws {
        try fixture.write(key, .put(json: json), if: [.revision(#require(Revision(revision)))])
    }

    @Test(arguments: StoreKind.allCases)
    func aRejectedAtomicBatchLeavesEachKeyAsItWas(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        try fixture.put("a/1", "[1]")
        try fixture.put("a/2", "[2]")
        // When it makes, changes and deletes, and the last of it is rejected
        let verdicts = try fixture.batch(
            [
                Write(1, "a/1", .put(json: "[1,2,3]")), Write(2, "a/2", .delete), Write(3, "a/3", .put(json: "[3]")),
                Write(4, "a/1", .put(json: "0"), ifRevision: 99),
            ], atomic: true)
        // Then
        #expect(verdicts.allSatisfy { $0.contains("rejected") })
        #expect(try fixture.store.state(of: fixture.namespace).bytes == 6)
        try put("a/1", "1", over: 1, in: fixture)
        try put("a/2", "2", over: 2, in: fixture)
        try put("a/3", "3", over: 0, in: fixture)
        #expect(try fixture.changes(since: .start).brief == ["3 put a/1", "4 put a/2", "5 put a/3"])
        #expect(try fixture.store.state(of: fixture.namespace).bytes == 3)
    }

    @Test(arguments: StoreKind.allCases)
    func anAtomicBatchThatWouldHaveMadeTheNamespaceLeavesNothing(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        // When
        _ = try fixture.batch([Write(1, "a/1", .put(json: "[1]")), Write(2, "a/1", .delete, ifRevision: 99)], atomic: true)
        // Then
        try put("a/1", "1", over: 0, in: fixture)
        #expect(try fixture.changes(since: .start).brief == ["1 put a/1"])
    }

    @Test(arguments: StoreKind.allCases)
    func aTransactionThatFailsLeavesEachKeyAsItWas(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        try fixture.put("a/1", "[1]")
        let namespace = fixture.namespace
        // When
        #expect(throws: Unexpected.self) {
            try fixture.store.transaction { transaction in
                let open = try transaction.namespace(namespace)
                let metadata = WriteMetadata(time: WriteTime(milliseconds: 5))
                for key in try [RecordKey("a/1"), RecordKey("a/2")] {
                    _ = try open.put(Content(json: [0x32]), at: key, over: open.existingRow(of: key), metadata)
                }
                throw Unexpected(what: "on purpose")
            }
        }
        // Then
        try put("a/1", "1", over: 1, in: fixture)
        try put("a/2", "2", over: 0, in: fixture)
        #expect(try fixture.store.state(of: namespace).records == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func aKeyWhoseDeleteWasForgottenIsMadeAnew(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        try fixture.put("a/1", "[1]")
        try fixture.write("a/1", .delete, at: 1_000)
        // When
        #expect(try fixture.compact(before: 2_000) == 1)
        // Then
        try put("a/1", "1", over: 0, in: fixture)
        #expect(try fixture.value("a/1") == "1")
    }

    @Test(arguments: StoreKind.allCases)
    func aNamespaceMadeAfterADropKnowsNothingOfTheKeysBefore(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        try fixture.put("a/1", "[1]")
        // When
        #expect(try fixture.drop())
        // Then
        try put("a/1", "1", over: 0, in: fixture)
        #expect(try fixture.store.state(of: fixture.namespace).bytes == 1)
    }
}
