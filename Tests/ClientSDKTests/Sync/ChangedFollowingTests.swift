import FreshetWire
import Testing

@testable import FreshetClient

/// A reset stores how all entries are verified. The next process may follow the feed in another way (rule 11).
@Suite("A pass after a change of the settings") struct ChangedFollowingTests {
    @Test("a pass from now verifies the cached keys, although the last reset was of a copy of everything")
    func fromNow() {
        // Given a write that waits, in a copy of everything that has lost its position
        var scene = Scene.live(.everything, holding: [Scene.put("c/1", 4, "1"), Scene.put("c/2", 5, "2")])
        scene.put("c/1", "3")
        scene.replyToFeed(.problem(Problem(.cursorExpired, "gone"), cursor: Scene.position(50), retryAfter: nil))
        let disk = scene.device.store
        #expect(disk.state.revalidation == .fromStart && disk.state.cursor == nil)
        // When the next process follows the cached keys
        var settings = scene.device.settings
        settings.following = .cachedKeys
        scene.device = ModelDevice(settings)
        scene.device.store = disk
        scene.device.start()
        #expect(scene.since == .now)
        scene.page([], to: 50)
        // Then the first page ends no pass
        #expect(scene.device.store.state.revalidation == .ofCachedKeys)
        #expect(scene.stored("c/1")?.content == Scene.json("1") && scene.stored("c/2")?.content == Scene.json("2"))
        // When the records are read
        let record = Scene.record(Scene.key("c/1"), 30, Scene.json("2"))
        scene.answerFetch(.reads(ReadsResponse(records: [record], missing: [], cursor: Scene.position(51))))
        // Then
        #expect(scene.device.store.state.revalidation == .complete)
        #expect(scene.stored("c/1")?.content == Scene.json("2") && scene.stored("c/2")?.content == Scene.json("2"))
        #expect(scene.text("c/1") == "3" && scene.isPending("c/1"))
    }
}
