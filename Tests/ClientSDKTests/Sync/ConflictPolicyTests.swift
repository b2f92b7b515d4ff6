import FreshetWire
import Testing

@testable import FreshetClient

/// Two writers, one record.
@Suite struct ConflictPolicyTests {
    private let merge = ConflictPolicy.merge(MergeName("m"))

    private func live() -> Scene { Scene.live(holding: [Scene.put("c/1", 4, "1")]) }

    @Test func theLastWriterWinsUnlessToldOtherwise() {
        // Given
        var scene = live()
        // When
        scene.put("c/1", "2")
        // Then
        #expect(scene.batch.first?.ifRevision == nil)
    }

    @Test func rejectIfChangedNamesTheRevisionThatTheUserSaw() {
        // Given
        var scene = live()
        // When
        scene.put("c/1", "2", .rejectIfChanged)
        // Then
        #expect(scene.batch.first?.ifRevision == Scene.revision(4))
    }

    @Test func whereNothingIsKnownItCannotBeCompared() {
        // Given
        var scene = Scene.live(.cachedKeys)
        // When
        let callerID = scene.put("c/9", "2", .rejectIfChanged)
        // Then
        #expect(scene.failure(callerID) == .baseUnknown)
        #expect(scene.device.store.rows.isEmpty)
    }

    @Test(arguments: [ConflictPolicy.rejectIfChanged, .merge(MergeName("m"))])
    func aCopyOfEverythingKnowsThatThereIsNoRecord(policy: ConflictPolicy) {
        // Given
        var scene = Scene.live()
        // When
        scene.put("c/9", "2", policy)
        // Then
        #expect(scene.batch.map(\.ifRevision) == [.zero])
        #expect(scene.text("c/9") == "2")
    }

    @Test(arguments: [true, false]) func aCopyThatLacksSomethingDoesNotKnow(followsOthers: Bool) throws {
        // Given one that has heard nothing yet, and one that follows other collections
        var scene = followsOthers ? Scene.live(filter: try ChangeFilter(collections: ["d"])) : Scene(.everything)
        // When
        let callerID = scene.put("c/9", "2", .merge(MergeName("m")))
        // Then
        #expect(scene.failure(callerID) == .baseUnknown)
    }

    @Test func aKnownAbsenceIsRevisionZero() {
        // Given
        var scene = Scene.live(.cachedKeys)
        _ = scene.fetch("c/9")
        scene.answerFetch(.missing(Scene.position(10)))
        // When
        scene.put("c/9", "2", .rejectIfChanged)
        // Then
        #expect(scene.batch.first?.ifRevision == .zero)
    }

    @Test func aWriteOverOnesOwnWaitsForItsVerdict() {
        // Given
        var scene = live()
        scene.put("c/1", "2", .rejectIfChanged)
        scene.put("c/1", "3", .rejectIfChanged)
        scene.put("c/2", "4")
        #expect(scene.text("c/1") == "3")
        // When
        scene.results([Scene.applied(1, 11)], at: 11)
        // Then
        #expect(scene.batch.map(\.ifRevision) == [Scene.revision(11), nil])
        #expect(scene.row(2)?.precondition == .revision(Scene.revision(11)))
    }

    @Test func afterOnesOwnDeleteItIsZero() {
        // Given
        var scene = live()
        _ = scene.set("c/1", .delete)
        scene.put("c/1", "3", .rejectIfChanged)
        // When
        scene.results([Scene.applied(1, 11)], at: 11)
        // Then
        #expect(scene.batch.first?.ifRevision == .zero)
    }

    @Test func ifTheFirstIsRejectedTheSecondMeetsTheSameRecord() {
        // Given
        var scene = live()
        scene.put("c/1", "2", .rejectIfChanged)
        scene.put("c/1", "3", .rejectIfChanged)
        // When
        scene.results([Scene.rejected(1, current: Scene.record(Scene.key("c/1"), 9, Scene.json("x")))], at: 11)
        // Then
        #expect(scene.batch.first?.ifRevision == Scene.revision(4))
    }

    @Test func aRejectionBringsTheCurrentRecord() {
        // Given
        var scene = live()
        scene.put("c/1", "2", .rejectIfChanged)
        // When
        scene.results([Scene.rejected(1, current: Scene.record(Scene.key("c/1"), 12, Scene.json("x")))], at: 12)
        // Then
        #expect(scene.text("c/1") == "x")
        #expect(scene.stored("c/1")?.origin == .rejection)
        #expect(scene.verdict(1) != nil)
    }

    @Test func anOldRejectionDoesNotBringBackAnOldRecord() {
        // Given: the answer is lost, and the feed has moved on
        var scene = live()
        scene.put("c/1", "2", .rejectIfChanged)
        scene.replyToWrites(.failure(.interrupted("lost")))
        scene.page([Scene.put("c/1", 15, "new")], to: 15)
        scene.page([Scene.put("c/1", 15, "new")], to: 15, lastWrite: 1)
        scene.device.fireTimer()
        // When
        scene.results([Scene.rejected(1, current: Scene.record(Scene.key("c/1"), 12, Scene.json("old")))], at: 16)
        // Then
        #expect(scene.text("c/1") == "new")
    }

    @Test func aMergeGoesOnAsANewWrite() {
        // Given
        var scene = live()
        scene.put("c/1", "2", merge)
        // When
        scene.results([Scene.rejected(1, current: Scene.record(Scene.key("c/1"), 12, Scene.json("x")))], at: 12)
        // Then
        #expect(
            scene.device.merges == [
                MergeRequest(
                    writeID: LocalWriteID(1), key: Scene.key("c/1"), name: MergeName("m"), base: Scene.json("1"), mine: Scene.json("2"),
                    theirs: Scene.json("x"))
            ])
        #expect(scene.isPending("c/1"))
        #expect(scene.text("c/1") == "2")
        // When
        scene.device.handle(.merged(LocalWriteID(1), .put(Scene.json("both"))))
        scene.device.settleDisk()
        // Then
        #expect(scene.verdict(1) == .merged(into: LocalWriteID(2)))
        #expect(
            scene.batch == [
                Write(number: 2, key: Scene.key("c/1"), operation: .put(Scene.json("both")), ifRevision: Scene.revision(12))
            ])
        #expect(scene.text("c/1") == "both")
        scene.results([Scene.applied(2, 13)], at: 13)
        #expect(scene.verdict(2) == .applied(Scene.revision(13)))
    }

    @Test(
        "at a second conflict of the same write, the closure gets the user's value and its ancestor again, after a restart too",
        arguments: [false, true])
    func secondConflict(restarts: Bool) throws {
        // Given a write that was merged once, and whose merged value meets another change
        var scene = live()
        scene.put("c/1", "2", merge)
        scene.results([Scene.rejected(1, current: Scene.record(Scene.key("c/1"), 12, Scene.json("x")))], at: 12)
        scene.device.handle(.merged(LocalWriteID(1), .put(Scene.json("23"))))
        scene.device.settleDisk()
        if restarts {
            let row = try #require(scene.device.machine.inspection.outbox[Scene.key("c/1")]?.rows.first)
            #expect(try OutboxRow(json: row.json) == row && row.original == .put(Scene.json("2")))
        }
        // When
        scene.results([Scene.rejected(2, current: Scene.record(Scene.key("c/1"), 14, Scene.json("y")))], at: 14)
        // Then
        #expect(
            scene.device.merges.last
                == MergeRequest(
                    writeID: LocalWriteID(2), key: Scene.key("c/1"), name: MergeName("m"), base: Scene.json("1"), mine: Scene.json("2"),
                    theirs: Scene.json("y")))
        // And the third value is sent over the server's record
        scene.device.handle(.merged(LocalWriteID(2), .put(Scene.json("24"))))
        scene.device.settleDisk()
        #expect(
            scene.batch == [
                Write(number: 3, key: Scene.key("c/1"), operation: .put(Scene.json("24")), ifRevision: Scene.revision(14))
            ])
    }

    @Test func aMergeDoesNotWaitForTheBackOffOfOtherWrites() {
        // Given: rejected without the record, so it is read; meanwhile a batch of another key fails
        var scene = live()
        scene.put("c/1", "2", merge)
        scene.results([Scene.rejected(1)], at: 12)
        scene.put("c/2", "2")
        scene.replyToWrites(.problem(Problem(.overloaded, "busy"), cursor: nil, retryAfter: 60_000))
        // When
        scene.answerFetch(.missing(Scene.position(12)))
        // Then
        #expect(scene.device.merges.count == 1)
    }

    @Test func aMergeThatTheDiskDoesNotTakeIsAskedForAgainByTheTimer() {
        // Given
        var scene = live()
        scene.put("c/1", "2", merge)
        scene.results([Scene.rejected(1, current: Scene.record(Scene.key("c/1"), 12, Scene.json("x")))], at: 12)
        scene.device.merges = []
        scene.device.handle(.merged(LocalWriteID(1), .put(Scene.json("both"))))
        // When
        scene.device.failNext(.full)
        // Then: not at once, and not only when something else happens
        #expect(scene.device.merges.isEmpty)
        #expect((scene.device.deadline ?? .max) < scene.device.uptime + 1_000)
        scene.device.fireTimer()
        #expect(scene.device.merges.count == 1)
    }

    @Test func aReadForAMergeGoesOnAsSoonAsThereIsContact() {
        // Given: a long time without a network
        var scene = live()
        scene.put("c/1", "2", merge)
        scene.results([Scene.rejected(1)], at: 12)
        for _ in 0..<60 {
            for request in scene.device.open { scene.device.reply(request.id, .failure(.unreachable("no route"))) }
            scene.device.fireTimer()
        }
        for request in scene.device.open { scene.device.reply(request.id, .failure(.unreachable("no route"))) }
        while scene.feed == nil { scene.device.fireTimer() }
        for request in scene.fetches { scene.device.reply(request.id, .failure(.unreachable("no route"))) }
        #expect(scene.fetches.isEmpty)
        // When
        scene.page([], to: 12)
        // Then
        #expect(!scene.fetches.isEmpty)
    }

    @Test func contactDoesNotShortenWhatTheServerAskedFor() {
        // Given
        var scene = live()
        scene.put("c/1", "2", merge)
        scene.results([Scene.rejected(1)], at: 12)
        scene.answerFetch(.problem(Problem(.overloaded, "busy"), cursor: nil, retryAfter: 60_000))
        scene.replyToFeed(.failure(.unreachable("no route")))
        scene.device.fireTimer()
        // When
        scene.page([], to: 12)
        // Then
        #expect(scene.fetches.isEmpty)
    }

    @Test func theClosureMayYield() {
        // Given
        var scene = live()
        scene.put("c/1", "2", merge)
        scene.results([Scene.rejected(1, current: Scene.record(Scene.key("c/1"), 12, Scene.json("x")))], at: 12)
        // When
        scene.device.handle(.merged(LocalWriteID(1), .takeTheirs))
        scene.device.settleDisk()
        // Then
        #expect(scene.text("c/1") == "x")
        #expect(!scene.isPending("c/1"))
        if case .rejected? = scene.verdict(1) {} else { Issue.record("not reported") }
    }

    @Test func mergesAreBounded() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")]) { $0.mergeAttempts = 2 }
        scene.put("c/1", "2", merge)
        // When
        for attempt in Int64(1)...2 {
            scene.results(
                [Scene.rejected(attempt, current: Scene.record(Scene.key("c/1"), 10 + attempt, Scene.json("x")))], at: 10 + attempt)
            scene.device.handle(.merged(LocalWriteID(attempt), .put(Scene.json("both"))))
            scene.device.settleDisk()
        }
        scene.results([Scene.rejected(3, current: Scene.record(Scene.key("c/1"), 20, Scene.json("y")))], at: 20)
        // Then
        if case .rejected? = scene.verdict(3) {} else { Issue.record("it goes on for ever") }
        #expect(scene.text("c/1") == "y")
    }

    @Test func withoutTheCurrentRecordItIsReadFirst() {
        // Given
        var scene = live()
        scene.put("c/1", "2", merge)
        // When: deleted by another, so there is no current record
        scene.results([Scene.rejected(1)], at: 12)
        // Then
        #expect(scene.device.merges.isEmpty)
        scene.answerFetch(.missing(Scene.position(12)))
        #expect(scene.device.merges.first?.theirs == nil)
        #expect(scene.device.merges.count == 1)
        scene.device.handle(.merged(LocalWriteID(1), .put(Scene.json("2"))))
        scene.device.settleDisk()
        #expect(scene.batch.first?.ifRevision == .zero)
    }

    private static func outline(_ key: String, _ revision: Int64) -> Record {
        Record(
            key: Scene.key(key), revision: Scene.revision(revision), contentType: Content.json, size: 1 << 20,
            modified: Timestamp(milliseconds: 0))
    }

    @Test func aCurrentRecordThatIsShownWithoutItsValueIsReadBeforeTheMerge() {
        // Given
        var scene = live()
        scene.put("c/1", "2", merge)
        // When the record was too large to be shown
        scene.results([Scene.rejected(1, current: Self.outline("c/1", 12))], at: 12)
        // Then a response to an earlier read does not count
        #expect(scene.device.merges.isEmpty && scene.fetches.count == 1)
        scene.answerFetch(.record(Scene.record(Scene.key("c/1"), 12, Scene.json("x")), Scene.position(12)), lastWrite: 1)
        #expect(scene.device.merges.map(\.theirs) == [Scene.json("x")])
        // When the closure has merged it
        scene.device.handle(.merged(LocalWriteID(1), .put(Scene.json("both"))))
        scene.device.settleDisk()
        // Then
        #expect(scene.batch.first?.ifRevision == Scene.revision(12))
    }

    @Test func ofARecordThatIsShownWithoutItsValueACopyKnowsThatItIsThere() {
        // Given
        var scene = live()
        scene.put("c/1", "2", .rejectIfChanged)
        // When
        scene.results([Scene.rejected(1, current: Self.outline("c/1", 12))], at: 12)
        // Then it reads the value
        #expect(scene.view("c/1").value == .elsewhere && !scene.isPending("c/1") && scene.verdict(1) != nil)
        #expect(scene.stored("c/1")?.revision == Scene.revision(12) && scene.fetches.count == 1)
        let record = Scene.record(Scene.key("c/1"), 12, Scene.json("x"))
        scene.answerFetch(.reads(ReadsResponse(records: [record], missing: [], cursor: Scene.position(12))))
        #expect(scene.text("c/1") == "x")
    }

    @Test func theSameRevisionStaysThoughItIsShownWithoutItsValue() {
        // Given: the feed has brought the record that the write met
        var scene = live()
        scene.put("c/1", "2", .rejectIfChanged)
        scene.page([Scene.put("c/1", 12, "new")], to: 12)
        scene.page([Scene.put("c/1", 12, "new")], to: 12, lastWrite: 0)
        // When
        scene.results([Scene.rejected(1, current: Self.outline("c/1", 12))], at: 12)
        // Then
        #expect(scene.text("c/1") == "new")
    }

    @Test func whatIsKnownBeyondThePositionOfTheFeedIsNotEvictedForALargerRecord() {
        // Given a read that is ahead of the feed
        var scene = live()
        _ = scene.fetch("c/1")
        scene.answerFetch(.record(Scene.record(Scene.key("c/1"), 15, Scene.json("15")), Scene.position(15)))
        scene.put("c/1", "2", .rejectIfChanged)
        // When
        scene.results([Scene.rejected(1, current: Self.outline("c/1", 17))], at: 17)
        // Then an older page cannot bring back an older value
        #expect(scene.text("c/1") == "15")
        scene.page([Scene.put("c/1", 12, "12")], to: 12)
        #expect(scene.text("c/1") == "15")
        // When the feed comes to it
        scene.page([Scene.put("c/1", 17, nil)], to: 17)
        // Then
        #expect(scene.text("c/1") == "15" && scene.stored("c/1")?.needsRefresh == true)
    }

    @Test func aMergeSurvivesARestart() {
        // Given
        var scene = live()
        scene.put("c/1", "2", merge)
        scene.results([Scene.rejected(1, current: Scene.record(Scene.key("c/1"), 12, Scene.json("x")))], at: 12)
        // When
        scene.device.crash()
        scene.device.settleDisk()
        // Then
        #expect(scene.device.merges.first?.theirs == Scene.json("x"))
        #expect(scene.text("c/1") == "2")
        #expect(scene.isPending("c/1"))
    }

    @Test func aWriteOverOneThatIsBeingMergedDoesNotBlockTheQueue() {
        // Given
        var scene = live()
        scene.put("c/1", "2", merge)
        scene.results([Scene.rejected(1, current: Scene.record(Scene.key("c/1"), 12, Scene.json("x")))], at: 12)
        // When
        scene.put("c/1", "3", merge)
        scene.put("c/2", "4")
        // Then
        #expect(scene.batch.map(\.key) == [Scene.key("c/2")] && scene.numbers == [2])
    }
}
