import FreshetWire
import Testing

@testable import FreshetClient

/// The position or the history is lost: the device's writes stay, the rest is verified (rule 11).
@Suite struct ResetTests {
    private func gone(_ code: ProblemCode, _ epoch: String = "a") -> Reply {
        .problem(Problem(code, "gone"), cursor: Scene.position(50, epoch), retryAfter: nil)
    }

    @Test func aReplicaReadsFromTheStartAndEvictsWhatIsNoMore() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1"), Scene.put("c/2", 5, "2")])
        // When
        scene.replyToFeed(gone(.cursorExpired))
        // Then the held records are still shown, as unverified
        #expect(scene.since == .start)
        #expect(scene.text("c/1") == "1")
        #expect(scene.device.status?.connection == .catchingUp)
        if let status = scene.device.status, let entry = scene.stored("c/1") {
            let freshness = FreshnessState(isLive: status.connection == .live, pass: status.pass, filter: status.filter)
            #expect(freshness.of(KeyView(entry.key, entry)) == .unverified(since: entry.verifiedAt))
        }
        // When
        scene.page([Scene.put("c/2", 5, "2")], to: 20, upToDate: false)
        #expect(scene.stored("c/1") != nil)
        scene.page([Scene.put("c/3", 30, "3")], to: 50)
        // Then
        #expect(scene.stored("c/1") == nil)
        #expect(scene.text("c/2") == "2")
        #expect(scene.text("c/3") == "3")
        #expect(scene.device.status?.connection == .live)
    }

    @Test func aCrashInTheMiddleGoesOnAndStillEvicts() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1"), Scene.put("c/2", 5, "2")])
        scene.replyToFeed(gone(.cursorExpired))
        scene.page([Scene.put("c/2", 5, "2")], to: 20, upToDate: false)
        // When
        scene.device.crash()
        // Then
        #expect(scene.since == .after(Scene.position(20)))
        scene.page([], to: 50)
        #expect(scene.stored("c/1") == nil)
        #expect(scene.text("c/2") == "2")
    }

    @Test func aHolderTakesAPositionAndVerifiesItsKeysByPages() {
        // Given
        var scene = Scene.live(.cachedKeys, holding: [Scene.put("c/1", 4, "1"), Scene.put("c/2", 5, "2"), Scene.put("c/3", 6, "3")]) {
            $0.revalidationKeys = 2
        }
        // When
        scene.replyToFeed(gone(.cursorExpired))
        #expect(scene.since == .now)
        scene.page([], to: 50)
        // Then
        guard case .reads(let first)? = scene.fetches.first?.kind else { Issue.record("not verified"); return }
        #expect(first.items.map(\.revision) == [Scene.revision(4), Scene.revision(5)])
        #expect(scene.feed == nil, "nothing newer is asked for before")
        // When: the first is as it was, the second has changed
        scene.answerFetch(
            .reads(
                ReadsResponse(
                    records: [Scene.record(Scene.key("c/2"), 40, Scene.json("x"))], missing: [], cursor: Scene.position(51))))
        scene.answerFetch(.reads(ReadsResponse(records: [], missing: [Scene.key("c/3")], cursor: Scene.position(52))))
        // Then
        #expect(scene.text("c/1") == "1")
        #expect(scene.text("c/2") == "x")
        #expect(scene.view("c/3").value == .absent)
        #expect(scene.wait == 0)
        #expect(scene.since == .after(Scene.position(50)))
        scene.page([], to: 52)
        #expect(scene.device.status?.connection == .live)
        #expect(scene.device.status?.isVerified == true)
    }

    @Test func aVerificationDoesNotBringBackWhatHasLeftMeanwhile() {
        // Given a device that verifies a key, and whose write of it is under way
        var scene = Scene.live(.cachedKeys, holding: [Scene.put("c/1", 4, "1")])
        scene.put("c/1", "2", .rejectIfChanged)
        scene.replyToFeed(gone(.cursorExpired))
        scene.page([], to: 50)
        guard case .reads? = scene.fetches.first?.kind else { Issue.record("not verified"); return }
        // When the write meets a newer record, too large to be shown
        let outline = Record(
            key: Scene.key("c/1"), revision: Scene.revision(60), contentType: Content.json, size: 1 << 20,
            modified: Timestamp(milliseconds: 0))
        scene.results([Scene.rejected(1, current: outline)], at: 60)
        #expect(scene.stored("c/1") == nil)
        // Then an older answer does not store it
        let older = ReadsResponse(
            records: [Scene.record(Scene.key("c/1"), 45, Scene.json("x"))], missing: [], cursor: Scene.position(51))
        scene.answerFetch(.reads(older), lastWrite: 1)
        #expect(scene.stored("c/1") == nil && scene.view("c/1").value == .unknown)
    }

    @Test func anOwnWriteThatIsDoneBehindTheVerificationStays() {
        // Given a device that verifies what it holds, past the key that it writes to
        var scene = Scene.live(.cachedKeys, holding: [Scene.put("c/1", 4, "1")])
        scene.replyToFeed(gone(.cursorExpired))
        scene.page([], to: 50)
        scene.put("a/1", "first")
        scene.results([Scene.applied(1, 55)], at: 55)
        scene.put("a/1", "second")
        scene.results([Scene.applied(2, 56)], at: 56)
        // When
        scene.answerFetch(.reads(ReadsResponse(records: [], missing: [], cursor: Scene.position(57))))
        // Then it need not go: the feed, which goes on from 50, brings all later changes
        #expect(scene.stored("a/1")?.revision == Scene.revision(56))
        _ = scene.set("a/1", .patch(Array("{}".utf8)))
        scene.page([Scene.put("a/1", 55, "first", by: 1)], to: 55, upToDate: false)
        #expect(scene.view("a/1").entry?.revision == Scene.revision(56))
    }

    @Test func aRecordThatAPassFromTheStartHasBroughtStaysWhenARefusalStatesItWithoutItsValue() {
        // Given a pass from the start that has brought a record, and then its next change without the value
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        scene.replyToFeed(gone(.cursorExpired))
        scene.page([Scene.put("c/1", 4, "1")], to: 4, upToDate: false)
        scene.page([Scene.put("c/1", 8, nil)], to: 8, upToDate: false)
        scene.put("c/1", "2", .rejectIfChanged)
        // When the write meets that change, which is too large to be shown
        let outline = Record(
            key: Scene.key("c/1"), revision: Scene.revision(8), contentType: Content.json, size: 1 << 20,
            modified: Timestamp(milliseconds: 0))
        scene.results([Scene.rejected(1, current: outline)], at: 9)
        // Then the copy still knows of the record, which the feed will not bring again
        #expect(scene.view("c/1").value == .elsewhere && !scene.isPending("c/1"))
        scene.page([], to: 9)
        #expect(scene.stored("c/1")?.revision == Scene.revision(8) && scene.stored("c/1")?.needsRefresh == true)
    }

    @Test func anOwnWriteThatIsDoneAheadOfThePassFromTheStartStays() {
        // Given a device that reads everything again
        var scene = Scene.live(holding: [Scene.put("a/1", 4, "0")])
        scene.replyToFeed(gone(.cursorExpired))
        scene.page([Scene.put("c/1", 12, "1")], to: 12, upToDate: false)
        // When its write is applied after the server made the last page, and that page comes late
        scene.put("a/1", "first")
        scene.results([Scene.applied(1, 25)], at: 25)
        scene.page([Scene.put("a/1", 18, "0")], to: 20)
        // Then the write stays, and nothing older is shown after it: the feed, which goes on from 20, brings all later changes
        #expect(scene.stored("a/1")?.revision == Scene.revision(25))
        scene.page([Scene.put("a/1", 22, "another's")], to: 22, upToDate: false)
        #expect(scene.stored("a/1")?.revision == Scene.revision(25))
    }

    @Test(arguments: [false, true]) func anOldVerdictDuringAResetBringsNothingBack(_ restarts: Bool) {
        // Given a device that wrote, saw a later record of the key, and heard that this is outdated, all but the verdict
        var scene = Scene.live(.cachedKeys, holding: [Scene.put("a/1", 4, "0")])
        scene.put("a/1", "mine")
        scene.page([Scene.put("a/1", 16, "another's")], to: 16)
        scene.page([Scene.put("a/1", 16, "another's")], to: 16, lastWrite: 1)
        scene.page([Scene.invalidate(.key(Scene.key("a/1")), 17)], to: 17)
        // When its position expires, and the verdict comes before there is another
        scene.replyToFeed(gone(.cursorExpired))
        if restarts {
            scene.device.crash()
            scene.answerStatus(last: 1, at: 20)
        }
        scene.results([Scene.applied(1, 15)], at: 20)
        // Then the written value is not shown as the record: the record contained it and was changed again
        #expect(scene.stored("a/1") == nil && scene.view("a/1").value == .unknown)
        // And once all is verified it is as unknown as anything that was invalidated
        scene.page([], to: 20)
        scene.page([], to: 20)
        #expect(scene.stored("a/1") == nil && scene.view("a/1").value == .unknown)
    }

    @Test func aReadAheadOfTheFirstPageStays() {
        // Given a new device whose first page is long on its way
        var scene = Scene(.everything)
        _ = scene.fetch(Scene.key("a/1"))
        scene.answerFetch(.record(Scene.record(Scene.key("a/1"), 25, Scene.json("2")), Scene.position(30)))
        // When that page comes
        scene.page([Scene.put("a/1", 18, "1")], to: 20)
        // Then the record stays, and nothing older is shown after it
        #expect(scene.stored("a/1")?.revision == Scene.revision(25))
        scene.page([Scene.put("a/1", 22, "another's")], to: 22, upToDate: false)
        #expect(scene.stored("a/1")?.revision == Scene.revision(25))
        // And it counts as verified
        #expect(scene.stored("a/1")?.pass == scene.device.store.state.pass && scene.view("a/1").entry == scene.stored("a/1"))
    }

    @Test func anOwnWriteOfBeforeTheVerificationIsVerifiedToo() {
        // Given a device that resets while the answer to its write is on its way
        var scene = Scene.live(.cachedKeys, holding: [Scene.put("c/1", 4, "1")])
        scene.put("a/1", "first")
        scene.replyToFeed(gone(.cursorExpired))
        scene.page([], to: 50)
        // When
        scene.results([Scene.applied(1, 45)], at: 45)
        scene.answerFetch(.reads(ReadsResponse(records: [], missing: [], cursor: Scene.position(57))))
        // Then it is not kept without a check, since no response brings the changes between it and the new position
        #expect(scene.stored("a/1") == nil)
    }

    @Test func aCrashWhileVerifyingGoesOn() {
        // Given
        var scene = Scene.live(.cachedKeys, holding: [Scene.put("c/1", 4, "1"), Scene.put("c/2", 5, "2")]) { $0.revalidationKeys = 1 }
        scene.replyToFeed(gone(.cursorExpired))
        scene.page([], to: 50)
        scene.answerFetch(.reads(ReadsResponse(records: [], missing: [], cursor: Scene.position(51))))
        // When
        scene.device.crash()
        scene.device.settleDisk()
        // Then: only the second is asked for
        guard case .reads(let request)? = scene.fetches.first?.kind else { Issue.record("not verified"); return }
        #expect(request.items.map(\.key) == [Scene.key("c/2")])
    }

    @Test func theOutboxAndTheOverlayStay() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        scene.put("c/1", "mine")
        scene.replyToWrites(.failure(.interrupted("lost")))
        // When
        scene.replyToFeed(gone(.cursorExpired))
        // Then
        #expect(scene.text("c/1") == "mine")
        #expect(scene.isPending("c/1"))
        scene.page([Scene.put("c/1", 40, "theirs")], to: 50)
        #expect(scene.text("c/1") == "mine")
        scene.device.fireTimer()
        #expect(scene.numbers == [1])
    }

    @Test func anotherEpochInAnyAnswerBeginsAnew() {
        // Given
        var scene = Scene.live(.cachedKeys, holding: [Scene.put("c/1", 400, "1")].map { $0 })
        _ = scene.fetch("c/9")
        // When
        scene.answerFetch(.missing(Scene.position(3, "b")))
        // Then
        #expect(scene.device.store.state.epoch == Epoch("b"))
        #expect(scene.device.store.state.cursor == nil)
        #expect(scene.since == .now)
        #expect(scene.status != nil, "the numbers of the outbox are compared first")
    }

    @Test func ofTwoHistoriesTheLaterWinsWhateverTheRevisions() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 9, "old"), Scene.put("c/2", 8, "old")])
        // When
        scene.replyToFeed(gone(.epochChanged, "b"))
        scene.page([Scene.put("c/1", 2, "new")], to: 3, "b")
        // Then
        #expect(scene.text("c/1") == "new")
        #expect(scene.stored("c/2") == nil)
    }

    @Test func heldKeysAreAskedForWithoutRevisionsOfAnotherHistory() {
        // Given
        var scene = Scene.live(.cachedKeys, holding: [Scene.put("c/1", 4, "1")])
        // When
        scene.replyToFeed(gone(.epochChanged, "b"))
        scene.page([], to: 3, "b")
        // Then
        guard case .reads(let request)? = scene.fetches.first?.kind else { Issue.record("not verified"); return }
        #expect(request.items == [.init(key: Scene.key("c/1"), revision: nil)])
        scene.answerFetch(
            .reads(
                ReadsResponse(records: [Scene.record(Scene.key("c/1"), 2, Scene.json("1b"))], missing: [], cursor: Scene.position(3, "b"))))
        #expect(scene.text("c/1") == "1b")
    }

    @Test func theOutboxKeepsItsNumbersWhateverTheServersLast() {
        // Given: numbers 1 and 2 are decided, 3 and 4 wait
        var scene = Scene.live()
        scene.put("c/1", "1")
        scene.results([Scene.applied(1, 11)], at: 11)
        scene.put("c/2", "2")
        scene.results([Scene.applied(2, 12)], at: 12)
        scene.put("c/3", "3")
        scene.put("c/4", "4")
        // When a namespace that was created again knows none
        scene.replyToFeed(gone(.epochChanged, "b"))
        guard let status = scene.status else { Issue.record("not compared"); return }
        scene.device.reply(status.id, .client(ClientStatus(client: scene.device.store.state.client, last: 0), Scene.position(1, "b")))
        scene.device.settleDisk()
        // Then
        #expect(scene.numbers == [3, 4])
        #expect(scene.resume == true)
        #expect(scene.batch.map(\.key) == [Scene.key("c/3"), Scene.key("c/4")])
        #expect(scene.device.store.state.nextNumber == 5)
        scene.results([Scene.applied(3, 2), Scene.applied(4, 3)], at: 3, "b")
        #expect(scene.verdict(3) == .applied(Scene.revision(2)))
        scene.put("c/5", "5")
        #expect(scene.numbers == [5])
        #expect(scene.resume == false)
    }

    @Test func whatTheRestoredServerHasDecidedKeepsItsNumber() {
        // Given
        var scene = Scene.live()
        for number in 1...3 { scene.put("c/\(number)", "\(number)") }
        scene.replyToWrites(.failure(.interrupted("lost")))
        scene.device.fireTimer()
        #expect(scene.numbers == [1, 2, 3])
        // When: a back-up knows the first two
        scene.replyToFeed(gone(.epochChanged, "b"))
        guard let status = scene.status else { Issue.record("not compared"); return }
        scene.device.reply(status.id, .client(ClientStatus(client: scene.device.store.state.client, last: 2), Scene.position(9, "b")))
        scene.device.settleDisk()
        // Then the server reports the verdicts on them, and takes the third
        #expect(scene.numbers == [1, 2, 3])
        #expect(scene.resume == false)
    }

    @Test func anIncrementThatTheOldRecordMayHoldIsNotCountedTwice() {
        // Given: the record came before the verdict, and contains the increment
        var scene = Scene.live(.cachedKeys)
        _ = scene.set("c/1", Scene.increment())
        scene.replyToWrites(.failure(.interrupted("lost")))
        _ = scene.fetch("c/1")
        scene.answerFetch(.record(Scene.record(Scene.key("c/1"), 11, Scene.json(#"{"n":1}"#)), Scene.position(11)), lastWrite: 1)
        #expect(scene.text("c/1") == #"{"n":1}"# && scene.isPending("c/1"))
        // When: a back-up that holds it is restored, and it gets its verdict in the new history
        scene.replyToFeed(gone(.epochChanged, "b"))
        if scene.status == nil { scene.pass(1_000) }
        guard let status = scene.status else { Issue.record("not compared"); return }
        scene.device.reply(status.id, .client(ClientStatus(client: scene.device.store.state.client, last: 1), Scene.position(11, "b")))
        scene.device.settleDisk()
        scene.results([Scene.applied(1, 11)], at: 11, "b")
        // Then
        #expect(scene.verdict(1) == .applied(Scene.revision(11)))
        #expect(scene.text("c/1") == #"{"n":1}"#)
        // Then: and so once the record was looked at in this history
        _ = scene.fetch("c/1")
        scene.answerFetch(.record(Scene.record(Scene.key("c/1"), 11, Scene.json(#"{"n":1}"#)), Scene.position(11, "b")), lastWrite: 1)
        #expect(scene.text("c/1") == #"{"n":1}"#)
        #expect(scene.device.store.rows.isEmpty)
    }

    @Test func anOlderRecordIsShownUntilTheNewHistoryTells() {
        // Given: the record of 11 may or may not hold the increment (it does), so that of 4 is shown
        var scene = Scene.live(holding: [Scene.put("c/1", 4, #"{"n":0}"#)])
        _ = scene.set("c/1", Scene.increment())
        scene.replyToWrites(.failure(.interrupted("lost")))
        scene.page([Scene.put("c/1", 12, #"{"n":0,"other":1}"#)], to: 12)
        scene.page([Scene.put("c/1", 12, #"{"n":0,"other":1}"#)], to: 12, lastWrite: 0)
        #expect(scene.text("c/1") == #"{"n":1,"other":1}"#)
        // When
        scene.replyToFeed(gone(.epochChanged, "b"))
        if scene.status == nil { scene.pass(1_000) }
        guard let status = scene.status else { Issue.record("not compared"); return }
        scene.device.reply(status.id, .client(ClientStatus(client: scene.device.store.state.client, last: 1), Scene.position(12, "b")))
        scene.device.settleDisk()
        scene.results([Scene.applied(1, 11)], at: 12, "b")
        // Then
        #expect(scene.text("c/1") == #"{"n":1,"other":1}"#)
        scene.page([Scene.put("c/1", 12, #"{"n":1,"other":1}"#)], to: 12, "b", lastWrite: 1)
        #expect(scene.text("c/1") == #"{"n":1,"other":1}"#)
        #expect(scene.device.store.rows.isEmpty && scene.device.store.watermarks.isEmpty)
    }

    @Test("a write that another history rejects is not replayed over an old record that contains it")
    func mergingOverARecordThatContainsTheWrite() {
        // Given a write whose verdict is lost, and a later one: the record contains both
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        scene.put("c/1", "mine", .merge(MergeName("m")))
        scene.replyToWrites(.failure(.interrupted("lost")))
        _ = scene.fetch("c/1")
        scene.answerFetch(.record(Scene.record(Scene.key("c/1"), 13, Scene.json("theirs")), Scene.position(13)), lastWrite: 1)
        #expect(scene.text("c/1") == "theirs" && scene.isPending("c/1"))
        // When a history without it begins, and rejects it before the record is read there
        scene.replyToFeed(gone(.epochChanged, "b"))
        if scene.status == nil { scene.pass(1_000) }
        scene.answerStatus(last: 0, at: 5, "b")
        scene.results([Scene.rejected(1)], at: 5, "b")
        // Then the old record is shown as it is: replayed over it, the write would undo what came after it
        #expect(scene.text("c/1") == "theirs" && scene.isPending("c/1"))
    }

    @Test func aConditionOfAnotherHistoryNeverHoldsByAccident() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        scene.put("c/1", "2", .rejectIfChanged)
        // When
        scene.replyToFeed(gone(.epochChanged, "b"))
        guard let status = scene.status else { Issue.record("not compared"); return }
        scene.device.reply(status.id, .client(ClientStatus(client: scene.device.store.state.client, last: 0), Scene.position(9, "b")))
        scene.device.settleDisk()
        // Then
        #expect(scene.batch.first?.ifRevision == .maximum)
    }

    @Test func norDoesOneThatComesOfAnEarlierWrite() {
        // Given: a write over one without a verdict
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")]) { $0.batchCount = 1 }
        scene.put("c/1", "2")
        scene.put("c/1", "3", .rejectIfChanged)
        // When: the earlier is rejected in another history
        scene.replyToFeed(gone(.epochChanged, "b"))
        scene.answerStatus(last: 0, at: 9, "b")
        scene.results([Scene.rejected(1, .forbidden)], at: 9, "b")
        // Then
        #expect(scene.numbers == [2])
        #expect(scene.batch.first?.ifRevision == .maximum)
    }

    @Test func aGapInTheNumbersIsReconciled() {
        // Given
        var scene = Scene.live()
        scene.put("c/1", "1")
        // When
        scene.replyToWrites(.problem(Problem(.writeGap, "gap", expected: 1), cursor: Scene.position(10), retryAfter: nil))
        // Then
        guard let status = scene.status else { Issue.record("not compared"); return }
        scene.device.reply(status.id, .client(ClientStatus(client: scene.device.store.state.client, last: 6), Scene.position(10)))
        scene.device.settleDisk()
        #expect(scene.numbers == [1])
        // Then: the server knows writes that this device never made
        #expect(scene.device.store.state.renamesAfter == 1)
        #expect(scene.device.logs.contains { $0.level == .error && $0.text.contains("copied or rolled back") })
    }

    @Test func anAnswerOfAnOldHistoryAfterTheResetIsIgnored() {
        // Given
        var scene = Scene.live(.cachedKeys)
        _ = scene.fetch("c/1")
        let old = scene.fetches.first?.id ?? RequestID(0)
        scene.replyToFeed(gone(.epochChanged, "b"))
        // When
        scene.device.handle(.replied(old, .record(Scene.record(Scene.key("c/1"), 9, Scene.json("old")), Scene.position(10, "a"))))
        scene.device.settleDisk()
        // Then
        #expect(scene.device.store.state.epoch == Epoch("b"))
        #expect(scene.stored("c/1") == nil)
        // Then: the read goes on in the new history
        #expect(!scene.fetches.isEmpty)
    }

    @Test func aServerThatLagsIsWaitedForBeforeAnythingIsThrownAway() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        // When
        for _ in 0..<3 {
            scene.replyToFeed(gone(.cursorAhead))
            #expect(scene.device.store.state.cursor == Scene.position(10))
            scene.device.fireTimer()
        }
        #expect(scene.text("c/1") == "1")
        scene.replyToFeed(gone(.cursorAhead))
        // Then
        #expect(scene.since == .start)
        #expect(scene.stored("c/1") == nil)
    }

    @Test func resetsInARowSlowDown() {
        // Given
        var scene = Scene.live()
        scene.replyToFeed(gone(.cursorExpired))
        #expect(scene.feed != nil)
        // When
        scene.replyToFeed(gone(.cursorExpired))
        // Then
        #expect(scene.feed == nil)
        #expect((scene.device.deadline ?? 0) > scene.device.uptime)
    }

    @Test func aResetThatTheDiskDoesNotTakeIsTriedAgain() {
        // Given
        var scene = Scene.live()
        scene.replyToFeed(gone(.cursorExpired), settles: false)
        // When
        scene.device.failNext(.full)
        // Then
        #expect(scene.feed == nil)
        let callerID = scene.put("c/1", "1")
        #expect(scene.device.answers[callerID] == .accepted(LocalWriteID(1)), "the user's writes go on meanwhile")
        // Then the disk takes transactions again
        #expect(scene.since == .start)
    }
}
