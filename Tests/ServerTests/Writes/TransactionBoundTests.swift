import FreshetWire
import Synchronization
import Testing

@testable import FreshetServer

/// The bounds of one transaction, for which all writers wait.
@Suite struct TransactionBoundTests {
    @Test(arguments: StoreKind.allCases)
    func aBatchEndsWhereItsEditsHaveDoneEnough(_ kind: StoreKind) throws {
        // Given a record whose increment makes 12 bytes, and a batch of five of them
        let fixture = try StoreFixture(kind)
        try fixture.put("a/1", #"{"abcd":100}"#)
        let client = try ClientIdentifier("phone")
        let writes = try (1...5).map { try Write($0, "a/1", .increment("/abcd")) }
        func commit(from number: Int, room: Int, isAtomic: Bool = false) throws -> Committed<[WriteOutcome]> {
            let recorder = CompletionRecorder<[WriteOutcome]>()
            let batch = WriteBatch(client: client, atomic: isAtomic, writes: Array(writes[(number - 1)...]))
            let group = try GroupCommit.commit(
                [.batch(batch, in: fixture.namespace, then: recorder.record)], to: fixture.store, at: Timestamp(milliseconds: 1),
                editLimit: 100,
                room: room)
            #expect(group.rest.isEmpty)
            group.complete()
            return try recorder.once()
        }
        // When it is sent where two edits are enough, which is seen at the third: one read, two made
        let first = try commit(from: 1, room: 36)
        // Then the first two are decided, the response says so, and the others are not done
        #expect(try first.result.get().map(\.brief) == ["1 applied 2", "2 applied 3"] && first.lastWrite == 2)
        #expect(try fixture.value("a/1") == #"{"abcd":102}"#)
        // When the whole is sent again, as after a lost response, with room for one
        let second = try commit(from: 1, room: 1)
        // Then the decided writes are answered again, and one more is done
        #expect(try second.result.get().map(\.brief) == ["1 applied 2", "2 applied 3", "3 applied 4"] && second.lastWrite == 3)
        // When the rest is sent, all or nothing
        let atomic = try commit(from: 4, room: 1, isAtomic: true)
        // Then nothing of it is done, and the answer says why
        #expect(try atomic.result.get().map(\.brief) == ["4 rejected batch-rejected", "5 rejected too-large"])
        #expect(try fixture.value("a/1") == #"{"abcd":103}"#)
    }

    @Test(arguments: StoreKind.allCases)
    func aGroupEndsWhereItsEditsHaveDoneEnough(_ kind: StoreKind) throws {
        // Given four patches of one record in one group, and room for two
        let fixture = try StoreFixture(kind)
        try fixture.put("a/1", #"{"abcd":100}"#)
        let recorders = (0..<4).map { _ in CompletionRecorder<SingleReceipt>() }
        let submissions = try recorders.enumerated().map { place, recorder in
            let patch = WriteOperation.patch(Array("{\"abcd\":20\(place)}".utf8))
            return Submission.single(SingleWrite(key: try RecordKey("a/1"), operation: patch), in: fixture.namespace, then: recorder.record)
        }
        // When they are committed, and the rest in the next transactions
        var counts: [Int] = []
        var waiting = submissions
        while !waiting.isEmpty {
            let group = try GroupCommit.commit(
                waiting, to: fixture.store, at: Timestamp(milliseconds: 1), editLimit: 100, room: 40)
            group.complete()
            counts.append(waiting.count - group.rest.count)
            waiting = Array(group.rest)
        }
        // Then each is done once, in order
        #expect(counts == [2, 2])
        #expect(try recorders.map { try $0.once().result.get().revision?.number } == [2, 3, 4, 5])
        #expect(try fixture.value("a/1") == #"{"abcd":203}"#)
    }

    @Test(arguments: StoreKind.allCases)
    func aBatchOfLongValuesEndsWithTheTimeOfTheTransaction(_ kind: StoreKind) throws {
        // Given a short record and a long one
        let fixture = try StoreFixture(kind)
        try fixture.put("a/short", #"{"n":1}"#)
        try fixture.put("a/long", #"{"n":1,"pad":"\#(String(repeating: "x", count: 200_000))"}"#)
        let short = try (1...3).map { try Write($0, "a/short", .increment("/n")) }
        let long = try (4...6).map { try Write($0, "a/long", .increment("/n")) }
        let passed = TransactionDeadline(at: 0) { 0 }
        // When the time is over at once
        let first = try batch(short + long, in: fixture, room: 1 << 20, editLimit: 1 << 20, deadline: passed)
        let second = try batch(Array(long[1...]), in: fixture, room: 1 << 20, isAtomic: true, editLimit: 1 << 20, deadline: passed)
        // Then short writes are done, and the first long one; an atomic batch is done whole
        #expect(try first.result.get().map(\.number) == [1, 2, 3, 4])
        #expect(try second.result.get().map(\.brief) == ["5 applied 7", "6 applied 8"])
    }

    private func batch(
        _ writes: [Write], in fixture: StoreFixture, room: Int, isAtomic: Bool = false, editLimit: Int = 100,
        deadline: TransactionDeadline = .none
    ) throws -> Committed<[WriteOutcome]> {
        let recorder = CompletionRecorder<[WriteOutcome]>()
        let batch = WriteBatch(client: try ClientIdentifier("phone"), atomic: isAtomic, writes: writes)
        try GroupCommit.commit(
            [.batch(batch, in: fixture.namespace, then: recorder.record)], to: fixture.store, at: Timestamp(milliseconds: 1),
            editLimit: editLimit, room: room, deadline: deadline
        ).complete()
        return try recorder.once()
    }

    @Test(arguments: StoreKind.allCases)
    func aBatchEndsWhereItsDeletesHaveFreedEnough(_ kind: StoreKind) throws {
        // Given four records of 100 bytes
        let fixture = try StoreFixture(kind)
        for place in 1...4 { try fixture.put("a/\(place)", "\"\(String(repeating: "x", count: 98))\"") }
        let deletes = try (1...4).map { try Write(Int64($0), "a/\($0)", .delete) }
        // When they are deleted where 200 bytes may be freed
        let first = try batch(deletes, in: fixture, room: 100)
        // Then the first two are, and the response says so
        #expect(try first.result.get().map(\.brief) == ["1 applied 5", "2 applied 6"])
        // When the rest is, all or nothing, where 100 bytes may be freed
        let atomic = try batch(Array(deletes[2...]), in: fixture, room: 50, isAtomic: true)
        // Then neither is, and the answer says why
        #expect(try atomic.result.get().map(\.brief) == ["3 rejected batch-rejected", "4 rejected too-large"])
        #expect(try fixture.value("a/3") != nil)
    }

    @Test(arguments: StoreKind.allCases)
    func puttingAsMuchInThePlaceOfARecordFreesNothing(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        for place in 1...4 { try fixture.put("a/\(place)", #""1234567890""#) }
        // When values of the same size take their places, and shorter ones those
        let same = try (1...4).map { try Write(Int64($0), "a/\($0)", .put(json: #""abcdefghij""#)) }
        let shorter = try (1...4).map { try Write(Int64($0 + 4), "a/\($0)", .put(json: #""ab""#)) }
        let results = try [same, shorter].map { try batch($0, in: fixture, room: 4).result.get().count }
        // Then only the shorter ones fill a transaction that may free 8 bytes
        #expect(results == [4, 1])
    }

    @Test func aTransactionThatHasTakenItsTimeTakesNoFurtherSubmission() throws {
        // Given four writes, and a clock by which the second takes too long
        let fixture = try StoreFixture(.memory)
        let recorders = (0..<4).map { _ in CompletionRecorder<SingleReceipt>() }
        let submissions = try recorders.enumerated().map { place, recorder in
            let write = SingleWrite(key: try RecordKey("a/\(place)"), operation: .put(json: "1"))
            return Submission.single(write, in: fixture.namespace, then: recorder.record)
        }
        let time = Mutex<Int64>(0)
        let deadline = TransactionDeadline(at: 2) {
            time.withLock { time in
                time += 1
                return time
            }
        }
        // When
        let group = try GroupCommit.commit(
            submissions, to: fixture.store, at: Timestamp(milliseconds: 1), editLimit: 100, deadline: deadline)
        group.complete()
        // Then the others are left for the next
        #expect(group.rest.count == 2 && group.commits.map(\.changes.count) == [2])
        #expect(try fixture.value("a/1") == "1" && fixture.value("a/2") == nil)
    }
}
