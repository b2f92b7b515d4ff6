import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetServer

/// A number that two devices of one name have used belongs to the write of the first.
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
        // When a copy of the device sends its own write 2 and one behind it, after one that both have
        let second = try send([write(1, 11), write(2, 99, "9"), write(3, 98)], to: fixture)
        // Then the one behind is not decided: the copy sends write 2 again under another name, and that one must come later
        #expect(second.count == 2 && second[0] == first[0] && isTaken(second[1]))
        #expect(try fixture.store.record(RecordKey("c/2"), in: fixture.namespace).value?.content?.bytes == Array("1".utf8))
        // When it sends that one alone, and the first device goes on too
        let alone = try send([write(3, 98)], to: fixture)
        let third = try send([write(2, 12), write(3, 13)], to: fixture)
        // Then
        #expect(alone[0].verdict == .applied(Revision(3)) && third[0] == first[1] && isTaken(third[1]))
    }

    @Test("behind a write whose outcome is forgotten nothing is decided, since it may be sent again", arguments: StoreKind.allCases)
    func forgottenOutcome(_ kind: StoreKind) throws {
        // Given a device whose outcomes are forgotten, since it has been idle
        let fixture = try StoreFixture(kind)
        _ = try send([write(1, 11), write(2, 12)], to: fixture)
        let later = Timestamp(milliseconds: 4_000_000_000_000)
        _ = try fixture.commit { .compact(before: Timestamp(milliseconds: 0), outcomesBefore: later, then: $0) }.result.get()
        // When another one sends writes under its numbers, and one behind them, with nonces and without
        let shared = try send([write(1, 91), write(2, 92), write(3, 93)], to: fixture)
        let single = try send([write(1, nil), write(2, nil), write(3, nil)], to: fixture)
        // Then
        #expect(shared.map(\.verdict) == [.settled, .settled])
        #expect(single.map(\.verdict) == [.settled, .settled, .applied(Revision(3))])
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
        "writes of one number are the same if one of them has no nonce", arguments: [(nil, 5), (5, nil), (nil, nil)] as [(Int64?, Int64?)])
    func writesWithoutANonce(_ first: Int64?, _ second: Int64?) throws {
        let fixture = try StoreFixture(.sqlite)
        let outcome = try send([write(1, first)], to: fixture)
        #expect(try send([write(1, second, "2")], to: fixture) == outcome)
    }

    private func resume(at number: Int64, _ nonce: Int64, atomic: Bool = false, in fixture: StoreFixture) throws -> [WriteOutcome] {
        let batch = try WriteBatch(
            client: ClientIdentifier("kiosk"), epoch: fixture.cursor(0).epoch, resume: true, atomic: atomic, writes: [write(number, nonce)])
        return try fixture.commit { .batch(batch, in: fixture.namespace, then: $0) }.result.get()
    }

    @Test(
        "a write under a number that another device left out after a restore is refused, and not taken for decided",
        arguments: StoreKind.allCases)
    func leftOutNumbers(_ kind: StoreKind) throws {
        // Given a server that was restored to write 2, and a device that goes on at 6
        let fixture = try StoreFixture(kind)
        let first = try send([write(1, 11), write(2, 12)], to: fixture)
        let resumed = try resume(at: 6, 16, in: fixture)
        // When a copy of the device sends its own writes, after two that both have
        let copy = try send([write(1, 11), write(2, 12), write(3, 93), write(4, 94), write(5, 95), write(6, 96)], to: fixture)
        // Then
        #expect(copy[..<2] == first[...] && copy[2...].allSatisfy(isTaken))
        // Then: a write without a nonce has no effect, as usual
        #expect(try send([write(3, nil), write(6, 16)], to: fixture).map(\.verdict) == [.settled] + resumed.map(\.verdict))
        #expect(try fixture.store.record(RecordKey("c/3"), in: fixture.namespace).value == nil)
    }

    @Test("left-out numbers are known behind a second restore, in an atomic batch, and until they are old", arguments: StoreKind.allCases)
    func leftOutNumbersAreKept(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        _ = try resume(at: 4, 14, in: fixture)
        _ = try resume(at: 10, 20, atomic: true, in: fixture)
        // When
        let atomic = try send([write(3, 93), write(11, 21)], atomic: true, to: fixture)
        let other = try send([write(1, 91), write(9, 99), write(4, 14)], to: fixture)
        // Then
        #expect(isTaken(atomic[0]) && other[..<2].allSatisfy(isTaken) && other[2].verdict == .applied(Revision(1)))
        // When as many follow as are kept
        for number in 12...1_013 as ClosedRange<Int64> { _ = try send([write(number, number)], to: fixture) }
        // Then
        #expect(try send([write(9, 99), write(11, 98)], to: fixture).map(\.verdict) == [.settled, .settled])
        #expect(try fixture.store.counts(of: fixture.namespace).value.outcomes <= 1_200)
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

    private func send(_ writes: [Write], as client: String, to fixture: StoreFixture) throws -> [WriteOutcome] {
        let batch = try WriteBatch(client: ClientIdentifier(client), writes: writes)
        return try fixture.commit { .batch(batch, in: fixture.namespace, then: $0) }.result.get()
    }

    @Test("a write that was decided under its first name and number gets that outcome under another", arguments: StoreKind.allCases)
    func origins(_ kind: StoreKind) throws {
        // Given writes of a device: one applied, one rejected, one deleted nothing, and a number that was left out
        let fixture = try StoreFixture(kind)
        let rejected = try Write(
            number: 2, key: RecordKey("c/1"), operation: .delete, ifRevision: Revision(7), nonce: 12)
        let empty = try Write(number: 3, key: RecordKey("c/3"), operation: .delete, nonce: 13)
        let first = try send([write(1, 11), rejected, empty], to: fixture)
        _ = try resume(at: 6, 16, in: fixture)
        // When a copy of the device sends the same writes under a new name, and others whose origins are of other writes
        func moved(_ write: Write, to number: Int64, from origin: Int64) throws -> Write {
            var write = write
            write.number = number
            write.origin = Write.Origin(client: try ClientIdentifier("kiosk"), number: origin)
            return write
        }
        let copies = try [
            moved(write(1, 11), to: 1, from: 1), moved(rejected, to: 2, from: 2), moved(empty, to: 3, from: 3),
            moved(write(5, 15), to: 4, from: 5), moved(write(8, 99), to: 5, from: 1), moved(write(9, 19), to: 6, from: 9),
        ]
        let outcomes = try send(copies, as: "kiosk.2", to: fixture)
        // Then the same writes get their outcomes without effect, and the others are applied
        #expect(outcomes[..<3].map(\.verdict) == first.map(\.verdict))
        #expect(outcomes[3...].map(\.verdict) == [.applied(Revision(3)), .applied(Revision(4)), .applied(Revision(5))])
        // Then a repeat has the same outcomes
        #expect(try send(copies, as: "kiosk.2", to: fixture) == outcomes)
    }

    @Test(
        "an origin crosses the wire, and is a name and a number",
        arguments: [
            #""nonce":3,"origin":{"client":"a","number":0}"#, #""nonce":3,"origin":{"number":1}"#,
            #""nonce":3,"origin":{"client":"a b","number":1}"#, #""nonce":3,"origin":7"#,
        ])
    func originOnTheWire(_ members: String) throws {
        var sent = try write(4, 17)
        sent.origin = Write.Origin(client: try ClientIdentifier("kiosk"), number: 9_007_199_254_740_991)
        #expect(try Write(json: sent.json) == sent)
        let json = Array(#"{"number":4,"op":"delete","key":"c/4",\#(members)}"#.utf8)
        #expect(throws: WireError.self) { try Write(json: json) }
    }

    @Test("a nonce crosses the wire, and is a whole number from 1 to 2^53-1", arguments: ["0", "-1", "9007199254740992", "\"x\""])
    func nonceOnTheWire(_ text: String) throws {
        let sent = try write(4, 9_007_199_254_740_991)
        #expect(try Write(json: sent.json) == sent)
        let json = Array(#"{"number":4,"op":"delete","key":"c/4","nonce":\#(text)}"#.utf8)
        #expect(throws: WireError.self) { try Write(json: json) }
    }
}
