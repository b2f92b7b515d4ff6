import FreshetWire
import Testing

@testable import FreshetServer

/// The server checks the conditions of an increment, over either store.
@Suite struct IncrementConditionTests {
    private func increment(
        _ amount: Int64, _ onMissing: Increment.OnMissing = .create(from: nil), min: Int64? = nil
    ) throws -> WriteOperation {
        .increment(
            Increment(
                path: try JSONPointer("/stock"), by: .integer(amount), onMissing: onMissing, minimum: min.map { .integer($0) }))
    }

    @Test(arguments: StoreKind.allCases)
    func anIncrementOfADeletedRecordIsRejectedWhereItDemandsOne(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        _ = try fixture.batch([Write(1, "a/1", .put(json: #"{"stock":3}"#)), Write(2, "a/1", .delete)])
        // When
        let outcomes = try fixture.batch([Write(3, "a/1", increment(-1, .reject))])
        // Then
        #expect(outcomes == ["3 rejected not-found"])
        #expect(try fixture.value("a/1") == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func anIncrementCreatesARecordFromItsValue(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        let initial = Array(#"{"name":"Apple","stock":10}"#.utf8)
        // When
        let outcomes = try fixture.batch([Write(1, "a/1", increment(-1, .create(from: initial)))])
        // Then
        #expect(outcomes == ["1 applied 1"])
        #expect(try fixture.value("a/1") == #"{"name":"Apple","stock":9}"#)
    }

    @Test(arguments: StoreKind.allCases)
    func aSumOutOfBoundsIsRejectedAndTheNextWriteGoesOn(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        _ = try fixture.batch([Write(1, "a/1", .put(json: #"{"stock":1}"#))])
        // When
        let outcomes = try fixture.batch([
            Write(2, "a/1", increment(-1, min: 0)), Write(3, "a/1", increment(-1, min: 0)), Write(4, "a/1", increment(.max)),
            Write(5, "a/1", increment(1)),
        ])
        // Then
        #expect(outcomes == ["2 applied 2", "3 rejected out-of-bounds", "4 applied 3", "5 rejected out-of-bounds"])
        #expect(try fixture.value("a/1") == #"{"stock":9223372036854775807}"#)
    }

    @Test func theProblemSaysWhatWouldBeRight() throws {
        // Given
        let fixture = try StoreFixture(.memory)
        _ = try fixture.batch([Write(1, "a/1", .put(json: #"{"stock":0}"#))])
        let batch = WriteBatch(
            client: try ClientIdentifier("phone"),
            writes: try [Write(2, "a/1", increment(-1, min: 0)), Write(3, "a/2", increment(-1, .reject))])
        // When
        let outcomes = try fixture.commit { .batch(batch, in: fixture.namespace, then: $0) }.result.get()
        // Then
        let problems = outcomes.compactMap { if case .rejected(let problem) = $0.verdict { problem } else { nil } }
        #expect(problems.map(\.status) == [409, 404])
        #expect(problems[0].detail == "a/1: the sum at '/stock' would be -1, and 'min' is 0. Add more, or lower 'min'")
        #expect(problems[0].current?.revision.number == 1)
        #expect(problems[1].detail.contains("'onMissing' is 'reject'") && problems[1].detail.contains("'create' with the 'value'"))
    }
}
