// swift-format-ignore-file: NeverUseForceTry, NeverForceUnwrap

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
        scene.device.handle(.clear(newClient: next, CallerID(99)))
        // Then: before the disk has done it
        #expect(scene.view("c/1").value == .unknown)
        #expect(scene.view("c/2").value == .unknown)
        #expect(scene.device.shown.isEmpty)
        #expect(scene.device.answers[CallerID(99)] == nil)
        #expect(scene.verdict(1) == .cleared)
        // When
        scene.device.settleDisk()
        // Then
        #expect(scene.device.answers[CallerID(99)] == .cleared)
        #expect(scene.device.store.entries.isEmpty)
        #expect(scene.device.store.rows.isEmpty)
        #expect(scene.device.store.state.client == next)
        #expect(scene.since == .start)
        #expect(scene.device.machine.history(of: Scene.key("c/1")).isEmpty)
    }

    @Test func whatWasUnderWayIsIgnored() {
        // Given
        var scene = Scene.live(.cachedKeys)
        let callerID = scene.fetch("c/1")
        scene.put("c/2", "2")
        let requests = scene.device.open
        // When
        scene.device.handle(.clear(newClient: next, CallerID(99)))
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
        #expect(scene.failure(callerID) == .cleared)
        #expect(scene.device.store.entries.isEmpty)
        #expect(scene.device.shown.isEmpty)
    }

    @Test func aTransactionThatWasUnderWayComesBeforeAndIsWiped() {
        // Given
        var scene = Scene.live()
        scene.page([Scene.put("c/1", 12, "1")], to: 12, settles: false)
        // When
        scene.device.handle(.clear(newClient: next, CallerID(99)))
        scene.device.settleDisk()
        // Then
        #expect(scene.device.store.entries.isEmpty)
        #expect(scene.device.store.state.cursor == nil)
        #expect(scene.device.shown.isEmpty)
    }

    @Test func aSetThatWaitedForTheDiskIsToldAndGone() {
        // Given
        var scene = Scene.live()
        let callerID = scene.set("c/1", .put(Scene.json("1")), settles: false)
        // When
        scene.device.handle(.clear(newClient: next, CallerID(99)))
        scene.device.settleDisk()
        // Then
        #expect(scene.failure(callerID) == .cleared)
        #expect(scene.device.store.rows.isEmpty)
    }

    @Test func numbersBeginAnewUnderTheNewName() {
        // Given
        var scene = Scene.live()
        scene.put("c/1", "1")
        scene.put("c/2", "2")
        // When
        scene.device.handle(.clear(newClient: next, CallerID(99)))
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
        scene.device.handle(.clear(newClient: next, CallerID(99)))
        // When
        let callerID = scene.set("c/1", .put(Scene.json("1")), settles: false)
        scene.device.settleDisk()
        // Then
        #expect(scene.device.answers[callerID] == .accepted(LocalWriteID(1)))
        #expect(scene.text("c/1") == "1")
    }

    @Test func aClearThatTheDiskDoesNotTakeIsTriedAgainAndNothingIsReadableMeanwhile() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        scene.device.handle(.clear(newClient: next, CallerID(99)))
        // When
        scene.device.failNext(.failed("busy"))
        // Then: its caller does not wait for a disk that may stay full
        #expect(scene.view("c/1").value == .unknown)
        #expect(scene.feed == nil)
        #expect(scene.device.answers[CallerID(99)] == .failed(.disk(.failed("busy"))))
        scene.device.fireTimer()
        scene.device.failNext(.failed("busy"))
        scene.device.fireTimer()
        scene.device.settleDisk()
        #expect(scene.device.store.entries.isEmpty)
        #expect(scene.since == .start)
    }

    @Test("a merge closure that ends after a clear decides nothing in the next account")
    func mergeOfBeforeTheClear() {
        // Given a conflict that a closure has
        func meetConflict(_ scene: inout Scene) {
            scene.put("c/1", "mine", .merge(MergeName("m")))
            scene.results([Scene.rejected(1, current: Scene.record(Scene.key("c/1"), 12, Scene.json("theirs")))], at: 12)
        }
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        meetConflict(&scene)
        // When the device is cleared, and the next account's first write meets a conflict too
        scene.device.handle(.clear(newClient: next, CallerID(99)))
        scene.device.settleDisk()
        scene.page([Scene.put("c/1", 4, "1")], to: 10)
        meetConflict(&scene)
        #expect(scene.device.merges.map(\.writeID) == [LocalWriteID(1), LocalWriteID(1)])
        #expect(scene.device.merges[0].generation < scene.device.merges[1].generation)
        // Then the first closure's result has no effect, and the second's has
        scene.device.handle(.merged(LocalWriteID(1), .put(Scene.json("secret")), generation: scene.device.merges[0].generation))
        scene.device.settleDisk()
        #expect(scene.verdict(1) == .cleared && scene.numbers.isEmpty)
        scene.device.handle(.merged(LocalWriteID(1), .put(Scene.json("both")), generation: scene.device.merges[1].generation))
        scene.device.settleDisk()
        #expect(scene.verdict(1) == .merged(into: LocalWriteID(2)) && scene.text("c/1") == "both")
    }

    @Test("held keys that the disk read before a clear are not asked for")
    func heldKeysOfBeforeTheClear() {
        // Given a device that verifies what it holds
        var scene = Scene.live(.cachedKeys, holding: [Scene.put("c/1", 4, "1")])
        scene.replyToFeed(.problem(Problem(.cursorExpired, "gone"), cursor: nil, retryAfter: nil))
        scene.page([], to: 12, settles: false)
        scene.device.commitNext()
        let query = scene.device.queries.first
        #expect(query != nil)
        // When it is cleared, and verifies again
        scene.device.handle(.clear(newClient: next, CallerID(99)))
        scene.device.settleDisk()
        scene.page([], to: 12, settles: false)
        scene.device.commitNext()
        guard let query, let present = scene.device.queries.last else { Issue.record("nothing is verified"); return }
        #expect(query.generation < present.generation)
        scene.device.handle(
            .cachedKeys(query, [CachedKey(key: Scene.key("c/1"), epoch: Epoch("a")!, revision: Scene.revision(4), hasValue: true)]))
        // Then
        #expect(scene.fetches.isEmpty)
    }

    @Test("a response to a request from before a clear causes no action at all")
    func responseOfBeforeTheClear() {
        // Given a clear that the disk refused, and that is due again
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        guard let poll = scene.feed?.id else { Issue.record("no poll"); return }
        scene.device.handle(.clear(newClient: next, CallerID(99)))
        scene.device.failNext(.full)
        scene.device.uptime += 60_000
        // When
        let page = ChangePage(changes: [Scene.put("c/1", 12, "2")], cursor: Scene.position(12), upToDate: true)
        let actions = scene.device.machine.handle(.replied(poll, .page(page)), at: scene.device.now)
        // Then
        #expect(actions.isEmpty)
    }
}
