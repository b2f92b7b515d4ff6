import FreshetWire
import Testing

@testable import FreshetClient

/// A process that registers its merge closures some time after its start, as an app does that opens its collections on its screens.
@Suite struct LateClosureTests {
    private let merge = ConflictPolicy.merge(MergeName("m"))

    /// A device with a write that met a conflict, whose new process has not registered the closure.
    private func restarted() -> Scene {
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        scene.put("c/1", "2", merge)
        scene.results([Scene.rejected(1, current: Scene.record(Scene.key("c/1"), 12, Scene.json("x")))], at: 12)
        scene.device.closures = []
        scene.device.crash()
        scene.device.settleDisk()
        return scene
    }

    @Test("a write that is to be merged waits until its closure is registered")
    func waits() {
        // Given
        var scene = restarted()
        // Then it is neither rejected nor merged, and the status says what it waits for
        #expect(scene.device.merges.isEmpty && scene.verdict(1) == nil && scene.text("c/1") == "2" && scene.isPending("c/1"))
        #expect(scene.device.status?.missingMerges == [MergeName("m"): 1] && scene.device.status?.pendingWrites == 1)
        #expect(scene.device.logs.contains { $0.level == .warning && $0.text.contains("1 write waits for the merge closure 'm'") })
        // When
        scene.device.handle(.registered(MergeName("m")))
        // Then it is merged as if the closure had been there from the start
        #expect(scene.device.merges.map(\.theirs) == [Scene.json("x")] && scene.device.status?.missingMerges == [:])
        scene.device.handle(.merged(LocalWriteID(1), .put(Scene.json("both"))))
        scene.device.settleDisk()
        scene.answerStatus(last: 1, at: 12)
        #expect(scene.verdict(1) == .merged(into: LocalWriteID(2)) && scene.batch.map(\.ifRevision) == [Scene.revision(12)])
    }

    @Test("writes to other records do not wait with it")
    func othersGoOn() {
        // Given
        var scene = restarted()
        // When
        scene.put("c/2", "3")
        scene.answerStatus(last: 1, at: 12)
        // Then
        #expect(scene.batch.map(\.key) == [Scene.key("c/2")])
        scene.results([Scene.applied(2, 13)], at: 13)
        #expect(scene.verdict(2) == .applied(Scene.revision(13)) && scene.verdict(1) == nil)
    }

    @Test("it waits over any number of restarts")
    func waitsOverRestarts() {
        // Given
        var scene = restarted()
        // When
        for _ in 0..<3 {
            scene.device.crash()
            scene.device.settleDisk()
        }
        // Then
        #expect(scene.device.merges.isEmpty && scene.verdict(1) == nil && scene.device.status?.missingMerges == [MergeName("m"): 1])
    }

    @Test("a conflict in a process without the closure waits for it too")
    func laterConflict() {
        // Given a write that was sent before the restart, and whose verdict comes after it
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        scene.put("c/1", "2", merge)
        scene.device.closures = []
        scene.device.crash()
        scene.device.settleDisk()
        scene.answerStatus(last: 0, at: 10)
        // When
        scene.results([Scene.rejected(1, current: Scene.record(Scene.key("c/1"), 12, Scene.json("x")))], at: 12)
        // Then
        #expect(scene.device.merges.isEmpty && scene.verdict(1) == nil)
        scene.device.handle(.registered(MergeName("m")))
        #expect(scene.device.merges.count == 1)
    }

    @Test("a clear forgets the write, and keeps the closures of the process")
    func clear() throws {
        // Given
        var scene = restarted()
        // When
        scene.device.handle(.clear(newClient: try ClientIdentifier("next"), CallerID(99)))
        scene.device.settleDisk()
        // Then
        #expect(scene.verdict(1) == .cleared && scene.device.status?.missingMerges == [:])
    }
}
