import FreshetWire
import TestSupport
import Testing

@testable import FreshetServer

/// A number that two devices of one name have used names the write of the first.
@Suite("Nonces of writes") struct NonceTests {
    private func write(_ number: Int64, _ nonce: Int64?, _ value: String = "1") throws -> Write {
        try Write(
            number: number, key: RecordKey("c/\(number)"), operation: .put(Content(checkedJSON: Array(value.utf8))), nonce: nonce)
    }

    private func send(_ writes: [Write], atomic: Bool = false, to fixture: StoreFixture) throws -> [WriteOutcome] {
        let batch = try WriteBatch(client: ClientIdentifier("kiosk"), atomic: atomic, writes: writes)
        return try fixture.commit { .batch(batch, in: fixture.namespace, then: $0) }.result.get()
    }

    private func isTaken(_ outcome: WriteOutcome) -> Bool {
        if case .rejected(let problem) = outcome.verdict { problem.code == .numberTaken } else { false }
    }

    @Test(
        "another write of a number that was decided is refused without effect, and a repeat gets its outcome", arguments: StoreKind.allCases
    )
    func otherWriteOfANumber(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        let first = try send([write(1, 11), write(2, 12)], to: fixture)
        // When a copy of the device sends its own write 2 and goes on, after one that both have
        let second = try send([write(1, 11), write(2, 99, "9"), write(3, 98)], to: fixture)
        // Then
        #expect(second[0] == first[0] && isTaken(second[1]) && second[2].verdict == .applied(Revision(3)))
        #expect(try fixture.store.record(RecordKey("c/2"), in: fixture.namespace).value?.content?.bytes == Array("1".utf8))
        // When the first device goes on too
        let third = try send([write(2, 12), write(3, 13)], to: fixture)
        // Then
        #expect(third[0] == first[1] && isTaken(third[1]))
    }

    @Test("a rejection and a delete of nothing are kept with their nonces", arguments: StoreKind.allCases)
    func otherOutcomes(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        let patch = try Write(number: 1, key: RecordKey("c/1"), operation: .patch(Array("{}".utf8)), nonce: 11)
        let delete = try Write(number: 2, key: RecordKey("c/2"), operation: .delete, nonce: 12)
        let first = try send([patch, delete], to: fixture)
        // When
        let repeated = try send([patch, delete], to: fixture)
        let other = try send([write(1, 21), write(2, 22)], to: fixture)
        // Then
        #expect(first == repeated && other.allSatisfy(isTaken))
    }

    @Test(
        "where one of both says nothing, they count as the same write", arguments: [(nil, 5), (5, nil), (nil, nil)] as [(Int64?, Int64?)])
    func writesWithoutANonce(_ first: Int64?, _ second: Int64?) throws {
        let fixture = try StoreFixture(.sqlite)
        let outcome = try send([write(1, first)], to: fixture)
        #expect(try send([write(1, second, "2")], to: fixture) == outcome)
    }

    @Test("an atomic batch with a number of another write does nothing")
    func atomicBatch() throws {
        // Given
        let fixture = try StoreFixture(.sqlite)
        _ = try send([write(1, 11)], to: fixture)
        // When
        let outcomes = try send([write(1, 99, "9"), write(2, 98)], atomic: true, to: fixture)
        // Then
        #expect(isTaken(outcomes[0]) && outcomes.count == 2)
        #expect(try fixture.store.record(RecordKey("c/2"), in: fixture.namespace).value == nil)
    }

    @Test("a nonce crosses the wire, and is a whole number from 1 to 2^53-1", arguments: ["0", "-1", "9007199254740992", "\"x\""])
    func nonceOnTheWire(_ text: String) throws {
        let sent = try write(4, 9_007_199_254_740_991)
        #expect(try Write(json: sent.json) == sent)
        let json = Array(#"{"number":4,"op":"delete","key":"c/4","nonce":\#(text)}"#.utf8)
        #expect(throws: WireError.self) { try Write(json: json) }
    }
}
