import FreshetWire
import Testing

@testable import FreshetClient

/// The feed: where it begins, and which changes are stored or refused.
@Suite struct FollowingTests {
    @Test func aReplicaBeginsFromNothingAndAHolderFromNow() {
        // Given, When, Then
        #expect(Scene(.everything).since == .start)
        #expect(Scene(.cachedKeys).since == .now)
        #expect(Scene(.everything).wait == 0)
    }

    @Test func pagesAreReadToTheEndBeforeItWaits() {
        // Given
        var scene = Scene(.everything)
        // When
        scene.page([Scene.put("c/1", 3, "1")], to: 3, upToDate: false)
        // Then
        #expect(scene.since == .after(Scene.position(3)))
        #expect(scene.wait == 0)
        #expect(scene.device.status?.connection == .catchingUp)
        // When
        scene.page([Scene.put("c/2", 5, "2")], to: 6)
        // Then
        #expect(scene.since == .after(Scene.position(6)))
        #expect(scene.wait == 25)
        #expect(scene.device.status?.connection == .live)
    }

    @Test func thePositionComesFromTheEnvelope() {
        // Given
        var scene = Scene.live()
        // When
        scene.page([Scene.put("c/1", 12, "1")], to: 40)
        // Then
        #expect(scene.device.store.state.cursor == Scene.position(40))
        #expect(scene.since == .after(Scene.position(40)))
    }

    @Test func cursorAndRecordsAreOneTransaction() {
        // Given
        var scene = Scene.live()
        // When
        scene.page([Scene.put("c/1", 12, "1")], to: 12, settles: false)
        // Then
        #expect(scene.device.transactions.count == 1)
        #expect(scene.device.transactions.first?.state == [.cursor(Scene.position(12)), .completeAt(scene.device.now.wall)])
        #expect(scene.device.transactions.first?.entries.count == 1)
        #expect(scene.feed == nil, "nothing is asked from a position that is not on disk")
        #expect(scene.device.publications.isEmpty, "nothing shows that is not on disk")
    }

    @Test func aFullDiskKeepsThePositionAndAsksAgain() {
        // Given
        var scene = Scene.live()
        scene.page([Scene.put("c/1", 12, "1")], to: 12, settles: false)
        // When
        scene.device.failNext(.full)
        // Then
        #expect(scene.device.machine.inspection.state.cursor == Scene.position(10))
        #expect(scene.device.status?.feedTrouble == .disk(.full))
        #expect(scene.device.status?.connection == .catchingUp)
        #expect(scene.feed == nil)
        // When
        scene.device.fireTimer()
        // Then
        #expect(scene.since == .after(Scene.position(10)))
        scene.page([Scene.put("c/1", 12, "1")], to: 12)
        #expect(scene.text("c/1") == "1")
        #expect(scene.device.status?.feedTrouble == nil)
    }

    @Test func aHolderStoresOnlyWhatItHolds() {
        // Given
        var scene = Scene.live(.cachedKeys, holding: [Scene.put("c/1", 4, "1")])
        // When
        scene.page([Scene.put("c/1", 12, "2"), Scene.put("c/2", 13, "3")], to: 13)
        // Then
        #expect(scene.text("c/1") == "2")
        #expect(scene.stored("c/2") == nil)
    }

    @Test func aHolderKeepsWatchOverADeletedKey() {
        // Given
        var scene = Scene.live(.cachedKeys, holding: [Scene.put("c/1", 4, "1")])
        // When
        scene.page([Scene.delete("c/1", 12)], to: 12)
        // Then
        #expect(scene.view("c/1").value == .absent)
        // When
        scene.page([Scene.put("c/1", 14, "2")], to: 14)
        // Then
        #expect(scene.text("c/1") == "2")
    }

    @Test func aReplicaForgetsADeletedKey() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        // When
        scene.page([Scene.delete("c/1", 12)], to: 12)
        // Then
        #expect(scene.stored("c/1") == nil)
        #expect(scene.device.publications.contains(.view(KeyView(Scene.key("c/1"), nil))))
    }

    @Test func anInvalidationEvictsAndASweepEvictsMany() {
        // Given a device that keeps the records that were read
        var scene = Scene.live(.cachedKeys, holding: [Scene.put("c/1", 4, "1"), Scene.put("c/21", 5, "1"), Scene.put("c/22", 6, "1")])
        // When
        scene.page([Scene.invalidate(.key(Scene.key("c/1")), 11), Scene.invalidate(.collection("c", prefix: "2"), 12)], to: 12)
        // Then
        #expect(scene.device.store.entries.isEmpty)
        #expect(scene.device.publications.contains(.evicted(.collection("c", prefix: "2"), before: Scene.position(12))))
    }

    @Test func aCopyShowsWhatWasInvalidatedUntilItHasReadItAgain() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1"), Scene.put("c/2", 5, "2"), Scene.put("d/1", 6, "3")])
        // When
        scene.page([Scene.invalidate(.collection("c", prefix: ""), 12)], to: 12)
        // Then all are shown, and those of the collection are not confirmed
        #expect(["c/1", "c/2", "d/1"].map(scene.text) == ["1", "2", "3"])
        #expect(["c/1", "c/2", "d/1"].map { scene.stored($0)?.needsRefresh } == [true, true, false])
        #expect(scene.device.status?.isVerified == false)
        // When the read that left at once says that one is new, and one is gone
        #expect(scene.fetches.count == 1)
        let records = [Scene.record(Scene.key("c/1"), 11, Scene.json("new"))]
        scene.answerFetch(.reads(ReadsResponse(records: records, missing: [Scene.key("c/2")], cursor: Scene.position(12))))
        // Then
        #expect(scene.text("c/1") == "new" && scene.view("c/2").value == .absent && scene.text("d/1") == "3")
        #expect(scene.device.status?.isVerified == true)
    }

    @Test func aValueThatWasLeftOutIsReadByACopyWhichShowsTheOneBeforeUntilThen() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1"), Scene.put("c/2", 5, "1")])
        // When one grows past the limit of the feed, and another comes that was never small
        scene.page([Scene.put("c/1", 12, nil), Scene.put("c/3", 13, nil)], to: 13)
        // Then
        #expect(scene.text("c/1") == "1" && scene.stored("c/1")?.needsRefresh == true)
        #expect(scene.view("c/3").value == .elsewhere && scene.device.status?.isVerified == false)
        // When the values are too large to come together
        let outlines = [("c/1", 12), ("c/3", 13)].map { (key: String, revision: Int64) in
            Record(
                key: Scene.key(key), revision: Scene.revision(revision), contentType: Content.json, size: 1 << 20,
                modified: Timestamp(milliseconds: 0))
        }
        scene.answerFetch(.reads(ReadsResponse(records: outlines, missing: [], cursor: Scene.position(13))))
        // Then each is read by itself
        #expect(scene.fetches.count == 2 && scene.fetches.allSatisfy { if case .record = $0.kind { true } else { false } })
        scene.answerFetch(.record(Scene.record(Scene.key("c/1"), 12, Scene.json("large")), Scene.position(13)))
        scene.answerFetch(.record(Scene.record(Scene.key("c/3"), 13, Scene.json("larger")), Scene.position(13)))
        scene.pass(1_000)
        scene.device.settleDisk()
        #expect(scene.text("c/1") == "large" && scene.text("c/3") == "larger")
        #expect(scene.device.status?.isVerified == true)
    }

    @Test func aValueLeftOutIsEvictedUnlessItIsTheSameRevision() {
        // Given a device that keeps the records that were read
        var scene = Scene.live(.cachedKeys, holding: [Scene.put("c/1", 4, "1"), Scene.put("c/2", 5, "1")])
        // When
        scene.page([Scene.put("c/1", 12, nil)], to: 12)
        // Then
        #expect(scene.stored("c/1") == nil)
        #expect(scene.text("c/2") == "1")
    }

    @Test func whatIsNotPastThePositionAskedFromIsDropped() {
        // Given
        var scene = Scene.live()
        // When
        scene.page([Scene.put("c/1", 8, "old"), Scene.put("c/2", 12, "2")], to: 12)
        // Then
        #expect(scene.stored("c/1") == nil)
        #expect(scene.text("c/2") == "2")
    }

    @Test func aQuietPollMovesOn() {
        // Given
        var scene = Scene.live()
        scene.device.uptime += 25_000
        // When
        scene.replyToFeed(.noChange(Scene.position(30)))
        // Then
        #expect(scene.device.store.state.cursor == Scene.position(30))
        #expect(scene.device.status?.connection == .live)
        #expect(scene.wait == 25)
    }

    @Test func aQuietFirstAnswerIsTheFirstPosition() {
        // Given
        var scene = Scene(.cachedKeys)
        #expect(scene.since == .now)
        // When
        scene.replyToFeed(.noChange(Scene.position(10)))
        scene.device.answerQuery()
        scene.device.settleDisk()
        // Then
        #expect(scene.device.store.state.epoch == Epoch("a"))
        #expect(scene.since == .after(Scene.position(10)))
        scene.replyToFeed(.noChange(Scene.position(10)))
        #expect(scene.device.status?.connection == .live)
    }

    @Test func fromTheStartItSaysThatThereIsNothing() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        scene.replyToFeed(.problem(Problem(.cursorExpired, "gone"), cursor: Scene.position(20), retryAfter: nil))
        #expect(scene.since == .start)
        // When
        scene.replyToFeed(.noChange(Scene.position(20)))
        // Then
        #expect(scene.stored("c/1") == nil)
        #expect(scene.since == .after(Scene.position(20)))
        #expect(scene.device.status?.connection == .live)
        #expect(scene.device.status?.feedTrouble == nil)
    }

    @Test(arguments: [
        ChangePage(changes: [], cursor: Scene.position(9), upToDate: true),
        ChangePage(changes: [], cursor: Scene.position(10), upToDate: false),
        ChangePage(changes: [Scene.put("c/1", 20, "1")], cursor: Scene.position(15), upToDate: true),
    ])
    func aPageThatCannotBeIsRefusedAndAskedForEverMoreSlowly(page: ChangePage) {
        // Given
        var scene = Scene.live()
        var waits: [Int64] = []
        for _ in 0..<8 {
            // When
            scene.replyToFeed(.page(page))
            // Then
            #expect(scene.feed == nil)
            #expect(scene.device.store.state.cursor == Scene.position(10))
            #expect(scene.device.store.entries.isEmpty)
            if case .malformed? = scene.device.status?.feedTrouble {} else { Issue.record("the status does not report it") }
            waits.append((scene.device.deadline ?? 0) - scene.device.uptime)
            scene.device.fireTimer()
        }
        #expect(waits.allSatisfy { $0 >= 50 && $0 <= 30_100 })
        #expect(waits.max() ?? 0 > 1_000)
    }

    @Test func garbageNeverLoopsHot() {
        // Given
        var scene = Scene.live()
        // When
        scene.replyToFeed(.garbage("<html>"))
        // Then
        #expect(scene.feed == nil)
        #expect(scene.device.status?.feedTrouble == .malformed("<html>"))
        #expect((scene.device.deadline ?? 0) > scene.device.uptime)
    }

    @Test func aPollThatIsNotHeldSlowsDown() {
        // Given
        var scene = Scene.live()
        // When
        scene.replyToFeed(.noChange(Scene.position(10)))
        // Then
        #expect(scene.feed == nil)
        #expect((scene.device.deadline ?? 0) > scene.device.uptime)
        scene.device.fireTimer()
        #expect(scene.wait == 25)
    }

    @Test func theFilterGoesAlong() throws {
        // Given
        let filter = try ChangeFilter(collections: ["c"], prefix: "x")
        // When
        let scene = Scene(.everything, filter: filter)
        // Then
        guard case .changes(_, filter, _, 1_000, nil)? = scene.feed?.kind else { Issue.record("no filter"); return }
    }

    @Test func withMoreCollectionsThanARequestMayNameItFollowsAllAndPassesOverTheOthers() throws {
        // Given
        let filter = try ChangeFilter(collections: (1...65).map { "c\($0)" })
        var scene = Scene.live(.everything, filter: filter)
        guard case .changes(_, .all, _, 1_000, nil)? = scene.feed?.kind else {
            Issue.record("another filter is asked for")
            return
        }
        // When changes of other collections come too
        scene.page(
            [Scene.put("c65/1", 11, "1"), Scene.put("d/1", 12, "2"), Scene.invalidate(.key(Scene.key("d/2")), 13)], to: 13, upToDate: false)
        // Then they are not stored, and the position is past them
        #expect(scene.text("c65/1") == "1" && scene.stored("d/1") == nil)
        #expect(scene.since == .after(Scene.position(13)))
        // When a page has nothing but those
        scene.page([Scene.put("d/1", 14, "3")], to: 14)
        // Then
        #expect(scene.since == .after(Scene.position(14)) && scene.stored("d/1") == nil)
    }

    @Test func anotherFilterAtTheNextStartVerifiesEverything() throws {
        // Given
        var scene = Scene.live(.cachedKeys, filter: try ChangeFilter(collections: ["c"]), holding: [Scene.put("c/1", 4, "1")])
        var settings = SyncSettings()
        settings.following = .cachedKeys
        settings.filter = try ChangeFilter(collections: ["c", "d"])
        // When
        scene.device.machine = SyncMachine(settings: settings, client: scene.device.store.state.client)
        scene.device.calls = []
        scene.device.start()
        scene.device.settleDisk()
        // Then
        #expect(scene.device.store.state.pass > 2)
        #expect(scene.since == .now)
    }

    @Test func aRestartGoesOnFromTheDisk() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        // When
        scene.device.crash()
        // Then
        #expect(scene.since == .after(Scene.position(10)))
        #expect(scene.wait == 0, "after a gap it catches up before it waits")
        #expect(scene.text("c/1") == "1")
    }

    @Test func whatWasReadBeforeTheFirstPositionIsVerified() {
        // Given: a read that is older than the position that the feed begins at
        var scene = Scene(.cachedKeys)
        _ = scene.fetch("c/1")
        scene.answerFetch(.record(Scene.record(Scene.key("c/1"), 4, Scene.json("1")), Scene.position(5)))
        // When
        scene.page([], to: 10)
        // Then: it is asked for again, since it may have changed between 5 and 10
        guard case .reads(let request)? = scene.fetches.first?.kind else { Issue.record("not verified"); return }
        #expect(request.items == [.init(key: Scene.key("c/1"), revision: Scene.revision(4))])
        scene.answerFetch(
            .reads(
                ReadsResponse(records: [Scene.record(Scene.key("c/1"), 7, Scene.json("2"))], missing: [], cursor: Scene.position(10))))
        #expect(scene.text("c/1") == "2")
    }

    @Test func aReplicaDropsWhatTheFirstReadingDidNotBring() {
        // Given
        var scene = Scene(.everything)
        _ = scene.fetch("c/1")
        scene.answerFetch(.record(Scene.record(Scene.key("c/1"), 4, Scene.json("1")), Scene.position(5)))
        // When: deleted between 5 and 10, which a reading from the start does not report
        scene.page([Scene.put("c/2", 9, "2")], to: 10)
        // Then
        #expect(scene.stored("c/1") == nil)
        #expect(scene.text("c/2") == "2")
    }
}
