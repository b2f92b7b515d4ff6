import FreshetServer
import FreshetWire
import Testing

@Suite struct NumberedWritesTests {
    @Test(arguments: StoreKind.allCases)
    func eachWriteTakesEffectOnceHoweverOftenItComes(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        let writes = try [
            Write(1, "a/1", .put(json: "{\"n\":1}")), Write(2, "a/1", .increment("/n")), Write(3, "a/2", .delete),
            Write(4, "a/2", .patch(json: "{}")), Write(5, "a/1", .put(json: "0"), ifRevision: 1), Write(6, "a/1", .delete),
        ]
        let expected = [
            "1 applied 1", "2 applied 2", "3 applied -", "4 rejected not-found", "5 rejected precondition-failed", "6 applied 3",
        ]
        // When
        let first = try fixture.batch(writes)
        let again = try fixture.batch(writes)
        let one = try fixture.batch([writes[1]])
        // Then
        #expect(first == expected && again == expected && one == [expected[1]])
        #expect(try fixture.store.state(of: fixture.namespace).head.number == 3)
        #expect(try fixture.store.lastWrite(of: ClientIdentifier("phone"), in: fixture.namespace).value == 6)
    }

    @Test(arguments: StoreKind.allCases)
    func aBatchThatOverlapsGoesOnWhereItLeftOff(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        let writes = try (1...6).map { try Write(Int64($0), "a/counter", .increment("")) }
        _ = try fixture.batch(Array(writes[..<4]))
        // When
        let verdicts = try fixture.batch(Array(writes[2...]))
        // Then
        #expect(verdicts == ["3 applied 3", "4 applied 4", "5 applied 5", "6 applied 6"])
        #expect(try fixture.value("a/counter") == "6")
    }

    @Test(arguments: StoreKind.allCases)
    func aGapRefusesTheWholeBatchWithTheNumberExpected(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        _ = try fixture.batch([Write(1, "a/1", .put(json: "1"))])
        // When
        let batch = WriteBatch(client: try ClientIdentifier("phone"), writes: [try Write(3, "a/1", .put(json: "3"))])
        let committed = try fixture.commit { .batch(batch, in: fixture.namespace, then: $0) }
        // Then
        guard case .failure(let problem) = committed.result else { throw Unexpected(what: "the gap was accepted") }
        #expect(problem.code == .writeGap && problem.expected == 2)
        #expect(try committed.cursor == fixture.cursor(1))
        #expect(try fixture.value("a/1") == "1")
    }

    @Test(arguments: StoreKind.allCases)
    func aBatchOfAnotherHistoryHasNoEffect(_ kind: StoreKind) throws {
        // Given: the first write had its verdict in a history that the restored back-up does not have
        let fixture = try StoreFixture(kind)
        let old = try fixture.cursor(0).epoch
        let delayed = try batch(of: old, Write(1, "a/1", .put(json: "\"of before\"")))
        try fixture.commit { .rotateEpochs(seed: 7, then: $0) }.result.get()
        let present = try fixture.cursor(0).epoch
        // When
        let refused = try fixture.commit { .batch(delayed, in: fixture.namespace, then: $0) }
        // Then
        guard case .failure(let problem) = refused.result else { throw Unexpected(what: "it was applied in \(present)") }
        #expect(problem.code == .epochChanged && problem.status == 410)
        #expect(problem.detail.contains(old.token) && problem.detail.contains(present.token))
        #expect(try refused.cursor == fixture.cursor(0))
        #expect(try fixture.value("a/1") == nil)
        #expect(try fixture.store.lastWrite(of: ClientIdentifier("phone"), in: fixture.namespace).value == 0)
        // When: the next goes on without it
        let next = try batch(of: present, resume: true, Write(2, "a/2", .put(json: "1")))
        let outcomes = try fixture.commit { .batch(next, in: fixture.namespace, then: $0) }.result.get()
        // Then
        #expect(outcomes.map(\.brief) == ["2 applied 1"])
        #expect(try fixture.commit { .batch(next, in: fixture.namespace, then: $0) }.result.get() == outcomes)
    }

    @Test(arguments: StoreKind.allCases)
    func aBatchThatResumesGoesOnFromItsFirstNumberAndSettlesThoseThatItLeavesOut(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        _ = try fixture.batch([Write(1, "a/1", .put(json: "1")), Write(2, "a/2", .put(json: "2"))])
        let epoch = try fixture.cursor(0).epoch
        let resuming = try batch(of: epoch, resume: true, Write(41, "a/1", .increment("")), Write(42, "a/1", .increment("")))
        // When
        let outcomes = try fixture.commit { .batch(resuming, in: fixture.namespace, then: $0) }.result.get()
        // Then: again is a repeat
        #expect(outcomes.map(\.brief) == ["41 applied 3", "42 applied 4"])
        #expect(try fixture.commit { .batch(resuming, in: fixture.namespace, then: $0) }.result.get() == outcomes)
        #expect(try fixture.value("a/1") == "3")
        #expect(try fixture.store.lastWrite(of: ClientIdentifier("phone"), in: fixture.namespace).value == 42)
        // Then: a number that this history decided has its outcome, and one that it left out has none
        let before = try [1, 2, 3, 40, 41].map { try fixture.batch([Write($0, "a/1", .put(json: "0"))]) }
        #expect(before == [["1 applied 1"], ["2 applied 2"], ["3 settled"], ["40 settled"], ["41 applied 3"]])
        // Then: another gap is still refused, and the next number needs no `resume`
        let gap = try batch(of: epoch, Write(44, "a/1", .put(json: "0")))
        guard case .failure(let problem) = try fixture.commit({ .batch(gap, in: fixture.namespace, then: $0) }).result else {
            throw Unexpected(what: "the gap was accepted")
        }
        #expect(problem.code == .writeGap && problem.expected == 43 && problem.detail.contains("'resume'"))
        #expect(try fixture.batch([Write(43, "a/1", .increment(""))]) == ["43 applied 5"])
    }

    @Test(arguments: StoreKind.allCases)
    func aBatchThatResumesWhereNothingIsLeftOutIsLikeAnyOther(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        _ = try fixture.batch([Write(1, "a/1", .increment("")), Write(2, "a/1", .increment(""))])
        // When
        let overlapping = try batch(
            of: fixture.cursor(0).epoch, resume: true, Write(2, "a/1", .increment("")), Write(3, "a/1", .increment("")))
        let outcomes = try fixture.commit { .batch(overlapping, in: fixture.namespace, then: $0) }.result.get()
        // Then
        #expect(outcomes.map(\.brief) == ["2 applied 2", "3 applied 3"])
        #expect(try fixture.batch([Write(1, "a/1", .increment(""))]) == ["1 applied 1"])
        #expect(try fixture.value("a/1") == "3")
    }

    @Test(arguments: StoreKind.allCases)
    func aBatchThatResumesInAnotherHistoryLeavesTheLedgerAlone(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        _ = try fixture.batch([Write(1, "a/1", .put(json: "1"))])
        let other = try batch(of: #require(Epoch("other")), resume: true, Write(41, "a/1", .put(json: "2")))
        // When
        let refused = try fixture.commit { .batch(other, in: fixture.namespace, then: $0) }
        // Then
        #expect(throws: Problem.self) { try refused.result.get() }
        #expect(try fixture.batch([Write(1, "a/1", .put(json: "0")), Write(2, "a/1", .delete)]) == ["1 applied 1", "2 applied 2"])
    }

    @Test(arguments: StoreKind.allCases)
    func anAtomicBatchThatResumesAndIsRejectedUsesUpItsNumbers(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        let writes = try [Write(41, "a/1", .put(json: "1")), Write(42, "a/2", .patch(json: "{}"))]
        let batch = try WriteBatch(
            client: ClientIdentifier("phone"), epoch: fixture.cursor(0).epoch, resume: true, atomic: true, writes: writes)
        // When
        let outcomes = try fixture.commit { .batch(batch, in: fixture.namespace, then: $0) }.result.get()
        // Then
        #expect(outcomes.map(\.brief) == ["41 rejected batch-rejected", "42 rejected not-found"])
        #expect(try fixture.commit { .batch(batch, in: fixture.namespace, then: $0) }.result.get() == outcomes)
        #expect(try fixture.batch([Write(43, "a/1", .put(json: "3"))]) == ["43 applied 1"])
    }

    @Test(arguments: StoreKind.allCases)
    func theHistoryIsThatOfTheTransactionNotOfTheArrival(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        try fixture.put("a/1", "1")
        let batch = try batch(of: fixture.cursor(0).epoch, Write(1, "a/1", .put(json: "2")))
        let dropped = CompletionRecorder<Bool>()
        let recorder = CompletionRecorder<[WriteOutcome]>()
        // When: the namespace is dropped in the same group, before it
        try GroupCommit.commit(
            [.drop(fixture.namespace, then: dropped.record), .batch(batch, in: fixture.namespace, then: recorder.record)],
            to: fixture.store,
            at: WriteTime(milliseconds: 1_000), editLimit: 1_000
        ).complete()
        // Then
        guard case .failure(let problem) = try recorder.once().result else { throw Unexpected(what: "it was applied") }
        #expect(try problem.code == .epochChanged && dropped.once().result.get())
        #expect(try fixture.value("a/1") == nil)
    }

    private func batch(of epoch: Epoch, resume: Bool = false, _ writes: Write...) throws -> WriteBatch {
        WriteBatch(client: try ClientIdentifier("phone"), epoch: epoch, resume: resume, writes: writes)
    }

    @Test(arguments: StoreKind.allCases)
    func devicesAndNamespacesCountForThemselves(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        // When, then
        #expect(try fixture.batch([Write(1, "a/1", .put(json: "1"))], by: "phone") == ["1 applied 1"])
        #expect(try fixture.batch([Write(1, "a/1", .put(json: "2"))], by: "tablet") == ["1 applied 2"])
        let batch = WriteBatch(client: try ClientIdentifier("phone"), writes: [try Write(1, "a/1", .put(json: "3"))])
        let other = try Namespace("other")
        #expect(try fixture.commit { .batch(batch, in: other, then: $0) }.result.get().map(\.brief) == ["1 applied 1"])
    }

    @Test(arguments: StoreKind.allCases)
    func theLatestThousandOutcomesAreKept(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        for start in stride(from: Int64(1), to: 1_240, by: 31) {
            _ = try fixture.batch((start..<start + 31).map { try Write($0, "a/1", .put(json: "\($0)")) })
        }
        // When
        let verdicts = try fixture.batch([239, 240, 241, 1_240].map { try Write($0, "a/1", .put(json: "0")) })
        // Then
        #expect(verdicts == ["239 settled", "240 settled", "241 applied 241", "1240 applied 1240"])
        #expect(try fixture.value("a/1") == "1240")
    }

    @Test(arguments: StoreKind.allCases)
    func aRejectionIsReplayedWithTheRecordAsItThenIs(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        try fixture.put("a/1", "1")
        let write = try Write(1, "a/1", .put(json: "2"), ifRevision: 9)
        let batch = WriteBatch(client: try ClientIdentifier("phone"), writes: [write])
        func problem() throws -> Problem? {
            let outcomes = try fixture.commit { .batch(batch, in: fixture.namespace, then: $0) }.result.get()
            guard case .rejected(let problem)? = outcomes.first?.verdict else { return nil }
            return problem
        }
        // When
        let first = try problem()
        try fixture.put("a/1", "3")
        let second = try problem()
        try fixture.write("a/1", .delete)
        let third = try problem()
        // Then
        #expect(first?.current?.revision.number == 1)
        #expect(second?.current?.revision.number == 2)
        #expect(third != nil && third?.current == nil)
        #expect(first?.detail == third?.detail && third?.status == 412)
    }

    @Test(arguments: StoreKind.allCases)
    func outcomesOfManyBatchesAreReplayedInOneRequest(_ kind: StoreKind) throws {
        // Given batches of one, two and three writes, of which every second write is rejected
        let fixture = try StoreFixture(kind)
        let writes = try (1...6).map { try Write(Int64($0), "a/\($0)", .put(json: "1"), ifRevision: $0 % 2 == 0 ? 99 : nil) }
        let first = try [writes[0...0], writes[1...2], writes[3...5]].flatMap { try fixture.batch(Array($0)) }
        // When all are sent again, then some, then some with a new one after them
        let again = try fixture.batch(writes)
        let some = try fixture.batch(Array(writes[2...4]))
        let more = try fixture.batch(Array(writes[1...]) + [Write(7, "a/7", .delete)])
        // Then each has the outcome that it had
        #expect(first[1] == "2 rejected precondition-failed" && first[4] == "5 applied 3")
        #expect(again == first && some == Array(first[2...4]) && more == Array(first[1...]) + ["7 applied -"])
    }

    @Test(arguments: StoreKind.allCases)
    func anAtomicBatchIsAppliedWholeOrNotAtAll(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        try fixture.put("a/1", "1")
        try fixture.invalidate(.key(RecordKey("a/2")))
        let writes = try [
            Write(1, "a/1", .put(json: "2")), Write(2, "a/2", .put(json: "2")), Write(3, "a/1", .put(json: "3"), ifRevision: 1),
            Write(4, "a/1", .delete),
        ]
        let before = try fixture.changes(since: .after(fixture.cursor(0)))
        // When
        let batch = WriteBatch(client: try ClientIdentifier("phone"), atomic: true, writes: writes)
        let outcomes = try fixture.commit { .batch(batch, in: fixture.namespace, then: $0) }.result.get()
        // Then
        let expected = [
            "1 rejected batch-rejected", "2 rejected batch-rejected", "3 rejected precondition-failed", "4 rejected batch-rejected",
        ]
        #expect(outcomes.map(\.brief) == expected)
        guard case .rejected(let problem) = outcomes[2].verdict else { throw Unexpected(what: "applied") }
        #expect(problem.current?.revision.number == 1 && problem.current?.size == 1, "what the batch had done is nobody's to see")
        #expect(try fixture.changes(since: .after(fixture.cursor(0))) == before)
        #expect(try fixture.store.state(of: fixture.namespace).bytes == 1)
        // The numbers are used up.
        #expect(try fixture.batch(writes, atomic: true) == expected)
        #expect(
            try fixture.batch([Write(5, "a/1", .put(json: "5")), Write(6, "a/3", .put(json: "6"))], atomic: true) == [
                "5 applied 3", "6 applied 4",
            ])
    }

    @Test(arguments: StoreKind.allCases)
    func anAtomicBatchWithAPartRejectedBeforeIsRejected(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        _ = try fixture.batch([Write(1, "a/1", .patch(json: "{}"))])
        // When
        let verdicts = try fixture.batch([Write(1, "a/1", .patch(json: "{}")), Write(2, "a/2", .put(json: "2"))], atomic: true)
        // Then
        #expect(verdicts == ["1 rejected not-found", "2 rejected batch-rejected"])
        #expect(try fixture.value("a/2") == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func aNumberThatComesTwiceInOneRequestOrOneGroupIsAppliedOnce(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        let client = try ClientIdentifier("phone")
        let write = try Write(1, "a/1", .increment(""))
        let twice = WriteBatch(client: client, writes: [write, write])
        let single = SingleWrite(key: write.key, operation: write.operation, author: .init(client: client, write: 1))
        let (first, second) = (CompletionRecorder<[WriteOutcome]>(), CompletionRecorder<SingleReceipt>())
        // When
        let group = try GroupCommit.commit(
            [.single(single, in: fixture.namespace, then: second.record), .batch(twice, in: fixture.namespace, then: first.record)],
            to: fixture.store, at: WriteTime(milliseconds: 1), editLimit: 100)
        group.complete()
        // Then
        #expect(try first.once().result.get().map(\.brief) == ["1 applied 1", "1 applied 1"])
        #expect(try second.once().result.get() == SingleReceipt(revision: Revision(1), created: true))
        #expect(try fixture.value("a/1") == "1")
        #expect(group.commits.map(\.changes.count) == [1])
    }

    @Test(arguments: StoreKind.allCases)
    func aSingleNumberedWriteThatIsBadUsesUpItsNumber(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        func single(_ number: Int64, _ operation: WriteOperation) throws -> Committed<SingleReceipt> {
            let author = Change.Author(client: try ClientIdentifier("phone"), write: number)
            let write = SingleWrite(key: try RecordKey("a/1"), operation: operation, author: author)
            return try fixture.commit { .single(write, in: fixture.namespace, then: $0) }
        }
        // When
        let bad = try single(1, .put(json: "{"))
        let again = try single(1, .put(json: "{}"))
        let absent = try single(2, .delete)
        let good = try single(3, .put(json: "{}"))
        // Then
        #expect(throws: Problem.self) { try bad.result.get() }
        #expect(throws: Problem.self) { try again.result.get() }
        #expect(try absent.result.get() == SingleReceipt(revision: nil, created: false))
        #expect(try good.result.get().revision?.number == 1)
    }
}
