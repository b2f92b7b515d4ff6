import FreshetServer
import FreshetWire
import Testing

/// The outcomes of idle clients are forgotten, and their numbers never.
@Suite("Outcomes of idle clients") struct OutcomeForgettingTests {
    private static let day: Int64 = 86_400_000

    private func forget(before day: Int64, limit: Int = 1_000, in fixture: StoreFixture) throws -> Compaction {
        try fixture.commit {
            .compact(
                before: Timestamp(milliseconds: 0), outcomesBefore: Timestamp(milliseconds: day * Self.day), limit: limit, then: $0)
        }.result.get()
    }

    @Test(arguments: StoreKind.allCases)
    func aClientThatReturnsHasNoWriteAppliedTwice(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        let writes = try [Write(1, "a/1", .put(json: "1")), Write(2, "a/1", .increment("")), Write(3, "a/1", .delete, ifRevision: 9)]
        let first = try fixture.batch(writes, at: 10 * Self.day + 5)
        #expect(first == ["1 applied 1", "2 applied 2", "3 rejected precondition-failed"])
        // When
        #expect(try forget(before: 11, in: fixture) == Compaction(outcomes: 3))
        // Then: a repeated write has no effect, whether it comes alone, together with others, or with new ones
        #expect(try fixture.batch(writes) == ["1 settled", "2 settled", "3 settled"])
        #expect(try fixture.batch([writes[0]]) == ["1 settled"])
        let next = try Write(4, "a/1", .increment(""))
        #expect(try fixture.batch(writes + [next]) == ["1 settled", "2 settled", "3 settled", "4 applied 3"])
        #expect(try fixture.value("a/1") == "3")
        #expect(try fixture.store.lastWrite(of: ClientIdentifier("phone"), in: fixture.namespace).value == 4)
        // Then: the outcomes of new writes are kept as usual
        #expect(try fixture.batch([next]) == ["4 applied 3"])
        let counts = try fixture.store.counts(of: fixture.namespace).value
        #expect(counts.clients == 1 && counts.outcomes == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func aClientThatHasWrittenSinceKeepsAllItsOutcomes(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        let first = try Write(1, "a/1", .put(json: "1"))
        _ = try fixture.batch([first], at: 10 * Self.day)
        _ = try fixture.batch([Write(1, "a/2", .put(json: "1"))], by: "tablet", at: 10 * Self.day)
        _ = try fixture.batch([Write(2, "a/1", .put(json: "2"))], at: 12 * Self.day)
        // When
        let before = try forget(before: 10, in: fixture)
        let step = try forget(before: 12, in: fixture)
        // Then
        #expect(before == Compaction() && step == Compaction(outcomes: 1))
        #expect(try fixture.batch([first], at: 13 * Self.day) == ["1 applied 1"])
        #expect(try fixture.batch([Write(1, "a/2", .put(json: "1"))], by: "tablet", at: 13 * Self.day) == ["1 settled"])
    }

    @Test(arguments: StoreKind.allCases)
    func aRepeatAloneDoesNotMakeAClientBusy(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        let write = try Write(1, "a/1", .put(json: "1"))
        _ = try fixture.batch([write], at: 10 * Self.day)
        // When
        #expect(try fixture.batch([write], at: 20 * Self.day) == ["1 applied 1"])
        // Then
        #expect(try forget(before: 11, in: fixture) == Compaction(outcomes: 1))
        #expect(try forget(before: 30, in: fixture) == Compaction())
    }

    @Test(arguments: StoreKind.allCases)
    func manyClientsAreForgottenInBoundedSteps(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        for client in 1...20 {
            _ = try fixture.batch((1...3).map { try Write($0, "a/1", .put(json: "1")) }, by: "phone-\(client)", at: 10 * Self.day)
        }
        // When
        var steps: [Compaction] = []
        repeat { try steps.append(forget(before: 11, limit: 10, in: fixture)) } while steps.last?.isComplete == false
        // Then
        #expect(steps.count > 3 && steps.map(\.outcomes).reduce(0, +) == 60)
        let counts = try fixture.store.counts(of: fixture.namespace).value
        #expect(counts.clients == 20 && counts.outcomes == 0 && counts.outcomeBytes == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func aNewHistoryAndABackUpKnowTheNumbersStill(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        _ = try fixture.batch([Write(1, "a/1", .put(json: "1")), Write(2, "a/1", .increment(""))], at: 10 * Self.day)
        #expect(try forget(before: 11, in: fixture).outcomes == 2)
        // When
        try fixture.commit { .rotateEpochs(seed: 7, then: $0) }.result.get()
        let batch = try WriteBatch(
            client: ClientIdentifier("phone"), epoch: fixture.cursor(0).epoch, resume: true,
            writes: [Write(2, "a/1", .increment("")), Write(3, "a/1", .increment(""))])
        let outcomes = try fixture.commit { .batch(batch, in: fixture.namespace, then: $0) }.result.get()
        // Then
        #expect(outcomes.map(\.brief) == ["2 settled", "3 applied 3"])
        #expect(try fixture.value("a/1") == "3")
    }
}
