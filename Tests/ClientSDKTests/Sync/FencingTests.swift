import FreshetWire
import Testing

@testable import FreshetClient

/// A read is stored only if it is not older than the device's knowledge of the key (rule 4).
@Suite struct FencingTests {
    private let key = Scene.key("c/1")

    private func record(_ revision: Int64, _ value: String, at position: Int64) -> Reply {
        .record(Scene.record(key, revision, Scene.json(value)), Scene.position(position))
    }

    @Test func aReadIsStoredShownAndAnswered() {
        // Given
        var scene = Scene.live(.cachedKeys)
        let callerID = scene.fetch("c/1")
        // When
        scene.answerFetch(record(4, "1", at: 10))
        // Then
        #expect(scene.text("c/1") == "1")
        #expect(scene.stored("c/1")?.asOf == Scene.revision(10))
        #expect(scene.device.answers[callerID] == .views([scene.view("c/1")]))
    }

    @Test func oneOlderThanThePositionIsDroppedAndAskedAgain() {
        // Given
        var scene = Scene.live(.cachedKeys)
        let callerID = scene.fetch("c/1")
        // When
        scene.answerFetch(record(4, "1", at: 9))
        // Then
        #expect(scene.stored("c/1") == nil)
        #expect(scene.device.answers[callerID] == nil)
        scene.device.fireTimer()
        scene.answerFetch(record(4, "1", at: 10))
        #expect(scene.text("c/1") == "1")
    }

    @Test func itIsGivenUpAfterSomeAttempts() {
        // Given
        var scene = Scene.live(.cachedKeys)
        let callerID = scene.fetch("c/1")
        // When
        for _ in 0..<4 {
            scene.answerFetch(record(4, "1", at: 9))
            if scene.device.answers[callerID] == nil { scene.device.fireTimer() }
        }
        // Then
        #expect(scene.failure(callerID) == .outdated)
        #expect(scene.fetches.isEmpty)
    }

    @Test(arguments: [
        Scene.put("c/1", 12, "2"), Scene.delete("c/1", 12), Scene.invalidate(.key(Scene.key("c/1")), 12),
        Scene.invalidate(.collection("c", prefix: ""), 12), Scene.invalidate(.everything, 12), Scene.put("c/1", 12, nil),
    ])
    func aChangeWhileItIsUnderWayRaisesTheFloor(change: Change) {
        // Given
        var scene = Scene.live(.cachedKeys)
        _ = scene.fetch("c/1")
        // When: the change comes, then an answer from before it
        scene.page([change], to: 12)
        scene.answerFetch(record(4, "stale", at: 11))
        // Then
        #expect(scene.text("c/1") != "stale")
        scene.device.fireTimer()
        scene.answerFetch(record(12, "fresh", at: 12))
        #expect(scene.text("c/1") == "fresh")
    }

    @Test func aChangeThatComesAfterTheAnswerWins() {
        // Given
        var scene = Scene.live(.cachedKeys)
        _ = scene.fetch("c/1")
        scene.answerFetch(record(4, "1", at: 10))
        // When
        scene.page([Scene.invalidate(.key(key), 12)], to: 12)
        // Then
        #expect(scene.stored("c/1") == nil)
    }

    @Test func aNewerReadIsNotUndoneByAnOlderChange() {
        // Given: the read is ahead of the feed
        var scene = Scene.live(.cachedKeys)
        _ = scene.fetch("c/1")
        scene.answerFetch(record(20, "new", at: 21))
        // When
        scene.page([Scene.put("c/1", 12, "old")], to: 12)
        // Then
        #expect(scene.text("c/1") == "new")
        // When
        scene.page([Scene.invalidate(.everything, 15)], to: 15)
        // Then: it was read after that
        #expect(scene.text("c/1") == "new")
    }

    @Test func noRecordIsKnowledgeToo() {
        // Given
        var scene = Scene.live(.cachedKeys)
        let callerID = scene.fetch("c/1")
        // When
        scene.answerFetch(.missing(Scene.position(20)))
        // Then
        #expect(scene.view("c/1").value == .absent)
        #expect(scene.device.answers[callerID] == .views([scene.view("c/1")]))
        // When: the feed is behind that
        scene.page([Scene.put("c/1", 12, "before")], to: 12)
        // Then
        #expect(scene.view("c/1").value == .absent)
        scene.page([Scene.put("c/1", 25, "after")], to: 25)
        #expect(scene.text("c/1") == "after")
    }

    @Test func unchangedRaisesWhatIsKnown() {
        // Given
        var scene = Scene.live(.cachedKeys, holding: [Scene.put("c/1", 4, "1")])
        scene.page([], to: 14)
        let callerID = scene.fetch("c/1")
        guard case .record(key, Scene.position(4), nil)? = scene.fetches.first?.kind else { Issue.record("no entity tag"); return }
        // When
        scene.answerFetch(.notModified(Scene.position(15)))
        // Then
        #expect(scene.stored("c/1")?.asOf == Scene.revision(15))
        #expect(scene.device.answers[callerID] == .views([scene.view("c/1")]))
        #expect(scene.text("c/1") == "1")
    }

    @Test func thoseWhoAskForTheSameShareOneRead() {
        // Given
        var scene = Scene.live(.cachedKeys)
        let first = scene.fetch("c/1")
        let second = scene.fetch("c/1")
        // When
        scene.device.handle(.abandon(first))
        // Then
        #expect(scene.fetches.count == 1)
        scene.answerFetch(record(4, "1", at: 10))
        #expect(scene.device.answers[first] == nil)
        #expect(scene.device.answers[second] != nil)
    }

    @Test func whoJoinsLaterGetsNothingOlder() {
        // Given
        var scene = Scene.live(.cachedKeys)
        _ = scene.fetch("c/1")
        scene.page([Scene.put("c/9", 15, "x")], to: 15)
        let second = scene.fetch("c/1")
        // When
        scene.answerFetch(record(4, "1", at: 11))
        // Then
        #expect(scene.device.answers[second] == nil)
    }

    @Test func manyAreReadTogetherAndLargeOnesAlone() {
        // Given
        var scene = Scene.live(.cachedKeys)
        let other = Scene.key("c/2")
        let callerID = scene.fetch(key, other)
        guard case .reads? = scene.fetches.first?.kind else { Issue.record("not together"); return }
        // When
        let large = Record(
            key: key, revision: Scene.revision(4), contentType: Content.json, size: 1 << 20, modified: Timestamp(milliseconds: 0))
        scene.answerFetch(.reads(ReadsResponse(records: [large], missing: [other], cursor: Scene.position(10))))
        // Then
        #expect(scene.view("c/2").value == .absent)
        #expect(scene.device.answers[callerID] == nil)
        guard case .record(key, nil, nil)? = scene.fetches.first?.kind else { Issue.record("not alone"); return }
        scene.answerFetch(record(4, "1", at: 10))
        #expect(scene.device.answers[callerID] == .views([scene.view("c/1"), scene.view("c/2")]))
    }

    @Test func aReadOfAPendingKeyChangesTheBaseOnly() {
        // Given
        var scene = Scene.live(.cachedKeys)
        scene.put("c/1", "mine")
        let callerID = scene.fetch("c/1")
        // When
        scene.answerFetch(record(4, "theirs", at: 10))
        // Then
        #expect(scene.text("c/1") == "mine")
        #expect(scene.view("c/1").revision == Scene.revision(4))
        #expect(scene.isPending("c/1"))
        #expect(scene.device.answers[callerID] == .views([scene.view("c/1")]))
    }

    @Test func aFailingServerIsToldOfAfterSomeAttempts() {
        // Given
        var scene = Scene.live(.cachedKeys)
        let callerID = scene.fetch("c/1")
        // When
        for _ in 0..<4 {
            scene.answerFetch(.failure(.unreachable("no route")))
            if scene.device.answers[callerID] == nil { scene.device.fireTimer() }
        }
        // Then
        #expect(scene.failure(callerID) == .offline(.unreachable("no route")))
    }

    @Test func aRefusalIsToldOfAtOnce() {
        // Given
        var scene = Scene.live(.cachedKeys)
        let callerID = scene.fetch("c/1")
        let problem = Problem(.forbidden, "not yours")
        // When
        scene.answerFetch(.problem(problem, cursor: Scene.position(10), retryAfter: nil))
        // Then
        #expect(scene.failure(callerID) == .refused(problem))
    }

    @Test func aFullDiskGivesTheAskerTheValueAndShowsItToNobody() {
        // Given
        var scene = Scene.live(.cachedKeys)
        let callerID = scene.fetch("c/1")
        scene.answerFetch(record(4, "1", at: 10), settles: false)
        // When
        scene.device.failNext(.full)
        // Then
        guard case .views(let views)? = scene.device.answers[callerID] else { Issue.record("no answer"); return }
        #expect(views.first?.value == .content(Scene.json("1")))
        #expect(scene.stored("c/1") == nil)
        #expect(scene.device.publications.isEmpty)
    }

    @Test func anAnswerThatCameTwiceIsIgnored() {
        // Given
        var scene = Scene.live(.cachedKeys)
        _ = scene.fetch("c/1")
        let id = scene.fetches.first?.id ?? RequestID(0)
        scene.answerFetch(record(4, "1", at: 10))
        // When
        scene.device.handle(.replied(id, record(3, "old", at: 99)))
        // Then
        #expect(scene.text("c/1") == "1")
        #expect(scene.device.transactions.isEmpty)
    }

    @Test func whoAsksDuringAResetIsNotToldWhatWasReadBefore() {
        // Given an answer on its way to the disk when a reset begins
        var scene = Scene.live(.cachedKeys)
        let first = scene.fetch("c/1")
        scene.answerFetch(record(4, "1", at: 10), settles: false)
        scene.replyToFeed(.problem(Problem(.cursorExpired, "gone"), cursor: Scene.position(50), retryAfter: nil), settles: false)
        // When another caller asks for the current value
        let second = CallerID(99)
        scene.device.handle(.fetch(FetchRequest(callerID: second, items: [.init(key: Scene.key("c/1"), known: nil)], mustBeNew: true)))
        scene.device.settleDisk()
        // Then that answer is for the first alone
        #expect(scene.device.answers[first] != nil)
        #expect(scene.device.answers[second] == nil)
        scene.page([], to: 50)
        scene.answerFetch(record(40, "2", at: 50))
        guard case .views(let views)? = scene.device.answers[second] else { Issue.record("no answer"); return }
        #expect(views.first?.value == .content(Scene.json("2")))
    }

    @Test("the response to a read whose callers have their answer by then is no answer to a later read")
    func laterCallerWaits() {
        // Given a slow disk, and a read of two records of which one may not be read
        var scene = Scene.live(.cachedKeys)
        _ = scene.set("c/9", .put(Scene.json("1")), settles: false)
        let earlier = scene.fetch(Scene.key("c/1"), Scene.key("c/2"))
        let record = Scene.record(Scene.key("c/2"), 4, Scene.json("old"))
        scene.answerFetch(
            .reads(ReadsResponse(records: [record], missing: [], forbidden: [Scene.key("c/1")], cursor: Scene.position(10))),
            settles: false)
        #expect(scene.failure(earlier) != nil)
        // When
        let later = scene.fetch("c/2")
        scene.device.settleDisk()
        // Then
        #expect(scene.device.answers[later] == nil)
        scene.answerFetch(.record(Scene.record(Scene.key("c/2"), 11, Scene.json("new")), Scene.position(11)))
        guard case .views(let views)? = scene.device.answers[later] else { Issue.record("not answered"); return }
        #expect(views.first?.revision == Scene.revision(11))
    }
}
