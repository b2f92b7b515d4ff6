import FreshetWire
import Testing

@testable import FreshetClient

/// Writes that were made over one that waits to be merged: the merge is a new write, which would undo them if they were sent before it.
@Suite struct HeldWriteTests {
    private let merge = ConflictPolicy.merge(MergeName("m"))

    /// A device with a write that waits to be merged over `x`.
    private func conflict(_ value: String = "2") -> Scene {
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        scene.put("c/1", value, merge)
        scene.results([Scene.rejected(1, current: Scene.record(Scene.key("c/1"), 12, Scene.json("x")))], at: 12)
        return scene
    }

    private func resolve(_ scene: inout Scene, _ writeID: Int64, _ resolution: Resolution) {
        scene.device.handle(.merged(LocalWriteID(writeID), resolution))
        scene.device.settleDisk()
    }

    @Test("they are sent behind the merge, in their order, and shown all the time")
    func order() {
        // Given
        var scene = conflict()
        // When
        scene.put("c/1", "3")
        scene.put("c/1", "4")
        // Then
        #expect(scene.batch.isEmpty && scene.text("c/1") == "4" && scene.device.status?.pendingWrites == 3)
        // When
        resolve(&scene, 1, .put(Scene.json("both")))
        // Then
        #expect(scene.numbers == [2, 3, 4] && scene.text("c/1") == "4")
        #expect(scene.batch.map(\.operation) == ["both", "3", "4"].map { .put(Scene.json($0)) })
        #expect(scene.batch.map(\.ifRevision) == [Scene.revision(12), nil, nil])
        // When all are applied
        scene.results([Scene.applied(2, 13), Scene.applied(3, 14), Scene.applied(4, 15)], at: 15)
        // Then each writer gets the verdict on its write
        #expect(scene.verdict(4) == .applied(Scene.revision(13)) && scene.verdict(2) == .applied(Scene.revision(14)))
        #expect(scene.verdict(3) == .applied(Scene.revision(15)) && scene.text("c/1") == "4" && scene.device.store.rows.isEmpty)
    }

    @Test("writes to other records go on, under the numbers that the held ones do not have")
    func others() {
        // Given
        var scene = conflict()
        scene.put("c/1", "3")
        // When
        scene.put("c/2", "4")
        // Then
        #expect(scene.numbers == [2] && scene.batch.map(\.key) == [Scene.key("c/2")])
        scene.results([Scene.applied(2, 13)], at: 13)
        // When
        resolve(&scene, 1, .put(Scene.json("both")))
        // Then
        #expect(scene.numbers == [3, 4])
    }

    @Test("a conditional write finds the merge")
    func precondition() {
        // Given
        var scene = conflict()
        scene.put("c/1", "3", merge)
        // When
        resolve(&scene, 1, .put(Scene.json("both")))
        // Then it waits for the revision of the merge
        #expect(scene.numbers == [2])
        scene.results([Scene.applied(2, 13)], at: 13)
        #expect(scene.numbers == [3] && scene.batch.first?.ifRevision == Scene.revision(13))
    }

    @Test("where the merge keeps the other's value, they go on; a conditional write meets the conflict itself")
    func takeTheirs() {
        // Given
        var scene = conflict()
        scene.put("c/1", "3", merge)
        scene.put("c/1", "4")
        // When
        resolve(&scene, 1, .takeTheirs)
        // Then
        #expect(scene.numbers == [2, 3] && scene.batch.map(\.ifRevision) == [Scene.revision(4), nil])
        #expect(scene.device.store.rejections.map(\.writeID) == [LocalWriteID(1)])
    }

    @Test("they wait for all writes of the record that are to be merged")
    func twoMerges() {
        // Given two writes that met the same conflict
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        scene.put("c/1", "2", merge)
        scene.put("c/1", "3", merge)
        let record = Scene.record(Scene.key("c/1"), 12, Scene.json("x"))
        scene.results([Scene.rejected(1, current: record)], at: 12)
        scene.results([Scene.rejected(2, current: record)], at: 12)
        scene.put("c/1", "4")
        // When one is merged
        resolve(&scene, 1, .put(Scene.json("a")))
        // Then
        #expect(scene.numbers == [3] && scene.row(3)?.isHeld == true)
        // When the other is
        resolve(&scene, 2, .put(Scene.json("b")))
        scene.results([Scene.applied(3, 13)], at: 13)
        // Then
        #expect(scene.numbers == [4, 5] && scene.text("c/1") == "4")
    }

    @Test("they are held over restarts, and counted with what they wait for")
    func restart() {
        // Given
        var scene = conflict()
        scene.put("c/1", "3")
        scene.put("c/1", "4")
        // When the next process has no closure
        scene.device.closures = []
        scene.device.crash()
        scene.device.settleDisk()
        // Then
        #expect(scene.batch.isEmpty && scene.text("c/1") == "4" && scene.isPending("c/1"))
        #expect(scene.device.status?.missingMerges == [MergeName("m"): 3] && scene.device.status?.pendingWrites == 3)
        // When it gets it
        scene.device.handle(.registered(MergeName("m")))
        resolve(&scene, 1, .put(Scene.json("both")))
        scene.answerStatus(last: 1, at: 12)
        // Then
        #expect(scene.numbers == [2, 3, 4] && scene.device.status?.missingMerges == [:])
    }

    @Test("a merge that the disk does not take releases nothing")
    func notStored() {
        // Given
        var scene = conflict()
        scene.put("c/1", "3")
        // When
        scene.device.handle(.merged(LocalWriteID(1), .put(Scene.json("both"))))
        scene.device.failNext(.full)
        // Then
        #expect(scene.batch.isEmpty && scene.row(2)?.isHeld == true && scene.text("c/1") == "3")
    }

    @Test("a clear is reported to their writers")
    func clear() throws {
        // Given
        var scene = conflict()
        scene.put("c/1", "3")
        // When
        scene.device.handle(.clear(newClient: try ClientIdentifier("next"), CallerID(99)))
        scene.device.settleDisk()
        // Then
        #expect(scene.verdict(1) == .cleared && scene.verdict(2) == .cleared && scene.device.status?.pendingWrites == 0)
    }
}
