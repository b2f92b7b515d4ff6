import FreshetWire
import Testing

@testable import FreshetClient

/// A new history that shares its beginning with the device's: docs/decisions/0065-lineage.md.
@Suite("A new history that continues the old one") struct ContinuationTests {
    private func changed(fork: Int64?, _ number: Int64 = 10) -> Reply {
        var problem = Problem(.epochChanged, "another")
        if let fork {
            problem.continuation = Problem.Continuation(
                fork: Scene.revision(fork), cursor: Scene.position(min(number, fork), "b"))
        }
        return .problem(problem, cursor: Scene.position(20, "b"), retryAfter: nil)
    }

    private func live(_ following: SyncSettings.Following, holding held: [Change]) -> Scene {
        var scene = Scene.live(following, holding: held)
        scene.device.declinesToContinue = false
        return scene
    }

    @Test("a device that has seen nothing beyond the fork verifies nothing", arguments: [SyncSettings.Following.everything, .cachedKeys])
    func continuesWithoutVerification(_ following: SyncSettings.Following) {
        // Given
        var scene = live(following, holding: [Scene.put("c/1", 4, "1"), Scene.put("c/2", 9, "2")])
        // When
        scene.replyToFeed(changed(fork: 15))
        // Then
        #expect(scene.fetches.isEmpty)
        #expect(scene.since == .after(Scene.position(10, "b")))
        #expect(scene.stored("c/1")?.epoch == Epoch("b"))
        #expect(scene.text("c/2") == "2")
        // When
        scene.page([Scene.put("c/1", 16, "new")], to: 20, "b")
        // Then
        #expect(scene.text("c/1") == "new")
        #expect(scene.device.status?.connection == .live)
        #expect(scene.device.status?.isVerified == true)
        #expect(scene.device.shown[Scene.key("c/2")]?.entry?.epoch == Epoch("b"), "memory has it too")
    }

    @Test("a device that holds lost changes reads these keys alone")
    func readsWhatWasLost() {
        // Given
        var scene = live(.cachedKeys, holding: [Scene.put("c/1", 4, "1"), Scene.put("c/2", 9, "lost")])
        // When
        scene.replyToFeed(changed(fork: 6))
        // Then
        guard case .reads(let request)? = scene.fetches.first?.kind else { Issue.record("not verified"); return }
        #expect(request.items.map(\.key) == [Scene.key("c/2")])
        // When
        scene.answerFetch(
            .reads(
                ReadsResponse(records: [Scene.record(Scene.key("c/2"), 3, Scene.json("kept"))], missing: [], cursor: Scene.position(6, "b"))
            ))
        // Then
        #expect(scene.text("c/2") == "kept" && scene.text("c/1") == "1")
        #expect(scene.since == .after(Scene.position(6, "b")))
    }

    @Test("a copy of everything that has seen lost changes is read again, since it may lack records whose deletes were lost")
    func copyStartsAgain() {
        // Given
        var scene = live(.everything, holding: [Scene.put("c/1", 4, "1")])
        // When
        scene.replyToFeed(changed(fork: 6))
        // Then
        #expect(scene.since == .start)
        #expect(scene.text("c/1") == "1")
    }

    @Test("a device that learns of the new history elsewhere asks where it continues")
    func asks() {
        // Given
        var scene = live(.cachedKeys, holding: [Scene.put("c/1", 4, "1")])
        _ = scene.fetch("c/9")
        // When
        scene.answerFetch(.missing(Scene.position(20, "b")))
        // Then
        guard let question = scene.device.continuationRequest else { Issue.record("not asked"); return }
        #expect(question.kind == .changes(since: .after(Scene.position(10)), filter: .all, wait: 0, limit: 1, client: nil))
        // When
        scene.device.reply(question.id, changed(fork: 15))
        scene.device.settleDisk()
        // Then
        #expect(scene.stored("c/1")?.epoch == Epoch("b"))
        #expect(scene.since == .after(Scene.position(10, "b")))
    }

    @Test("a device that finds no answer verifies everything")
    func lostAnswer() {
        // Given
        var scene = live(.cachedKeys, holding: [Scene.put("c/1", 4, "1")])
        scene.replyToFeed(changed(fork: nil))
        // When
        for attempt in 1...5 {
            if attempt > 1 { scene.device.fireTimer() }
            guard let question = scene.device.continuationRequest else { Issue.record("not asked"); return }
            scene.device.reply(question.id, .failure(.interrupted("broken")))
            scene.device.settleDisk()
        }
        // Then
        #expect(scene.since == .now)
        #expect(scene.stored("c/1")?.epoch == Epoch("a"))
    }

    @Test("a record with a write of this device is read again")
    func writtenKeysAreRead() {
        // Given
        var scene = live(.cachedKeys, holding: [Scene.put("c/1", 4, "1"), Scene.put("c/2", 5, "2")])
        scene.put("c/1", "mine")
        // When
        scene.replyToFeed(changed(fork: 15))
        // Then
        guard case .reads(let request)? = scene.fetches.first?.kind else { Issue.record("not verified"); return }
        #expect(request.items.map(\.key) == [Scene.key("c/1")])
        #expect(scene.text("c/1") == "mine" && scene.isPending("c/1"))
        #expect(scene.stored("c/2")?.epoch == Epoch("b"))
    }

    @Test("a restart in the middle continues")
    func restart() {
        // Given
        var scene = live(.cachedKeys, holding: [Scene.put("c/1", 4, "1"), Scene.put("c/2", 9, "lost")])
        scene.replyToFeed(changed(fork: 6))
        // When
        scene.device.crash()
        scene.device.settleDisk()
        // Then
        guard case .reads(let request)? = scene.fetches.first?.kind else { Issue.record("not verified"); return }
        #expect(request.items.map(\.key) == [Scene.key("c/2")])
    }

    @Test("a large record of a copy that was written to does not leave the copy")
    func largeRecord() {
        // Given a complete copy with a write under way
        var scene = live(.everything, holding: [Scene.put("c/1", 4, "1")])
        scene.put("c/1", "mine")
        scene.replyToFeed(changed(fork: 15))
        guard case .reads? = scene.fetches.first?.kind else { Issue.record("not verified"); return }
        // When the record is too large for the response
        let outline = Record(
            key: Scene.key("c/1"), revision: Scene.revision(7), contentType: Content.json, size: 1 << 24,
            modified: Timestamp(milliseconds: 0))
        scene.answerFetch(.reads(ReadsResponse(records: [outline], missing: [], cursor: Scene.position(16, "b"))))
        // Then
        #expect(scene.stored("c/1")?.lacksValue == true)
        #expect(scene.since == .after(Scene.position(10, "b")))
    }

    @Test("a device in the middle of several pages verifies everything, since they may have left out a change that is not lost")
    func inTheMiddleOfPages() {
        // Given
        var scene = live(.cachedKeys, holding: [Scene.put("c/1", 4, "1")])
        scene.page([Scene.put("c/2", 12, "2")], to: 12, upToDate: false)
        // When
        scene.replyToFeed(changed(fork: 15, 12))
        // Then
        #expect(scene.since == .now)
    }
}
