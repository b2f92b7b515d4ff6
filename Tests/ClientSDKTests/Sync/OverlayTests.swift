// swift-format-ignore-file: NeverUseForceTry

import FreshetWire
import Testing

@testable import FreshetClient

/// The values that pending writes show before the server has them.
@Suite struct OverlayTests {
    private func shown(_ base: String?, _ operations: WriteOperation...) throws(SyncFailure) -> String? {
        var overlay = Overlay(base.map(Scene.json))
        for operation in operations { try overlay.apply(operation) }
        return overlay.value.content.map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    @Test func writesAreReplayedInOrder() throws {
        #expect(try shown("1", .put(Scene.json("2"))) == "2")
        #expect(try shown("1", .delete) == nil)
        #expect(try shown(#"{"a":1,"b":2}"#, .patch(Array(#"{"a":null,"c":3}"#.utf8))) == #"{"b":2,"c":3}"#)
        #expect(try shown(#"{"n":1}"#, Scene.increment(), Scene.increment(5)) == #"{"n":7}"#)
        #expect(try shown(nil, Scene.increment()) == #"{"n":1}"#)
        #expect(try shown(nil, .put(Scene.json(#"{"n":1}"#)), Scene.increment(), .patch(Array(#"{"m":2}"#.utf8))) == #"{"n":2,"m":2}"#)
    }

    @Test func whatCannotTakeAnOperationSaysSo() {
        #expect(throws: SyncFailure.self) { try self.shown("[]", Scene.increment()) }
        #expect(throws: SyncFailure.self) { try self.shown(#"{"n":"text"}"#, Scene.increment()) }
        #expect(throws: SyncFailure.self) { try self.shown(nil, .patch(Array("{}".utf8))) }
        #expect(throws: SyncFailure.self) { try self.shown("1", .patch(Array("{".utf8))) }
    }

    @Test func aSetThatCannotApplyFailsAtOnce() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, #""text""#)])
        // When
        let callerID = scene.set("c/1", Scene.increment())
        // Then
        if case .cannotApply? = scene.failure(callerID) {} else { Issue.record("no error") }
        #expect(scene.device.store.rows.isEmpty)
        #expect(scene.writes == nil)
    }

    @Test func aBaseThatChangesItsKindIsShownAsItIs() {
        // Given: not sent yet
        var scene = Scene.live(holding: [Scene.put("c/1", 4, #"{"n":1}"#)])
        scene.put("c/0", "x")
        _ = scene.set("c/1", .patch(Array(#"{"n":2}"#.utf8)))
        #expect(scene.text("c/1") == #"{"n":2}"#)
        // When
        scene.page([Scene.delete("c/1", 12)], to: 12)
        // Then
        #expect(scene.view("c/1").value == .absent)
        #expect(scene.isPending("c/1"))
    }

    @Test func bytesThatAreNoJSONCannotBeCounted() {
        // Given
        var scene = Scene.live(.cachedKeys)
        _ = scene.fetch("c/1")
        let image = Content(bytes: [1, 2, 3], type: "image/png")
        scene.answerFetch(.record(Scene.record(Scene.key("c/1"), 4, image), Scene.position(10)))
        // When
        let callerID = scene.set("c/1", Scene.increment())
        // Then
        #expect(
            scene.failure(callerID) == .cannotApply("the value is image/png: only application/json can be incremented"))
    }
}
