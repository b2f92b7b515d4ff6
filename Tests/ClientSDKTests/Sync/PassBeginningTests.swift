// swift-format-ignore-file: NeverUseForceTry, NeverForceUnwrap

import FreshetWire
import Testing

@testable import FreshetClient

/// A pass takes everything off the device that it does not bring, so it begins no earlier than what the device has shown (rule 2).
@Suite("A pass that would begin before values that were shown") struct PassBeginningTests {
    private static let rights = RightsDigest("a3ywmagn")!

    private static func part(_ number: Int64) -> Cursor {
        Cursor(epoch: Epoch("a")!, revision: Scene.revision(number), rights: rights)
    }

    private static func page(_ changes: [Change], to cursor: Cursor, upToDate: Bool = true) -> Reply {
        .page(ChangePage(changes: changes, cursor: cursor, upToDate: upToDate))
    }

    private static let expired = Reply.problem(Problem(.cursorExpired, "gone"), cursor: nil, retryAfter: nil)

    @Test("of a copy of everything: the server is asked again until it has caught up")
    func copy() {
        // Given a device that has seen a delete, and whose position is lost
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        scene.page([Scene.delete("c/1", 12)], to: 12)
        scene.replyToFeed(Self.expired)
        #expect(scene.since == .start)
        // When a server answers that does not have the delete yet
        scene.page([Scene.put("c/1", 4, "1")], to: 8)
        // Then
        #expect(scene.stored("c/1") == nil && scene.device.store.state.cursor == nil && scene.feed == nil)
        scene.device.fireTimer()
        #expect(scene.since == .start)
        scene.page([], to: 12)
        #expect(scene.device.status?.connection == .live && scene.device.store.state.shownThrough == nil)
    }

    @Test("a server that does not catch up has lost its newest changes: everything is forgotten")
    func lostChanges() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        scene.replyToFeed(Self.expired)
        // When
        let begin = scene.device.uptime
        while scene.device.uptime < begin + 20_000 {
            scene.page([], to: 8)
            #expect(scene.text("c/1") == "1")
            scene.device.fireTimer()
        }
        scene.page([], to: 8)
        // Then
        scene.pass(SyncSettings().longestDelay)
        scene.device.settleDisk()
        #expect(scene.stored("c/1") == nil && scene.device.store.state.shownThrough == nil)
        scene.page([Scene.put("c/2", 5, "2")], to: 8)
        #expect(scene.text("c/2") == "2" && scene.device.status?.connection == .live)
    }

    @Test("its first pages come before its head, which counts; a pass that is broken off forgets nothing")
    func pages() {
        // Given a position of 10 that is lost
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        scene.replyToFeed(Self.expired)
        // When
        let first = Cursor(epoch: Epoch("a")!, revision: Scene.revision(4), origin: Scene.revision(12))
        scene.replyToFeed(Self.page([Scene.put("c/1", 4, "1")], to: first, upToDate: false))
        // Then
        #expect(scene.device.store.state.cursor == first && scene.device.store.state.shownThrough == Scene.position(10))
        // When this position is lost too
        scene.replyToFeed(Self.expired)
        scene.pass(SyncSettings().longestDelay)
        scene.device.settleDisk()
        scene.page([], to: 8)
        // Then
        #expect(scene.device.store.state.cursor == nil && scene.stored("c/1") != nil)
    }

    @Test("of a reader of a part: a record that was read meanwhile counts, also after a restart", arguments: [false, true])
    func part(_ restarts: Bool) {
        // Given
        var scene = Scene.live()
        scene.replyToFeed(.problem(Problem(.rightsChanged, "changed"), cursor: nil, retryAfter: nil))
        // When a record is read before the first page
        let callerID = scene.fetch("c/1")
        scene.answerFetch(.record(Scene.record(Scene.key("c/1"), 14, Scene.json("2")), Self.part(15)))
        #expect(scene.device.answers[callerID] != nil && scene.text("c/1") == "2")
        if restarts { scene.device.crash() }
        scene.replyToFeed(Self.page([Scene.put("c/1", 11, "1")], to: Self.part(12)))
        // Then
        #expect(scene.text("c/1") == "2" && scene.device.store.state.cursor == nil)
        scene.device.fireTimer()
        scene.replyToFeed(Self.page([Scene.put("c/1", 14, "2")], to: Self.part(15)))
        #expect(scene.text("c/1") == "2" && scene.device.status?.connection == .live)
    }

    @Test("a read beyond the position of a reader of a part counts once the position is lost")
    func beyondPosition() {
        // Given
        var scene = Scene.live()
        scene.replyToFeed(.problem(Problem(.rightsChanged, "changed"), cursor: nil, retryAfter: nil))
        scene.replyToFeed(Self.page([Scene.put("c/1", 11, "1")], to: Self.part(12)))
        _ = scene.fetch("c/1")
        scene.answerFetch(.record(Scene.record(Scene.key("c/1"), 14, Scene.json("2")), Self.part(15)))
        #expect(scene.text("c/1") == "2" && scene.device.store.state.shownThrough == Self.part(15))
        // When
        scene.replyToFeed(Self.expired)
        scene.pass(SyncSettings().longestDelay)
        scene.device.settleDisk()
        scene.replyToFeed(Self.page([Scene.put("c/1", 11, "1")], to: Self.part(13)))
        // Then
        #expect(scene.text("c/1") == "2" && scene.device.store.state.cursor == nil)
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
}
