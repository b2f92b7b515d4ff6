// swift-format-ignore-file: NeverUseForceTry, NeverForceUnwrap

import FreshetWire
import Testing

@testable import FreshetClient

/// A clear that keeps the outbox removes the records alone.
@Suite("A clear that keeps the outbox") struct KeptOutboxTests {
    private static let next = try! ClientIdentifier("next")
    private static let counter = Scene.key("counters/1")

    private func clear(_ scene: inout Scene, _ callerID: Int64 = 99, principal: String? = nil) {
        scene.device.handle(.clear(newClient: Self.next, keepsOutbox: true, principal: principal, CallerID(callerID)))
    }

    @Test("removes the records at once, and keeps the writes without an outcome under their name and numbers")
    func records() {
        // Given a record, a write that waits for its verdict, and one that waits only for its record
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1"), Scene.put("c/2", 5, "1")])
        scene.put("c/3", "3")
        scene.put("c/2", "2")
        scene.results([Scene.applied(1, 11)], at: 11)
        let (number, epoch) = (scene.device.store.state.nextNumber, scene.device.store.state.epoch)
        // When
        clear(&scene)
        // Then before the disk has done it
        #expect(scene.view("c/1").value == .unknown && scene.view("c/3").value == .unknown)
        #expect(scene.text("c/2") == "2" && scene.isPending("c/2") && scene.view("c/2").entry == nil)
        #expect(Array(scene.device.shown.keys) == [Scene.key("c/2")] && scene.device.answers[CallerID(99)] == nil)
        // And afterwards
        scene.device.settleDisk()
        #expect(scene.device.answers[CallerID(99)] == .cleared && scene.verdict(2) == nil)
        let store = scene.device.store
        #expect(store.entries.isEmpty && store.rows.values.map(\.number) == [2])
        #expect(store.state.client == (try! ClientIdentifier("device")) && store.state.nextNumber == number && store.state.epoch == epoch)
        #expect(scene.since == .start && scene.device.machine.history(of: Scene.key("c/1")).isEmpty)
        // When the server is read again
        scene.page([Scene.put("c/1", 4, "1"), Scene.put("c/3", 11, "3", by: 1), Scene.put("c/2", 5, "1")], to: 12, lastWrite: 1)
        // Then the write is sent as before, over the record
        #expect(scene.numbers == [2] && scene.epoch == epoch && scene.text("c/2") == "2" && scene.text("c/1") == "1")
    }

    @Test("stores first what was accepted before it, and shows no page that was being stored")
    func underWay() {
        // Given a page and a write that wait for the disk, and a read that waits for the server
        var scene = Scene.live()
        let fetch = scene.fetch("c/9")
        scene.page([Scene.put("c/1", 12, "1")], to: 12, settles: false)
        let set = scene.set("c/2", .put(Scene.json("2")), settles: false)
        // When
        clear(&scene)
        scene.device.settleDisk()
        // Then
        #expect(scene.device.answers[set] == .accepted(LocalWriteID(1)) && scene.failure(fetch) == .cleared)
        #expect(scene.device.store.entries.isEmpty && scene.row(1)?.number == 1 && scene.text("c/2") == "2")
        #expect(scene.device.store.state.cursor == nil && scene.view("c/1").value == .unknown)
    }

    @Test("takes a new name and another owner if there is nothing to keep, and keeps both otherwise", arguments: [false, true])
    func owner(_ hasWrite: Bool) {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        if hasWrite { scene.put("c/2", "2") }
        // When
        clear(&scene, principal: "ann")
        scene.device.settleDisk()
        // Then
        #expect(scene.device.store.state.client.text == (hasWrite ? "device" : "next"))
        #expect(scene.device.store.state.principal == (hasWrite ? nil : "ann"))
        #expect(scene.device.machine.state == scene.device.store.state)
    }

    @Test("keeps rejected writes without the records that they met")
    func rejections() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        scene.put("c/1", "mine", .rejectIfChanged)
        scene.results([Scene.rejected(1, current: Scene.record(Scene.key("c/1"), 12, Scene.json("theirs")))], at: 12)
        #expect(scene.device.store.rejections.first?.problem.current != nil)
        // When
        clear(&scene)
        scene.device.settleDisk()
        // Then
        #expect(scene.device.store.rejections.map(\.number) == [1] && scene.device.store.rejections.first?.problem.current == nil)
        #expect(scene.device.status?.rejections == 1)
    }

    @Test("has removed everything once a clear of everything was called before or after it", arguments: [true, false])
    func everything(_ isFirst: Bool) {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        scene.put("c/2", "2")
        let everything = SyncEvent.clear(newClient: Self.next, CallerID(98))
        // When
        if isFirst { scene.device.handle(everything) }
        clear(&scene)
        if !isFirst { scene.device.handle(everything) }
        scene.device.settleDisk()
        // Then
        #expect(scene.device.answers[CallerID(isFirst ? 98 : 99)] == .failed(.cleared))
        #expect(scene.device.answers[CallerID(isFirst ? 99 : 98)] == .cleared)
        #expect(scene.device.store.rows.isEmpty && scene.device.store.state.client == Self.next)
        #expect(scene.device.machine.inspection.waitingNumbers.isEmpty)
    }

    @Test("answers each of two calls")
    func twice() {
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        scene.put("c/2", "2")
        clear(&scene, 97)
        clear(&scene, 98)
        scene.device.settleDisk()
        #expect(scene.device.answers[CallerID(97)] == .failed(.cleared) && scene.device.answers[CallerID(98)] == .cleared)
        #expect(scene.device.store.rows.count == 1 && !scene.device.machine.isClearing)
    }

    /// Where the process dies, or the disk fails, in the course of a clear.
    enum Fault: CaseIterable {
        case none, beforeClear, beforeDisk, afterDisk, diskFails, diskFailsThenCrash
    }

    @Test("sends each write exactly once, wherever the process dies", arguments: Fault.allCases, [false, true])
    func exactlyOnce(_ fault: Fault, _ wasReceived: Bool) {
        // Given a device with a decided increment, and one that the server may have received
        var server = ModelServer()
        var scene = Scene(.everything)
        scene.device.run(with: &server)
        func increment(_ callerID: Int64) {
            let base = scene.device.store.entries[Self.counter]
            scene.device.handle(.set(SetRequest(callerID: CallerID(callerID), key: Self.counter, operation: Scene.increment(), base: base)))
            scene.device.settleDisk()
        }
        increment(1)
        scene.device.run(with: &server)
        increment(2)
        guard let sent = scene.writes else { Issue.record("not sent"); return }
        if wasReceived { _ = scene.device.answer(sent.kind, by: &server) }
        increment(3)
        // When
        if fault == .beforeClear { scene.device.crash() }
        clear(&scene)
        switch fault {
        case .none, .beforeClear: break
        case .beforeDisk: scene.device.crash()
        case .afterDisk:
            scene.device.commitNext(silently: true)
            scene.device.crash()
        case .diskFails: scene.device.failNext()
        case .diskFailsThenCrash:
            scene.device.failNext()
            scene.device.crash()
        }
        if fault != .beforeDisk, fault != .diskFailsThenCrash { #expect(scene.view("counters/1").entry == nil) }
        scene.device.run(with: &server)
        // Then
        #expect(server.records[Self.counter]?.content == Scene.json(#"{"n":3}"#) && server.repeated.isEmpty)
        #expect(
            scene.text("counters/1") == #"{"n":3}"# && scene.device.store.rows.isEmpty && scene.device.store.state.client.text == "device")
    }
}
