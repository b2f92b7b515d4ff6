import FreshetWire
import Testing

@testable import FreshetClient

/// Callers that wait until everything is verified as of their calls.
@Suite("A wait until everything is verified") struct VerificationQueueTests {
    private let caller = CallerID(77)

    private func isAnswered(_ scene: Scene) -> Bool { scene.device.answers[caller] == .verified }

    private func idle(_ scene: inout Scene, at position: Int64) {
        guard let feed = scene.feed else { Issue.record("no request for changes is under way"); return }
        scene.device.reply(feed.id, .noChange(Scene.position(position)))
        scene.device.settleDisk()
    }

    @Test("asks at once, instead of at the end of the poll, and stays live meanwhile")
    func asksAtOnce() {
        // Given a device whose poll waits
        var scene = Scene.live()
        let poll = scene.feed?.id
        #expect(scene.wait ?? 0 > 0)
        // When
        scene.device.handle(.verify(caller))
        // Then
        #expect(scene.feed?.id != poll && scene.wait == 0 && scene.device.status?.connection == .live && !isAnswered(scene))
        // When
        idle(&scene, at: 10)
        // Then it is answered, and the device polls on
        #expect(isAnswered(scene) && scene.wait ?? 0 > 0 && scene.device.status?.connection == .live)
    }

    @Test("a response to a request from before the call is not enough")
    func earlierRequest() {
        // Given a device that catches up, with a request under way
        var scene = Scene(.everything)
        scene.device.handle(.verify(caller))
        let first = scene.feed?.id
        // When its response comes
        scene.page([], to: 10)
        // Then another one is asked for
        #expect(!isAnswered(scene) && scene.feed?.id != first && scene.wait == 0)
        // When
        idle(&scene, at: 10)
        // Then
        #expect(isAnswered(scene))
    }

    @Test("a value that was left out, and a copy that was invalidated, are read first", arguments: [false, true])
    func unread(isInvalidated: Bool) throws {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        scene.device.handle(.verify(caller))
        // When
        scene.page([isInvalidated ? Scene.invalidate(.everything, 11) : Scene.put("c/1", 11, nil)], to: 11)
        // Then
        #expect(!isAnswered(scene) && scene.device.status?.isVerified == false)
        // When the value has come
        let read = try #require(scene.fetches.first)
        let record = Scene.record(Scene.key("c/1"), 11, Scene.json("2"))
        scene.device.reply(read.id, .reads(ReadsResponse(records: [record], missing: [], next: nil, cursor: Scene.position(11))))
        scene.device.settleDisk()
        // Then
        #expect(isAnswered(scene) && scene.text("c/1") == "2" && scene.device.status?.isVerified == true)
    }

    @Test("a device that is cut off answers when it is back, and a caller that gave up gets nothing")
    func offline() throws {
        // Given
        var scene = Scene.live()
        scene.device.handle(.verify(caller))
        scene.device.handle(.verify(CallerID(78)))
        let check = try #require(scene.feed)
        // When
        scene.device.reply(check.id, .failure(.interrupted("lost")))
        scene.device.settleDisk()
        scene.device.handle(.abandon(CallerID(78)))
        // Then
        #expect(!isAnswered(scene))
        // When
        scene.pass(SyncSettings().longestDelay)
        idle(&scene, at: 10)
        // Then
        #expect(isAnswered(scene) && scene.device.answers[CallerID(78)] == nil)
    }

    @Test("a check is no longer under way than the device may be called live")
    func deadline() throws {
        // Given a device whose last response is old
        var scene = Scene.live()
        let settings = SyncSettings()
        scene.pass(Int64(settings.hold) * 1_000)
        scene.device.handle(.verify(caller))
        let check = try #require(scene.feed)
        // Then
        #expect(check.timeout <= 2 * settings.grace)
        // When it gets no answer
        scene.pass(2 * settings.grace)
        // Then
        #expect(scene.device.status?.connection != .live && !isAnswered(scene))
    }

    @Test("a stop and a clear end the wait", arguments: [false, true])
    func ends(clears: Bool) throws {
        // Given
        var scene = Scene.live()
        scene.device.handle(.verify(caller))
        // When
        scene.device.handle(clears ? .clear(newClient: try ClientIdentifier("next"), CallerID(1)) : .stop)
        // Then
        #expect(scene.device.answers[caller] == .failed(clears ? .cleared : .stopped))
    }
}
