// swift-format-ignore-file: NeverUseForceTry

import FreshetWire
import Testing

@testable import FreshetClient

/// Clear means clear (rule 12).
@Suite struct ClearTests {
    private let next = try! ClientIdentifier("next")

    @Test func nothingIsReadableAtOnceAndNothingIsLeft() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        scene.put("c/2", "2")
        // When
        scene.device.handle(.clear(newClient: next, Token(99)))
        // Then: before the disk has done it
        #expect(scene.view("c/1").value == .unknown)
        #expect(scene.view("c/2").value == .unknown)
        #expect(scene.device.shown.isEmpty)
        #expect(scene.device.answers[Token(99)] == nil)
        #expect(scene.verdict(1) == .cleared)
        // When
        scene.device.settleDisk()
        // Then
        #expect(scene.device.answers[Token(99)] == .cleared)
        #expect(scene.device.store.entries.isEmpty)
        #expect(scene.device.store.rows.isEmpty)
        #expect(scene.device.store.state.client == next)
        #expect(scene.since == .start)
        #expect(scene.device.machine.story(of: Scene.key("c/1")).isEmpty)
    }

    @Test func whatWasUnderWayIsIgnored() {
        // Given
        var scene = Scene.live(.held)
        let token = scene.fetch("c/1")
        scene.put("c/2", "2")
        let requests = scene.device.open
        // When
        scene.device.handle(.clear(newClient: next, Token(99)))
        scene.device.settleDisk()
        for request in requests {
            let reply: Reply =
                switch request.kind {
                case .changes: .page(ChangePage(changes: [Scene.put("c/3", 12, "3")], cursor: Scene.position(12), upToDate: true))
                case .writes: .results(WriteResults(results: [Scene.applied(1, 11)], cursor: Scene.position(11)))
                default: .record(Scene.record(Scene.key("c/1"), 4, Scene.json("1")), Scene.position(10))
                }
            scene.device.handle(.replied(request.id, reply))
        }
        scene.device.settleDisk()
        // Then
        #expect(scene.failure(token) == .cleared)
        #expect(scene.device.store.entries.isEmpty)
        #expect(scene.device.shown.isEmpty)
    }

    @Test func aTransactionThatWasUnderWayComesBeforeAndIsWiped() {
        // Given
        var scene = Scene.live()
        scene.page([Scene.put("c/1", 12, "1")], to: 12, settles: false)
        // When
        scene.device.handle(.clear(newClient: next, Token(99)))
        scene.device.settleDisk()
        // Then
        #expect(scene.device.store.entries.isEmpty)
        #expect(scene.device.store.state.cursor == nil)
        #expect(scene.device.shown.isEmpty)
    }

    @Test func aSetThatWaitedForTheDiskIsToldAndGone() {
        // Given
        var scene = Scene.live()
        let token = scene.set("c/1", .put(Scene.json("1")), settles: false)
        // When
        scene.device.handle(.clear(newClient: next, Token(99)))
        scene.device.settleDisk()
        // Then
        #expect(scene.failure(token) == .cleared)
        #expect(scene.device.store.rows.isEmpty)
    }

    @Test func numbersBeginAnewUnderTheNewName() {
        // Given
        var scene = Scene.live()
        scene.put("c/1", "1")
        scene.put("c/2", "2")
        // When
        scene.device.handle(.clear(newClient: next, Token(99)))
        scene.device.settleDisk()
        scene.put("c/3", "3")
        scene.page([], to: 10)
        // Then
        #expect(scene.numbers == [1])
        guard case .writes(let batch)? = scene.writes?.kind else { Issue.record("not sent"); return }
        #expect(batch.client == next)
    }

    @Test func aWriteDuringTheClearWaitsForIt() {
        // Given
        var scene = Scene.live()
        scene.device.handle(.clear(newClient: next, Token(99)))
        // When
        let token = scene.set("c/1", .put(Scene.json("1")), settles: false)
        scene.device.settleDisk()
        // Then
        #expect(scene.device.answers[token] == .accepted(Receipt(1)))
        #expect(scene.text("c/1") == "1")
    }

    @Test func aClearThatTheDiskDoesNotTakeIsTriedAgainAndNothingIsReadableMeanwhile() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        scene.device.handle(.clear(newClient: next, Token(99)))
        // When
        scene.device.failNext(.failed("busy"))
        // Then
        #expect(scene.view("c/1").value == .unknown)
        #expect(scene.feed == nil)
        scene.device.fireTimer()
        scene.device.settleDisk()
        #expect(scene.device.answers[Token(99)] == .cleared)
        #expect(scene.device.store.entries.isEmpty)
    }
}
