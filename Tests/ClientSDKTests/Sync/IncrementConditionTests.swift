// swift-format-ignore-file: NeverUseForceTry

import FreshetWire
import Testing

@testable import FreshetClient

/// The conditions of an increment, on the device that makes it.
@Suite struct IncrementConditionTests {
    private func increment(
        _ amount: Int64, _ onMissing: Increment.OnMissing = .create(from: nil), min: Int64? = nil
    ) -> WriteOperation {
        .increment(
            Increment(
                path: try! JSONPointer("/n"), by: .integer(amount), onMissing: onMissing, minimum: min.map { .integer($0) }))
    }

    private func set(_ scene: inout Scene, _ key: String, _ operation: WriteOperation) {
        let key = Scene.key(key)
        let base = scene.device.store.entries[key]
        scene.device.handle(.set(SetRequest(callerID: CallerID(900), key: key, operation: operation, rejectsIfGone: true, base: base)))
        scene.device.settleDisk()
    }

    private func stored(_ scene: Scene) -> [WriteOperation] {
        scene.device.store.rows.values.sorted { $0.writeID < $1.writeID }.map(\.operation)
    }

    @Test func anIncrementOfARecordThatIsShownDemandsIt() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, #"{"n":1}"#)])
        // When
        set(&scene, "c/1", increment(-1))
        // Then
        #expect(stored(scene) == [increment(-1, .reject)])
        #expect(scene.text("c/1") == #"{"n":0}"#)
    }

    @Test func anIncrementOfARecordThatIsNotShownBeginsFromZero() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/0", 4, "0")])
        // When
        set(&scene, "c/1", increment(1))
        // Then
        #expect(stored(scene) == [increment(1)])
    }

    @Test func anIncrementThatWaitsIsNotShownWhenItsRecordGoes() {
        // Given: not sent yet
        var scene = Scene.live(holding: [Scene.put("c/1", 4, #"{"n":1}"#)])
        scene.put("c/0", "0")
        set(&scene, "c/1", increment(-1))
        #expect(scene.text("c/1") == #"{"n":0}"#)
        // When
        scene.page([Scene.delete("c/1", 12)], to: 12)
        // Then
        #expect(scene.view("c/1").value == .absent)
        #expect(scene.isPending("c/1"))
    }

    @Test func anIncrementPastItsBoundFailsAtOnce() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, #"{"n":1}"#)])
        _ = scene.set("c/1", increment(-1, min: 0))
        #expect(scene.text("c/1") == #"{"n":0}"#)
        // When
        let callerID = scene.set("c/1", increment(-1, min: 0))
        // Then
        if case .cannotApply(let text)? = scene.failure(callerID) { #expect(text.contains("'min' is 0")) } else { Issue.record("no error") }
        #expect(scene.device.store.rows.count == 1)
    }

    @Test func anIncrementThatTheServersRecordPutsOutOfBoundsIsNotShown() {
        // Given: an increment that is not sent yet
        var scene = Scene.live(holding: [Scene.put("c/1", 4, #"{"n":1}"#)])
        scene.put("c/0", "0")
        _ = scene.set("c/1", increment(-1, min: 0))
        // When someone else takes the last one
        scene.page([Scene.put("c/1", 12, #"{"n":0}"#)], to: 12)
        // Then
        #expect(scene.text("c/1") == #"{"n":0}"#)
        #expect(scene.isPending("c/1"))
    }

    @Test func aRecordBeginsFromTheValueGiven() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, #"{"n":1}"#)])
        _ = scene.set("c/1", .delete)
        // When
        _ = scene.set("c/1", increment(-1, .create(from: Array(#"{"name":"Apple","n":10}"#.utf8))))
        // Then
        #expect(scene.text("c/1") == #"{"name":"Apple","n":9}"#)
    }

    @Test func aRowOfAnEarlierVersionIsReadAsItWas() throws {
        // Given
        let json = #"{"receipt":3,"write":{"number":7,"op":"increment","key":"c/1","path":"/n","by":-1},"created":1}"#
        // When
        let row = try OutboxRow(json: Array(json.utf8))
        // Then
        #expect(row.operation == increment(-1))
        #expect(try OutboxRow(json: row.json) == row)
    }
}
