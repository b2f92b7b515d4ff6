import FreshetServer
import FreshetWire
import Testing

/// Operations of tests on one namespace, which must not affect others.
@Suite struct NamespaceOperationTests {
    @Test(arguments: StoreKind.allCases)
    func aNewEpochLeavesAllButTheHistory(_ kind: StoreKind) throws {
        // Given two namespaces
        let fixture = try StoreFixture(kind)
        let other = try Namespace("other")
        try fixture.put("a/1", "1")
        #expect(try fixture.batch([Write(number: 1, key: RecordKey("a/2"), operation: .put(json: "2"))]) == ["1 applied 2"])
        let write = SingleWrite(key: try RecordKey("a/1"), operation: .put(json: "1"))
        _ = try fixture.commit { .single(write, in: other, then: $0) }
        let (before, otherBefore) = try (fixture.cursor(1), fixture.store.state(of: other))
        // When one gets a new epoch
        let renewed = try fixture.commit { .renewEpoch(of: fixture.namespace, seed: 7, then: $0) }
        // Then its records and its devices' numbers stay, and its cursors are of another history
        #expect(try renewed.result.get())
        #expect(try fixture.cursor(2) == renewed.cursor)
        #expect(try fixture.value("a/1") == "1")
        #expect(try fixture.store.lastWrite(of: ClientIdentifier("phone"), in: fixture.namespace).value == 1)
        #expect(try fixture.refusal(since: .after(before)) == .epochChanged)
        #expect(try fixture.store.state(of: other) == otherBefore)
        // And again another one, each time
        let again = try fixture.commit { .renewEpoch(of: fixture.namespace, seed: 8, then: $0) }
        #expect(Set([before.epoch, renewed.cursor?.epoch, again.cursor?.epoch]).count == 3)
    }

    @Test(arguments: StoreKind.allCases)
    func aNamespaceThatIsNotThereGetsNoEpoch(_ kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        let before = try fixture.store.state(of: fixture.namespace)
        #expect(try fixture.commit { .renewEpoch(of: fixture.namespace, seed: 7, then: $0) }.result.get() == false)
        #expect(try fixture.store.state(of: fixture.namespace) == before)
    }

    @Test(arguments: StoreKind.allCases)
    func forgettingDeletesExpiresTheCursorsBeforeThem(_ kind: StoreKind) throws {
        // Given deletes and an invalidation, step by step forgotten
        let fixture = try StoreFixture(kind)
        for id in 1...3 { try fixture.put("a/\(id)", "1") }
        for id in 1...2 { try fixture.write("a/\(id)", .delete) }
        try fixture.invalidate(.collection("b", prefix: ""))
        func forget() throws -> Compaction {
            try fixture.commit { .forgetDeletes(of: fixture.namespace, limit: 1, then: $0) }.result.get()
        }
        // When the first is forgotten
        #expect(try forget() == Compaction(forgotten: 1, isComplete: false))
        // Then cursors from before it expire, and only those
        #expect(try fixture.refusal(since: .after(fixture.cursor(3))) == .expired)
        #expect(try fixture.changes(since: .after(fixture.cursor(4))).changes.count == 2)
        // When all are forgotten
        let rest = try (1...3).map { _ in try forget().forgotten }
        #expect(rest == [1, 1, 0])
        // Then the head can be followed still, and the record is there
        #expect(try fixture.refusal(since: .after(fixture.cursor(5))) == .expired)
        #expect(try fixture.changes(since: .after(fixture.cursor(6))).changes.isEmpty)
        #expect(try fixture.changes(since: .start).brief == ["3 put a/3"])
        #expect(try fixture.value("a/3") == "1")
    }
}
