// swift-format-ignore-file: NeverUseForceTry, NeverForceUnwrap

import FreshetWire
import Testing

@testable import FreshetClient

/// A token that may read nothing of what the device follows.
@Suite("A feed that may not be read") struct ForbiddenFeedTests {
    private static var problem: Problem {
        var problem = Problem(.forbidden, "no")
        problem.needs = Problem.Need(may: "read", of: "shop:*")
        return problem
    }
    private static let store = StoreIdentifier("store1")!

    private func refuse(_ scene: inout Scene, _ problem: Problem = problem, from store: StoreIdentifier? = nil) {
        guard let feed = scene.feed else { Issue.record("no request for changes is under way"); return }
        scene.device.reply(feed.id, .problem(problem, cursor: nil, retryAfter: nil), from: store)
        scene.device.settleDisk()
    }

    @Test("takes all records off the device at once, keeps the writes, and brings everything back with the right")
    func withdrawn() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        scene.put("c/2", "2")
        let fetch = scene.fetch("c/9")
        // When
        refuse(&scene)
        // Then
        #expect(scene.device.store.entries.isEmpty && scene.view("c/1").value == .unknown && scene.device.shown.count == 1)
        #expect(scene.failure(fetch) == .refused(Self.problem))
        #expect(scene.row(1)?.number == 1 && scene.text("c/2") == "2" && scene.device.store.state.client.text == "device")
        guard case .forbidden? = scene.device.status?.connection else { Issue.record("\(String(describing: scene.device.status))"); return }
        #expect(scene.device.status?.feedTrouble == .refused(Self.problem))
        // And it asks again after the longest back-off
        #expect(scene.feed == nil)
        scene.pass(SyncSettings().longestDelay - 1)
        #expect(scene.feed == nil)
        scene.pass(1)
        #expect(scene.since == .start)
        // When it is refused again, nothing is left to remove
        scene.device.publications = []
        refuse(&scene)
        #expect(!scene.device.publications.contains(.cleared))
        // When the right is back
        scene.pass(SyncSettings().longestDelay)
        scene.page([Scene.put("c/1", 4, "1")], to: 10)
        // Then
        #expect(
            scene.text("c/1") == "1" && scene.numbers == [1]
                && scene.device.status?.connection != .offline(since: Timestamp(milliseconds: 0)))
    }

    @Test(
        "a rejected write that met a record after the first refusal loses it at the next one, however it comes", arguments: [false, true])
    func rejectedWrites(_ isInFlight: Bool) {
        // Given a device that may read nothing, and a write by a token that may read its record
        var scene = Scene.live()
        refuse(&scene)
        scene.pass(SyncSettings().longestDelay)
        scene.put("c/1", "1")
        let current = Scene.record(Scene.key("c/1"), 12, Scene.json("secret"))
        func reject(_ scene: inout Scene) { scene.results([Scene.rejected(1, current: current)], at: 12) }
        if !isInFlight { reject(&scene) }
        // When the feed is refused again
        refuse(&scene)
        if isInFlight { reject(&scene) }
        // Then
        #expect(scene.device.store.rejections.count == 1)
        #expect(scene.device.store.rejections.first?.problem.current == nil)
    }

    @Test("a read that was sent before the refusal is sent again")
    func readInFlight() {
        // Given a device without records, whose feed is refused
        var scene = Scene.live(.cachedKeys)
        refuse(&scene)
        scene.pass(SyncSettings().longestDelay)
        let callerID = scene.fetch("c/1")
        guard let earlier = scene.fetches.first else { Issue.record("not read"); return }
        // When it is refused again
        refuse(&scene)
        scene.device.reply(earlier.id, .record(Scene.record(Scene.key("c/1"), 4, Scene.json("secret")), Scene.position(10)))
        scene.device.settleDisk()
        // Then
        #expect(scene.stored("c/1") == nil)
        #expect(scene.fetches.count == 1 && scene.fetches.first?.id != earlier.id)
        scene.answerFetch(.missing(Scene.position(10)))
        #expect(scene.device.answers[callerID] != nil)
    }

    @Test("a copy of everything that may not read one of its records claims no absence, and is read again")
    func partOfCopy() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1"), Scene.put("c/2", 5, "2")])
        #expect(scene.device.machine.absence(of: Scene.key("c/9")) != nil)
        _ = scene.fetch(Scene.key("c/1"), Scene.key("c/2"))
        // When
        scene.answerFetch(.reads(ReadsResponse(records: [], missing: [], forbidden: [Scene.key("c/1")], cursor: Scene.position(10))))
        // Then
        #expect(scene.stored("c/1") == nil && scene.stored("c/2") != nil)
        #expect(scene.device.machine.absence(of: Scene.key("c/1")) == nil)
        #expect(scene.since == .start)
    }

    @Test("a refusal that is not about reading, or not the store's own, removes nothing", arguments: [0, 1, 2])
    func others(_ kind: Int) {
        // Given a device that belongs to a store
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        guard let feed = scene.feed else { Issue.record("no request for changes is under way"); return }
        let page = ChangePage(changes: [], cursor: Scene.position(11), upToDate: true)
        scene.device.reply(feed.id, .page(page), lastWrite: 0, from: Self.store)
        scene.device.settleDisk()
        #expect(scene.device.store.state.store == Self.store)
        // When
        var other = Self.problem
        if kind == 0 { other.needs = nil }
        refuse(&scene, other, from: kind == 0 ? Self.store : kind == 1 ? nil : StoreIdentifier("store2"))
        // Then
        #expect(scene.text("c/1") == "1" && scene.stored("c/1") != nil)
        guard case .offline? = scene.device.status?.connection else { Issue.record("\(String(describing: scene.device.status))"); return }
        // When the store says it
        scene.pass(60_000)
        refuse(&scene, from: Self.store)
        #expect(scene.stored("c/1") == nil)
    }

    @Test("the verification of cached keys is refused: they leave the device")
    func verification() {
        // Given
        var scene = Scene.live(.cachedKeys, holding: [Scene.put("c/1", 4, "1")])
        scene.replyToFeed(.problem(Problem(.rightsChanged, "changed"), cursor: nil, retryAfter: nil))
        scene.page([], to: 12)
        guard let reads = scene.fetches.first else { Issue.record("nothing is verified"); return }
        // When
        scene.device.reply(reads.id, .problem(Self.problem, cursor: nil, retryAfter: nil))
        scene.device.settleDisk()
        // Then
        #expect(scene.device.store.entries.isEmpty && scene.view("c/1").value == .unknown && scene.since == .now)
    }

    @Test("a record whose read is refused leaves the device", arguments: [false, true])
    func record(_ isOfMany: Bool) {
        // Given
        var scene = Scene.live(.cachedKeys, holding: [Scene.put("c/1", 4, "1"), Scene.put("c/2", 5, "1")])
        // When
        let callerID = isOfMany ? scene.fetch(Scene.key("c/1"), Scene.key("c/2")) : scene.fetch("c/1")
        scene.answerFetch(
            isOfMany
                ? .reads(ReadsResponse(records: [], missing: [], forbidden: [Scene.key("c/1")], cursor: Scene.position(10)))
                : .problem(Self.problem, cursor: nil, retryAfter: nil))
        // Then
        #expect(scene.stored("c/1") == nil && scene.view("c/1").value == .unknown && scene.stored("c/2") != nil)
        guard case .refused(let problem)? = scene.failure(callerID) else { Issue.record("answered"); return }
        #expect(problem.code == .forbidden)
    }

    @Test("an outcome that is older than a record which may not be read any more brings no earlier record back")
    func outcomeUnderWay() {
        // Given a write in flight, and a read of the record as another client changed it after that
        var scene = Scene.live(.cachedKeys)
        scene.put("c/1", "1")
        _ = scene.fetch("c/1")
        scene.answerFetch(.record(Scene.record(Scene.key("c/1"), 12, Scene.json("2")), Scene.position(12)), lastWrite: 1)
        #expect(scene.stored("c/1")?.revision == Scene.revision(12))
        // When the record may not be read, and then the outcome arrives
        _ = scene.fetch("c/1")
        scene.answerFetch(.problem(Self.problem, cursor: nil, retryAfter: nil))
        #expect(scene.stored("c/1") == nil && scene.isPending("c/1"))
        scene.results([Scene.applied(1, 11)], at: 11)
        // Then
        #expect(scene.stored("c/1") == nil && !scene.isPending("c/1"))
        #expect(scene.verdict(1) != nil && scene.row(1) == nil)
    }

    @Test("a closure whose result is dropped, since a copy is read again, is called again")
    func closureOfBeforeThePass() {
        // Given a conflict that a closure has
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1"), Scene.put("c/2", 5, "1")])
        scene.put("c/1", "mine", .merge(MergeName("m")))
        scene.results([Scene.rejected(1, current: Scene.record(Scene.key("c/1"), 12, Scene.json("theirs")))], at: 12)
        #expect(scene.device.merges.count == 1)
        // When another record may not be read, and the copy is read again
        _ = scene.fetch("c/2")
        scene.answerFetch(.problem(Self.problem, cursor: nil, retryAfter: nil))
        #expect(scene.since == .start)
        scene.device.handle(.merged(LocalWriteID(1), .put(Scene.json("both")), generation: scene.device.merges[0].generation))
        scene.page([Scene.put("c/1", 12, "theirs")], to: 13)
        // Then
        #expect(scene.device.merges.count == 2 && scene.device.merges.last?.theirs == Scene.json("theirs"))
        guard let last = scene.device.merges.last else { return }
        scene.device.handle(.merged(LocalWriteID(1), .put(Scene.json("both")), generation: last.generation))
        scene.device.settleDisk()
        #expect(scene.verdict(1) == .merged(into: LocalWriteID(2)) && scene.text("c/1") == "both")
    }

    @Test("a refusal of a record that the device held repeats the pass, and of another one leaves the feed alone")
    func pageUnderWay() {
        // Given a device that asks for the first page
        var scene = Scene.live(.cachedKeys, holding: [Scene.put("c/1", 4, "1")])
        scene.replyToFeed(.problem(Problem(.rightsChanged, "changed"), cursor: nil, retryAfter: nil))
        let earlier = scene.feed?.id
        #expect(scene.since == .now)
        // When
        _ = scene.fetch("c/1")
        scene.answerFetch(.problem(Self.problem, cursor: nil, retryAfter: nil))
        // Then
        #expect(scene.stored("c/1") == nil && scene.feed == nil)
        scene.pass(SyncSettings().longestDelay)
        scene.device.settleDisk()
        #expect(scene.since == .now && scene.feed?.id != earlier)
        // When
        let later = scene.feed?.id
        _ = scene.fetch("c/2")
        scene.answerFetch(.problem(Self.problem, cursor: nil, retryAfter: nil))
        // Then
        #expect(later != nil && scene.feed?.id == later)
    }

    @Test("keys that are verified under other rights than the feed's are verified again")
    func verificationUnderOtherRights() {
        // Given
        var scene = Scene.live(.cachedKeys, holding: [Scene.put("c/1", 4, "1")])
        scene.replyToFeed(.problem(Problem(.rightsChanged, "changed"), cursor: nil, retryAfter: nil))
        scene.page([], to: 12)
        // When
        let other = Cursor(epoch: Epoch("a")!, revision: Scene.revision(12), rights: RightsDigest("a3ywmagn")!)
        scene.answerFetch(.reads(ReadsResponse(records: [], missing: [], forbidden: [], cursor: other)))
        // Then
        #expect(scene.device.status?.isVerified == false && scene.feed == nil)
        scene.pass(SyncSettings().longestDelay)
        scene.device.settleDisk()
        #expect(scene.since == .now)
    }

    @Test("a rejected write that was decided under other rights than the feed's keeps no record")
    func rejectionUnderOtherRights() {
        // Given
        var scene = Scene.live()
        scene.put("c/1", "1")
        // When
        let other = Cursor(epoch: Epoch("a")!, revision: Scene.revision(12), rights: RightsDigest("a3ywmagn")!)
        let outcome = Scene.rejected(1, current: Scene.record(Scene.key("c/1"), 12, Scene.json("secret")))
        scene.replyToWrites(.results(WriteResults(results: [outcome], cursor: other)), lastWrite: 1)
        // Then
        #expect(scene.device.store.rejections.count == 1 && scene.device.store.rejections.first?.problem.current == nil)
        #expect(scene.stored("c/1") == nil)
    }

    @Test("the device's own read of a record that it may not read ends with the write that needed it")
    func ownRead() {
        // Given a write of which only a read shows what it did
        var scene = Scene.live(.cachedKeys)
        scene.put("c/1", "1")
        scene.results([Scene.applied(1, nil)], at: 12)
        #expect(scene.fetches.count == 1)
        // When
        var problem = Problem(.forbidden, "no")
        problem.needs = Problem.Need(may: "read", of: "shop:c")
        scene.answerFetch(.problem(problem, cursor: nil, retryAfter: nil))
        // Then
        #expect(scene.row(1) == nil && scene.fetches.isEmpty)
        for _ in 0..<5 { scene.pass(SyncSettings().longestDelay) }
        #expect(scene.fetches.isEmpty)
    }

    @Test("writes that are all refused wait for the longest back-off, and keep their numbers")
    func writes() {
        // Given
        var scene = Scene.live()
        scene.put("c/1", "1")
        // When
        var problem = Problem(.forbidden, "no")
        problem.needs = Problem.Need(may: "write", of: "shop:*")
        scene.replyToWrites(.problem(problem, cursor: nil, retryAfter: nil))
        // Then
        #expect(scene.row(1)?.number == 1 && scene.device.status?.writeTrouble == .refused(problem))
        scene.pass(SyncSettings().longestDelay - 1)
        #expect(scene.writes == nil)
        scene.pass(1)
        #expect(scene.numbers == [1])
    }
}
