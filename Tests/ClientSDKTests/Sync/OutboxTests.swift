import FreshetWire
import Testing

@testable import FreshetClient

/// From `set` to the verdict: durable, in order, exactly once.
@Suite struct OutboxTests {
    @Test func aWriteIsAcknowledgedAndShownOnlyWhenItIsOnDisk() {
        // Given
        var scene = Scene.live()
        // When
        let callerID = scene.set("c/1", .put(Scene.json("1")), settles: false)
        // Then
        #expect(scene.device.answers[callerID] == nil)
        #expect(scene.view("c/1").value == .unknown)
        #expect(scene.writes == nil)
        // When
        scene.device.settleDisk()
        // Then
        #expect(scene.device.answers[callerID] == .accepted(LocalWriteID(1)))
        #expect(scene.text("c/1") == "1")
        #expect(scene.isPending("c/1"))
        #expect(scene.numbers == [1])
    }

    @Test func aFullDiskIsAnErrorAndNothingShows() {
        // Given
        var scene = Scene.live()
        let callerID = scene.set("c/1", .put(Scene.json("1")), settles: false)
        // When
        scene.device.failNext(.full)
        // Then
        #expect(scene.failure(callerID) == .disk(.full))
        #expect(scene.view("c/1").value == .unknown)
        // When: the number is free again
        scene.put("c/1", "2")
        // Then
        #expect(scene.numbers == [1])
    }

    @Test func writesThatWaitForTheDiskGoTogether() {
        // Given
        var scene = Scene.live()
        _ = scene.set("c/1", .put(Scene.json("1")), settles: false)
        _ = scene.set("c/2", .put(Scene.json("2")), settles: false)
        _ = scene.set("c/2", Scene.increment(), settles: false)
        #expect(scene.device.transactions.count == 1)
        // When
        scene.device.settleDisk()
        // Then: the third could not be applied to the second
        #expect(scene.device.store.rows.count == 2)
        #expect(scene.failure(CallerID(3)) != nil)
    }

    @Test func oneBatchIsUnderWayAtATime() {
        // Given
        var scene = Scene.live { $0.batchCount = 2 }
        for number in 1...5 { scene.put("c/\(number)", "1") }
        // When, Then
        #expect(scene.numbers == [1])
        scene.results([Scene.applied(1, 11)], at: 11)
        #expect(scene.numbers == [2, 3])
        scene.results([Scene.applied(2, 12), Scene.applied(3, 13)], at: 13)
        #expect(scene.numbers == [4, 5])
    }

    @Test func aBatchHoldsSoManyBytesButAlwaysOneWrite() {
        // Given
        var scene = Scene.live { $0.batchBytes = 10 }
        scene.put("c/0", "0")
        for number in 1...3 { scene.put("c/\(number)", "\"\(String(repeating: "x", count: number == 1 ? 50 : 3))\"") }
        // When
        scene.results([Scene.applied(1, 11)], at: 11)
        // Then
        #expect(scene.numbers == [2])
        scene.results([Scene.applied(2, 12)], at: 12)
        #expect(scene.numbers == [3, 4])
    }

    @Test(arguments: [
        Reply.failure(.interrupted("reset")), .failure(.unreachable("no route")), .garbage("?"),
        .problem(Problem(.overloaded, "busy"), cursor: nil, retryAfter: nil),
        .problem(Problem(.storageFull, "full"), cursor: nil, retryAfter: nil),
        .problem(Problem(.quotaExceeded, "full"), cursor: nil, retryAfter: nil),
    ])
    func theSameNumbersAreSentAgainUntilThereIsAVerdict(reply: Reply) {
        // Given
        var scene = Scene.live()
        scene.put("c/1", "1")
        let first = scene.batch
        // When
        scene.replyToWrites(reply)
        // Then
        #expect(scene.writes == nil)
        #expect(scene.isPending("c/1"))
        #expect(scene.device.status?.writeTrouble != nil)
        scene.device.fireTimer()
        #expect(scene.batch == first)
        scene.results([Scene.applied(1, 11)], at: 11)
        #expect(!scene.isPending("c/1"))
        #expect(scene.device.status?.writeTrouble == nil)
    }

    @Test func aPutIsTheConfirmedRecordWithItsVerdict() {
        // Given
        var scene = Scene.live()
        scene.put("c/1", "1")
        // When
        scene.results([Scene.applied(1, 11)], at: 11)
        // Then
        #expect(scene.verdict(1) == .applied(Scene.revision(11)))
        #expect(scene.stored("c/1")?.revision == Scene.revision(11))
        #expect(scene.device.store.rows.isEmpty)
        #expect(scene.text("c/1") == "1")
    }

    @Test func anIncrementStaysUntilTheFeedBringsIt() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, #"{"n":5}"#)])
        _ = scene.set("c/1", Scene.increment())
        #expect(scene.text("c/1") == #"{"n":6}"#)
        // When
        scene.results([Scene.applied(1, 12)], at: 12)
        // Then
        #expect(!scene.isPending("c/1"))
        #expect(scene.text("c/1") == #"{"n":6}"#)
        #expect(scene.row(1)?.state == .applied(Scene.position(12)))
        // When: an earlier change of another comes first, without a number
        scene.page([Scene.put("c/1", 11, #"{"n":15}"#)], to: 11, upToDate: false)
        // Then
        #expect(scene.text("c/1") == #"{"n":6}"#)
        scene.page([Scene.put("c/1", 12, #"{"n":16}"#, by: 1)], to: 12, lastWrite: 1)
        #expect(scene.text("c/1") == #"{"n":16}"#)
        #expect(scene.device.store.rows.isEmpty)
    }

    @Test func theFeedMayBringTheRecordBeforeTheAnswer() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, #"{"n":5}"#)])
        _ = scene.set("c/1", Scene.increment())
        // When
        scene.page([Scene.put("c/1", 12, #"{"n":6}"#, by: 1)], to: 12)
        // Then: not counted twice
        #expect(scene.text("c/1") == #"{"n":6}"#)
        // Then it waits for the answer, which shows whether this was the device's write or a copy's
        #expect(scene.isPending("c/1") && scene.verdict(1) == nil)
        // When
        scene.results([Scene.applied(1, 12)], at: 12)
        // Then
        #expect(scene.text("c/1") == #"{"n":6}"# && !scene.isPending("c/1"))
        #expect(scene.verdict(1) == .applied(Scene.revision(12)))
        #expect(scene.writes == nil)
    }

    @Test func ofSeveralTheFeedTellsTheLastOnly() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, #"{"n":5}"#)])
        scene.device.handle(.wake)
        _ = scene.set("c/1", Scene.increment())
        _ = scene.set("c/1", Scene.increment(10))
        scene.replyToWrites(.failure(.interrupted("lost")))
        scene.device.fireTimer()
        #expect(scene.numbers == [1, 2])
        // When
        scene.page([Scene.put("c/1", 12, #"{"n":16}"#, by: 2)], to: 12)
        // Then: the first is part of it, and still waits for its own verdict
        #expect(scene.text("c/1") == #"{"n":16}"#)
        #expect(scene.isPending("c/1"))
        #expect(scene.verdict(1) == nil)
        scene.results([Scene.applied(1, 11), Scene.applied(2, 12)], at: 12)
        #expect(scene.text("c/1") == #"{"n":16}"#)
        #expect(!scene.isPending("c/1"))
    }

    @Test("a page without a number that may contain a write under way is dropped, and asked for with the number")
    func ambiguousPageIsAskedForAgain() {
        // Given: a poll waits, and a write was sent after it
        var scene = Scene.live(holding: [Scene.put("c/1", 4, #"{"n":5}"#)])
        _ = scene.set("c/1", Scene.increment())
        #expect(scene.feed?.kind.client == nil)
        // When: another's change comes, made before or after the write
        scene.page([Scene.put("c/1", 13, #"{"n":16}"#)], to: 13)
        // Then: nothing is stored, and the same is asked for at once, with the number
        #expect(scene.text("c/1") == #"{"n":6}"#)
        #expect(scene.stored("c/1")?.revision == Scene.revision(4))
        #expect(scene.since == .after(Scene.position(10)) && scene.wait == 0)
        #expect(scene.feed?.kind.client == scene.device.store.state.client)
        #expect(scene.device.status?.connection == .catchingUp)
    }

    @Test("a record that contains a write shows it once, before and after the verdict")
    func containedWriteIsNotReplayed() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, #"{"n":5}"#)])
        _ = scene.set("c/1", Scene.increment())
        scene.page([Scene.put("c/1", 13, #"{"n":16}"#)], to: 13)
        // When: the page states that the write was decided
        scene.page([Scene.put("c/1", 13, #"{"n":16}"#)], to: 13, lastWrite: 1)
        // Then
        #expect(scene.text("c/1") == #"{"n":16}"#)
        #expect(scene.isPending("c/1"))
        #expect(scene.device.store.watermarks.values.map(\.number) == [1])
        // When
        scene.results([Scene.applied(1, 12)], at: 13)
        // Then
        #expect(scene.text("c/1") == #"{"n":16}"#)
        #expect(scene.device.store.watermarks.isEmpty)
        #expect(scene.device.store.rows.isEmpty)
    }

    @Test("a record that does not contain a write has it replayed over it")
    func missingWriteIsReplayed() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, #"{"n":5}"#)])
        _ = scene.set("c/1", Scene.increment())
        scene.page([Scene.put("c/1", 13, #"{"n":15}"#)], to: 13)
        // When: the page states that the write is not decided
        scene.page([Scene.put("c/1", 13, #"{"n":15}"#)], to: 13, lastWrite: 0)
        // Then
        #expect(scene.text("c/1") == #"{"n":16}"#)
        // When
        scene.results([Scene.applied(1, 14)], at: 14)
        // Then: it stays until the record contains it
        #expect(scene.text("c/1") == #"{"n":16}"#)
        scene.page([Scene.put("c/1", 14, #"{"n":16}"#, by: 1)], to: 14)
        #expect(scene.text("c/1") == #"{"n":16}"#)
        #expect(scene.device.store.rows.isEmpty)
    }

    @Test("which writes a record contains survives a restart")
    func watermarkSurvivesARestart() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, #"{"n":5}"#)])
        _ = scene.set("c/1", Scene.increment())
        scene.page([Scene.put("c/1", 13, #"{"n":16}"#)], to: 13)
        scene.page([Scene.put("c/1", 13, #"{"n":16}"#)], to: 13, lastWrite: 1)
        // When
        scene.device.crash()
        // Then
        #expect(scene.text("c/1") == #"{"n":16}"#)
        scene.answerStatus(last: 1, at: 13)
        #expect(scene.numbers == [1])
        scene.results([Scene.applied(1, 12)], at: 13)
        #expect(scene.text("c/1") == #"{"n":16}"#)
    }

    @Test func aLaterForeignWriteConfirmsOurs() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, #"{"n":5}"#)])
        _ = scene.set("c/1", Scene.increment())
        scene.results([Scene.applied(1, 11)], at: 11)
        // When the feed brings the latest change only
        scene.page([Scene.put("c/1", 15, #"{"n":60}"#)], to: 15)
        scene.page([Scene.put("c/1", 15, #"{"n":60}"#)], to: 15, lastWrite: 1)
        // Then
        #expect(scene.text("c/1") == #"{"n":60}"#)
        #expect(scene.device.store.rows.isEmpty)
    }

    @Test func aPositionInTheMiddleOfACatchUpConfirmsNothing() {
        // Given: ours at 11 was followed by another's change at 20
        var scene = Scene.live(holding: [Scene.put("c/1", 4, #"{"n":5}"#)])
        _ = scene.set("c/1", Scene.increment())
        scene.results([Scene.applied(1, 11)], at: 11)
        // When: the page ends before that, and so is silent on the key
        scene.page([Scene.put("c/2", 15, "1")], to: 15, upToDate: false)
        // Then
        #expect(scene.text("c/1") == #"{"n":6}"#)
        scene.page([Scene.put("c/1", 20, #"{"n":7}"#)], to: 20, lastWrite: 1)
        #expect(scene.text("c/1") == #"{"n":7}"#)
    }

    @Test func laterWritesStayOverTheNewBase() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, #"{"n":5}"#)])
        _ = scene.set("c/1", Scene.increment())
        _ = scene.set("c/1", Scene.increment(10))
        // When
        scene.results([Scene.applied(1, 11)], at: 11)
        scene.page([Scene.put("c/1", 11, #"{"n":6}"#, by: 1)], to: 11)
        // Then
        #expect(scene.text("c/1") == #"{"n":16}"#)
        #expect(scene.isPending("c/1"))
    }

    @Test func aDeleteOfNothingHasNoRevision() {
        // Given: deleted by another, which the feed has not brought yet
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        _ = scene.set("c/1", .delete)
        #expect(scene.view("c/1").value == .absent)
        // When
        scene.results([Scene.applied(1, nil)], at: 12)
        // Then: no flicker
        #expect(scene.view("c/1").value == .absent)
        #expect(scene.verdict(1) == .applied(nil))
        scene.page([Scene.delete("c/1", 12)], to: 12)
        scene.page([Scene.delete("c/1", 12)], to: 12, lastWrite: 1)
        #expect(scene.view("c/1").value == .absent || scene.view("c/1").value == .unknown)
        #expect(scene.device.store.rows.isEmpty)
    }

    @Test func settledIsVerifiedBeforeItLeaves() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        scene.put("c/1", "2")
        scene.replyToWrites(.failure(.interrupted("lost")))
        scene.device.fireTimer()
        // When
        scene.results([WriteOutcome(number: 1, verdict: .settled)], at: 15)
        // Then
        #expect(scene.verdict(1) == .applied(nil))
        #expect(scene.text("c/1") == "2")
        #expect(scene.row(1)?.state == .settled(Scene.position(15)))
        scene.page([Scene.put("c/1", 14, "3")], to: 16)
        scene.page([Scene.put("c/1", 14, "3")], to: 16, lastWrite: 1)
        #expect(scene.text("c/1") == "3")
        #expect(scene.device.store.rows.isEmpty)
    }

    @Test func aRejectionRollsBackAndTheQueueGoesOn() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")]) { $0.batchCount = 1 }
        scene.put("c/1", "2")
        scene.put("c/2", "3")
        // When
        scene.results([Scene.rejected(1, .forbidden)], at: 12)
        // Then
        #expect(scene.text("c/1") == "1")
        #expect(!scene.isPending("c/1"))
        if case .rejected(let problem)? = scene.verdict(1) { #expect(problem.code == .forbidden) } else { Issue.record("not reported") }
        #expect(scene.numbers == [2])
    }

    @Test(
        "a refusal that no write can cause, and an answer that is not the server's, give no write up",
        arguments: [
            Reply.problem(Problem(.malformedRequest, "broken frame"), cursor: nil, retryAfter: nil),
            .problem(Problem(.unsupportedMediaType, "another type"), cursor: nil, retryAfter: nil),
            .failure(.intercepted(InterceptedResponse(status: 413, "a proxy's"))),
            .failure(.intercepted(InterceptedResponse(status: 422, "a firewall's"))),
        ])
    func keptWrites(_ reply: Reply) {
        // Given
        var scene = Scene.live()
        scene.put("c/1", "1")
        let batch = scene.batch
        // When it is answered so again and again
        for _ in 0..<10 {
            scene.replyToWrites(reply)
            while scene.writes == nil { scene.device.fireTimer() }
            // Then the same write is sent again
            #expect(scene.batch == batch)
        }
        #expect(scene.isPending("c/1") && scene.verdict(1) == nil)
        if case .failure(let failure) = reply { #expect(scene.device.status?.writeTrouble == .transport(failure)) }
        scene.results([Scene.applied(1, 11)], at: 11)
        #expect(scene.verdict(1) != nil)
    }

    @Test func theWaitThatAProxyAsksForIsTheLeast() {
        // Given
        var scene = Scene.live()
        scene.put("c/1", "1")
        // When
        let answer = Reply.failure(.intercepted(InterceptedResponse(status: 503, retryAfter: 7_000, "maintenance")))
        scene.replyToWrites(answer)
        scene.replyToFeed(answer)
        // Then
        #expect(scene.device.status?.feedTrouble != nil && (scene.device.deadline ?? 0) >= scene.device.uptime + 7_000)
    }

    @Test func aWriteThatTheServerCannotTakeApartIsFoundAndGivenUp() {
        // Given
        var scene = Scene.live()
        scene.put("c/0", "0")
        for number in 1...4 { scene.put("c/\(number)", "1") }
        scene.results([Scene.applied(1, 11)], at: 11)
        #expect(scene.numbers == [2, 3, 4, 5])
        // When
        let problem = Problem(.tooLarge, "too large")
        scene.replyToWrites(.problem(problem, cursor: nil, retryAfter: nil))
        #expect(scene.numbers == [2, 3])
        scene.replyToWrites(.problem(problem, cursor: nil, retryAfter: nil))
        #expect(scene.numbers == [2])
        scene.replyToWrites(.problem(problem, cursor: nil, retryAfter: nil))
        // Then: its number is used up by a write that cannot apply
        #expect(scene.batch == [Write(number: 2, key: Scene.key("c/1"), operation: .delete, ifRevision: .maximum)])
        scene.results([Scene.rejected(2)], at: 11)
        #expect(scene.verdict(2) == .rejected(problem))
        #expect(scene.view("c/1").value == .unknown)
        #expect(scene.numbers.first == 3)
    }

    @Test func aRestartSendsTheSameNumbersAgain() {
        // Given
        var scene = Scene.live()
        scene.put("c/1", "1")
        scene.put("c/2", "2")
        let first = scene.batch
        // When
        scene.device.crash()
        scene.answerStatus(last: 0, at: 10)
        // Then
        #expect(scene.batch.first == first.first)
        #expect(scene.numbers == [1, 2])
        #expect(scene.text("c/1") == "1")
        #expect(scene.isPending("c/1"))
        #expect(scene.device.status?.pendingWrites == 2)
    }

    @Test func whatWasPendingIsShownWithTheStart() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        scene.put("c/1", "2")
        _ = scene.set("d/9", Scene.increment())
        // When
        scene.device.publications = []
        scene.device.crash()
        // Then: at once, and nothing but that
        #expect(
            scene.device.publications == [.view(scene.view("c/1")), .view(scene.view("d/9"))])
        #expect(scene.device.shown[Scene.key("c/1")]?.value == .content(Scene.json("2")))
        #expect(scene.device.shown[Scene.key("c/1")]?.isPending == true)
        #expect(scene.device.shown[Scene.key("d/9")]?.value == .unknown)
    }

    @Test func aStartWithoutPendingWritesShowsNothing() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        // When
        scene.device.crash()
        // Then
        #expect(scene.device.publications.isEmpty)
    }

    @Test func anOldOutcomeDoesNotBringBackWhatTheFeedHasMovedOnFrom() {
        // Given: applied at 11, the answer lost, deleted by another at 13
        var scene = Scene.live()
        scene.put("c/1", "1")
        scene.replyToWrites(.failure(.interrupted("lost")))
        scene.page([Scene.delete("c/1", 13)], to: 13)
        scene.page([Scene.delete("c/1", 13)], to: 13, lastWrite: 1)
        scene.device.fireTimer()
        // When
        scene.results([Scene.applied(1, 11)], at: 14)
        // Then
        #expect(scene.view("c/1").value == .absent)
        #expect(scene.device.store.rows.isEmpty)
    }

    @Test func ourOwnLargeValueIsKnownAlthoughTheFeedLeavesItOut() {
        // Given
        var scene = Scene.live()
        scene.put("c/1", "1")
        // When
        scene.page([Scene.put("c/1", 12, nil, by: 1, size: 1)], to: 12)
        // Then
        #expect(scene.text("c/1") == "1")
        // When
        scene.results([Scene.applied(1, 12)], at: 12)
        // Then
        #expect(scene.text("c/1") == "1" && !scene.isPending("c/1") && scene.device.store.rows.isEmpty)
    }

    @Test func outcomesOfOtherWritesAreRefused() {
        // Given
        var scene = Scene.live()
        scene.put("c/1", "1")
        // When
        scene.results([Scene.applied(7, 11)], at: 11)
        // Then
        if case .malformed? = scene.device.status?.writeTrouble {} else { Issue.record("not reported") }
        #expect(scene.isPending("c/1"))
    }

    @Test func verdictsThatTheDiskDoesNotTakeAreAskedForAgain() {
        // Given
        var scene = Scene.live()
        scene.put("c/1", "1")
        scene.results([Scene.applied(1, 11)], at: 11, settles: false)
        // When
        scene.device.failNext(.full)
        // Then
        #expect(scene.verdict(1) == nil)
        #expect(scene.isPending("c/1"))
        scene.device.fireTimer()
        #expect(scene.numbers == [1])
    }

    @Test func anIncrementOfWhatNobodyKnowsIsPendingAndUnknown() {
        // Given
        var scene = Scene.live(.cachedKeys)
        // When
        _ = scene.set("c/1", Scene.increment())
        // Then: nothing is invented
        #expect(scene.view("c/1").value == .unknown)
        #expect(scene.isPending("c/1"))
        // When: a read says that its record contains it
        let callerID = scene.fetch("c/1")
        scene.answerFetch(.record(Scene.record(Scene.key("c/1"), 12, Scene.json(#"{"n":7}"#)), Scene.position(12)), lastWrite: 1)
        // Then
        #expect(scene.text("c/1") == #"{"n":7}"#)
        #expect(scene.device.answers[callerID] != nil)
        scene.results([Scene.applied(1, 11)], at: 12)
        // Then
        #expect(scene.text("c/1") == #"{"n":7}"#)
    }
}
