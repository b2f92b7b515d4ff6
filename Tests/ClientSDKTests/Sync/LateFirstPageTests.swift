// swift-format-ignore-file: NeverUseForceTry, NeverForceUnwrap

import FreshetWire
import Testing

@testable import FreshetClient

/// A pass takes everything off a reader of a part that it does not bring, so it may not begin before a record that was read (rule 2).
@Suite("A first page that comes later than a read") struct LateFirstPageTests {
    private static let rights = RightsDigest("a3ywmagn")!

    private static func part(_ number: Int64, origin: Int64? = nil) -> Cursor {
        Cursor(epoch: Epoch("a")!, revision: Scene.revision(number), goal: origin.map { .origin(Scene.revision($0)) }, rights: rights)
    }

    private static func page(_ changes: [Change], to cursor: Cursor, upToDate: Bool = true) -> Reply {
        .page(ChangePage(changes: changes, cursor: cursor, upToDate: upToDate))
    }

    /// A device that asks for its first page, and that has read `c/1` since.
    private static func scene(readUnder rights: RightsDigest? = rights) -> Scene {
        var scene = Scene.live()
        scene.replyToFeed(.problem(Problem(.rightsChanged, "changed"), cursor: nil, retryAfter: nil))
        _ = scene.fetch("c/1")
        let cursor = Cursor(epoch: Epoch("a")!, revision: Scene.revision(15), rights: rights)
        scene.answerFetch(.record(Scene.record(Scene.key("c/1"), 14, Scene.json("2")), cursor))
        #expect(scene.text("c/1") == "2")
        return scene
    }

    @Test("is dropped, whatever the rights of the read were, and asked for again at once; reads wait for it", arguments: [rights, nil])
    func late(_ rights: RightsDigest?) {
        // Given
        var scene = Self.scene(readUnder: rights)
        let earlier = scene.feed?.id
        _ = scene.fetch("c/2")
        #expect(scene.fetches.count == 1)
        // When
        scene.replyToFeed(Self.page([Scene.put("c/1", 11, "1")], to: Self.part(12)))
        // Then
        #expect(scene.text("c/1") == "2" && scene.device.store.state.cursor == nil)
        #expect(scene.since == .start && scene.feed?.id != earlier && scene.fetches.isEmpty)
        // When
        scene.replyToFeed(Self.page([Scene.put("c/1", 14, "2")], to: Self.part(15)))
        // Then
        #expect(scene.text("c/1") == "2" && scene.device.status?.connection == .live && scene.fetches.count == 1)
    }

    @Test("of several pages: the head counts, which the first one names")
    func head() {
        // Given
        var scene = Self.scene()
        // When
        scene.replyToFeed(Self.page([Scene.put("c/2", 4, "1")], to: Self.part(4, origin: 12), upToDate: false))
        // Then
        #expect(scene.device.store.state.cursor == nil)
        // When
        scene.replyToFeed(Self.page([Scene.put("c/2", 4, "1")], to: Self.part(4, origin: 15), upToDate: false))
        // Then
        #expect(scene.device.store.state.cursor == Self.part(4, origin: 15))
    }

    @Test("that was requested after the read is no late one, and neither is that of a reader of everything")
    func inTime() {
        // Given a first page whose request failed after the read
        var scene = Self.scene()
        scene.replyToFeed(.failure(.unreachable("gone")))
        scene.pass(SyncSettings().longestDelay)
        // When a server answers that has lost changes
        scene.replyToFeed(Self.page([], to: Self.part(12)))
        // Then
        #expect(scene.device.store.state.cursor == Self.part(12))
        // Given, when
        var other = Self.scene(readUnder: nil)
        other.page([Scene.put("c/1", 11, "1")], to: 12)
        // Then
        #expect(other.device.store.state.cursor == Scene.position(12) && other.text("c/1") == "2")
    }

    @Test("that is as old when it is requested after the read is taken: the server has lost changes")
    func lostChanges() {
        // Given
        var scene = Self.scene()
        scene.replyToFeed(Self.page([], to: Self.part(12)))
        // When
        scene.replyToFeed(Self.page([], to: Self.part(12)))
        // Then
        #expect(scene.device.store.state.cursor == Self.part(12))
    }

    @Test("after a failure of the feed, reads wait no longer")
    func release() {
        // Given
        var scene = Self.scene()
        scene.replyToFeed(Self.page([], to: Self.part(12)))
        _ = scene.fetch("c/2")
        #expect(scene.fetches.isEmpty)
        // When
        scene.replyToFeed(.failure(.unreachable("gone")))
        // Then
        #expect(scene.fetches.count == 1)
    }
}
