import FreshetWire
import Synchronization
import Testing

@testable import FreshetServer

/// The bounds of one transaction, for which all writers wait.
@Suite struct TransactionBoundTests {
    /// What became of a batch.
    private struct Outcome {
        /// How many changes each transaction made.
        var changes: [Int]
        var answer: Committed<[WriteOutcome]>
        var briefs: [String] { (try? answer.result.get().map(\.brief)) ?? [] }
    }

    /// Commits a batch in as many transactions as it takes, and runs the closure after each but the last.
    private func commit(
        _ writes: [Write], in fixture: StoreFixture, room: Int = .max, portion: Int = .max, isAtomic: Bool = false, epoch: Epoch? = nil,
        editLimit: Int = 100, deadline: TransactionDeadline = .none, between: (Submission) throws -> Bool = { _ in true }
    ) throws -> Outcome {
        let recorder = CompletionRecorder<[WriteOutcome]>()
        let batch = WriteBatch(client: try ClientIdentifier("phone"), epoch: epoch, atomic: isAtomic, writes: writes)
        var waiting = [Submission.batch(batch, in: fixture.namespace, then: recorder.record)]
        var changes: [Int] = []
        while !waiting.isEmpty {
            let group = try GroupCommit.commit(
                waiting, to: fixture.store, at: WriteTime(milliseconds: 1), editLimit: editLimit, room: room, portion: portion,
                deadline: deadline)
            group.complete()
            changes.append(group.commits.reduce(0) { $0 + $1.changes.count })
            waiting = group.rest
            if let rest = waiting.first, try !between(rest) { break }
        }
        return Outcome(changes: changes, answer: try recorder.once())
    }

    @Test(arguments: StoreKind.allCases)
    func aBatchGoesOnInTheNextTransactionWhereItsEditsHaveDoneEnough(_ kind: StoreKind) throws {
        // Given a record whose increment makes 12 bytes, and a batch of five of them
        let fixture = try StoreFixture(kind)
        try fixture.put("a/1", #"{"abcd":100}"#)
        let writes = try (1...7).map { try Write($0, "a/1", .increment("/abcd")) }
        // When it is sent where two edits are enough, which is seen at the third: one read, two made
        let first = try commit(Array(writes[..<5]), in: fixture, room: 36)
        // Then three transactions do all of it, and one answer says so
        #expect(first.changes == [2, 2, 1])
        #expect(first.briefs == ["1 applied 2", "2 applied 3", "3 applied 4", "4 applied 5", "5 applied 6"])
        #expect(first.answer.lastWrite == 5 && first.answer.cursor?.revision.number == 6)
        #expect(try fixture.value("a/1") == #"{"abcd":105}"#)
        // When the whole is sent again, as after a lost response
        let second = try commit(Array(writes[..<5]), in: fixture, room: 1)
        // Then the writes are answered again, and not done
        #expect(second.changes == [0] && second.briefs == first.briefs)
        // When others are sent, all or nothing
        let atomic = try commit(Array(writes[5...]), in: fixture, room: 1, isAtomic: true)
        // Then nothing of it is done, and the answer says why
        #expect(atomic.briefs == ["6 rejected batch-rejected", "7 rejected too-large"])
        #expect(try fixture.value("a/1") == #"{"abcd":105}"#)
    }

    @Test(arguments: [true, false])
    func aBatchIsAnsweredWithoutItsRestOnlyWhereTheRestHasHadNoEffect(_ isUnknown: Bool) throws {
        // Given a batch whose first portion is stored
        let lost = StoreError.outcomeUnknown(path: "the store", reason: "the connection was lost")
        let undone = StoreError.unavailable(path: "the store", reason: "it is stopped")
        let memory = MemoryRecordStore(seed: 1)
        let fixture = try StoreFixture(over: memory)
        let recorder = CompletionRecorder<[WriteOutcome]>()
        let writes = try (1...4).map { try Write($0, "a/\($0)", .put(json: #""12345678""#)) }
        let batch = WriteBatch(client: try ClientIdentifier("phone"), epoch: nil, atomic: false, writes: writes)
        let first = try GroupCommit.commit(
            [.batch(batch, in: fixture.namespace, then: recorder.record)], to: memory, at: WriteTime(milliseconds: 1), editLimit: 100,
            portion: 20)
        first.complete()
        // When the transaction of the rest fails
        let failing = ObservedStore(memory, failure: { isUnknown ? .stored(lost) : .undone(undone) })
        #expect(throws: StoreError.self) {
            try GroupCommit.commit(first.rest, to: failing, at: WriteTime(milliseconds: 2), editLimit: 100)
        }
        // Then a response states the first outcomes only if the rest is undecided
        switch try recorder.once().result {
        case .success(let outcomes): #expect(!isUnknown && outcomes.map(\.brief) == ["1 applied 1", "2 applied 2"])
        case .failure(let problem): #expect(isUnknown && problem.code == .outcomeUnknown)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aBatchStoresAPortionInEachTransaction(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        let writes = try (1...5).map { try Write(Int64($0), "a/\($0)", .put(json: #""12345678""#)) }
        let others = try (6...8).map { try Write(Int64($0), "a/\($0)", .put(json: #""12345678""#)) }
        // When values of 10 bytes are put where a transaction stores 20
        let parts = try commit(writes, in: fixture, portion: 20)
        let whole = try commit(others, in: fixture, portion: 20, isAtomic: true)
        // Then the batch takes three transactions, and an atomic one is done at once
        #expect(parts.changes == [2, 2, 1] && parts.briefs.count == 5 && parts.answer.lastWrite == 5)
        #expect(whole.changes == [3])
    }

    @Test(arguments: StoreKind.allCases)
    func theRestOfABatchThatIsRefusedIsLeftToTheClient(_ kind: StoreKind) throws {
        // Given a batch of which a transaction does one write
        let fixture = try StoreFixture(kind)
        let writes = try (1...3).map { try Write(Int64($0), "a/\($0)", .put(json: "1")) }
        // When the disk is full after two
        var transactions = 0
        let outcome = try commit(writes, in: fixture, portion: 1) { rest in
            transactions += 1
            if transactions == 2 { rest.refuse(Problem(.storageFull, "full")) }
            return transactions < 2
        }
        // Then the answer holds these two
        #expect(outcome.briefs == ["1 applied 1", "2 applied 2"])
        #expect(outcome.answer.lastWrite == 2 && outcome.answer.cursor?.revision.number == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func theRestOfABatchIsNotDoneInAnotherHistory(_ kind: StoreKind) throws {
        // Given a batch for the epoch, of which a transaction does one write
        let fixture = try StoreFixture(kind)
        try fixture.put("a/0", "1")
        let epoch = try fixture.store.transaction { try $0.namespace(fixture.namespace).state.epoch }
        let writes = try (1...3).map { try Write(Int64($0), "a/\($0)", .put(json: "1")) }
        // When the namespace is dropped after the first
        let outcome = try commit(writes, in: fixture, portion: 1, epoch: epoch) { _ in
            try fixture.store.transaction { _ = try $0.drop(fixture.namespace) }
            return true
        }
        // Then the answer holds the first, at its position, and the others are not done
        #expect(outcome.briefs == ["1 applied 2"])
        #expect(outcome.answer.cursor?.epoch == epoch && outcome.answer.cursor?.revision.number == 2)
        #expect(try fixture.value("a/2") == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func aBatchWithARejectionThatShowsARecordEndsWithItsTransaction(_ kind: StoreKind) throws {
        // Given a batch whose first write meets another revision
        let fixture = try StoreFixture(kind)
        try fixture.put("a/1", "1")
        let writes = try [
            Write(1, "a/1", .put(json: "2"), ifRevision: 9), Write(2, "a/2", .put(json: "1")), Write(3, "a/1", .put(json: "3")),
        ]
        // When a transaction does two writes
        let outcome = try commit(writes, in: fixture, portion: 1)
        // Then the answer ends before the write that would change the record that it shows
        #expect(outcome.briefs == ["1 rejected precondition-failed", "2 applied 2"] && outcome.answer.lastWrite == 2)
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
                waiting, to: fixture.store, at: WriteTime(milliseconds: 1), editLimit: 100, room: 40)
            group.complete()
            counts.append(waiting.count - group.rest.count)
            waiting = group.rest
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
        let first = try commit(short + long, in: fixture, editLimit: 1 << 20, deadline: passed)
        // Then short writes are done, and the first long one; the other two take a transaction each
        #expect(first.changes == [4, 1, 1])
        // When the batch is atomic
        let more = try (7...8).map { try Write($0, "a/long", .increment("/n")) }
        let second = try commit(more, in: fixture, isAtomic: true, editLimit: 1 << 20, deadline: passed)
        // Then it is done whole
        #expect(second.changes == [2])
    }

    @Test(arguments: StoreKind.allCases)
    func aBatchGoesOnInTheNextTransactionWhereItsDeletesHaveFreedEnough(_ kind: StoreKind) throws {
        // Given six records of 100 bytes
        let fixture = try StoreFixture(kind)
        for place in 1...6 { try fixture.put("a/\(place)", "\"\(String(repeating: "x", count: 98))\"") }
        let deletes = try (1...6).map { try Write(Int64($0), "a/\($0)", .delete) }
        // When four are deleted where 200 bytes may be freed
        let first = try commit(Array(deletes[..<4]), in: fixture, room: 100)
        // Then each transaction deletes two
        #expect(first.changes == [2, 2] && first.briefs.count == 4)
        // When the rest is, all or nothing, where 100 bytes may be freed
        let atomic = try commit(Array(deletes[4...]), in: fixture, room: 25, isAtomic: true)
        // Then neither is, and the answer says why
        #expect(atomic.briefs == ["5 rejected batch-rejected", "6 rejected too-large"])
        #expect(try fixture.value("a/5") != nil)
        // When short values replace them
        let puts = try (7...8).map { try Write(Int64($0), "a/\($0 - 2)", .put(json: "1")) }
        let second = try commit(puts, in: fixture, room: 49)
        // Then each takes a transaction, since it frees a little less than its record has
        #expect(second.changes == [1, 1])
        // And so does one that replaces the largest value
        #expect(GroupCommit.room <= (RecordServerConfiguration().bodyBytes - GroupCommit.portion) / 2)
    }

    @Test(arguments: StoreKind.allCases)
    func puttingAsMuchInThePlaceOfARecordFreesNothing(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        for place in 1...4 { try fixture.put("a/\(place)", #""1234567890""#) }
        // When values of the same size take their places, and shorter ones those
        let same = try (1...4).map { try Write(Int64($0), "a/\($0)", .put(json: #""abcdefghij""#)) }
        let shorter = try (1...4).map { try Write(Int64($0 + 4), "a/\($0)", .put(json: #""ab""#)) }
        let changes = try [same, shorter].map { try commit($0, in: fixture, room: 4).changes }
        // Then only the shorter ones fill a transaction that may free 8 bytes
        #expect(changes == [[4], [1, 1, 1, 1]])
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
            submissions, to: fixture.store, at: WriteTime(milliseconds: 1), editLimit: 100, deadline: deadline)
        group.complete()
        // Then the others are left for the next
        #expect(group.rest.count == 2 && group.commits.map(\.changes.count) == [2])
        #expect(try fixture.value("a/1") == "1" && fixture.value("a/2") == nil)
    }

    @Test("an atomic batch is not judged by the work of others in its transaction", arguments: StoreKind.allCases)
    func anAtomicBatchHasTheWholeRoom(_ kind: StoreKind) throws {
        // Given two increments of others, which use up the room, and an atomic batch that touches as much
        let fixture = try StoreFixture(kind)
        try fixture.put("a/1", #"{"abcd":100}"#)
        let increment = try Write(1, "a/1", .increment("/abcd"))
        let others = CompletionRecorder<SingleReceipt>()
        let atomic = CompletionRecorder<[WriteOutcome]>()
        let batch = WriteBatch(
            client: try ClientIdentifier("phone"), atomic: true, writes: try (1...2).map { try Write($0, "a/1", .increment("/abcd")) })
        let submissions = [
            Submission.single(SingleWrite(key: increment.key, operation: increment.operation), in: fixture.namespace, then: others.record),
            Submission.batch(batch, in: fixture.namespace, then: atomic.record),
        ]
        // When one transaction takes both, of which a third edit would find no room
        let group = try GroupCommit.commit(
            submissions, to: fixture.store, at: WriteTime(milliseconds: 1), editLimit: 100, room: 40)
        group.complete()
        // Then the batch is done as if it were alone
        #expect(group.rest.isEmpty)
        #expect(try atomic.once().result.get().map(\.brief) == ["1 applied 3", "2 applied 4"])
    }

    @Test("a write of a thousand is found without the others", arguments: StoreKind.allCases)
    func aRepeatDecodesFewOutcomes(_ kind: StoreKind) throws {
        // Given a device with many rejected writes
        let fixture = try StoreFixture(kind)
        let writes = try (1...300).map { try Write(Int64($0), "a/\($0)", .delete, ifRevision: 9) }
        #expect(try commit(writes, in: fixture).briefs.count == 300)
        // When the store reads the outcome of one, and of all
        let client = try ClientIdentifier("phone")
        let (one, all) = try fixture.store.transaction { transaction in
            let namespace = try transaction.namespace(fixture.namespace)
            return (try namespace.outcomes(of: 150...150, by: client), try namespace.outcomes(of: 1...300, by: client))
        }
        // Then it decodes a part of what it has
        #expect(one.outcomes.map(\.number) == [150] && all.outcomes.map(\.number) == Array(1...300))
        #expect(one.bytes <= all.bytes / 8)
    }

    @Test("a batch reads the outcomes of a former name once, and ends its transaction after many names", arguments: StoreKind.allCases)
    func originsAreReadOnce(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        func write(_ number: Int64, from name: String) throws -> Write {
            var write = try Write(number, "a/\(number)", .put(json: "1"))
            write.nonce = number
            write.origin = Write.Origin(client: try ClientIdentifier(name), number: number)
            return write
        }
        // When 40 writes come that a device had under one former name, where a transaction touches what 16 names count
        let one = try commit((1...40).map { try write($0, from: "kiosk") }, in: fixture, room: 1 << 20)
        // Then one transaction does them
        #expect(one.changes == [40])
        // When each has another former name
        let many = try commit((41...80).map { try write($0, from: "kiosk.\($0)") }, in: fixture, room: 1 << 20)
        // Then three do
        #expect(many.changes == [16, 16, 8] && many.briefs.count == 40)
    }
}
