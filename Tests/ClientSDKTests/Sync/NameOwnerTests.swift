// swift-format-ignore-file: NeverUseForceTry, NeverForceUnwrap

import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetClient

/// Devices whose name belongs to another principal: none loses a write, and no write takes effect twice.
@Suite("A client name that belongs to another principal") struct NameOwnerTests {
    private static let counter = Scene.key("counters/1")

    /// A directory with two decided writes of this principal.
    private func image(_ server: inout ModelServer, of principal: String?) -> VolatileStore {
        var device = ModelDevice.onCopy(of: VolatileStore(client: try! ClientIdentifier("kiosk")), random: 5)
        device.principal = principal
        for number in 1...2 { increment(&device, number) }
        device.run(with: &server)
        return device.store
    }

    private func device(on disk: VolatileStore, of principal: String, random: UInt64 = 100) -> ModelDevice {
        var device = ModelDevice.onCopy(of: disk, random: random)
        device.principal = principal
        return device
    }

    private func increment(_ device: inout ModelDevice, _ callerID: Int) {
        device.handle(
            .set(
                SetRequest(
                    callerID: CallerID(Int64(callerID)), key: Self.counter, operation: Scene.increment(),
                    base: device.store.entries[Self.counter])))
        device.settleDisk()
    }

    private func count(_ server: ModelServer) -> String? {
        server.records[Self.counter]?.content.map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    private func name(_ device: ModelDevice) -> String { device.store.state.client.text }

    private func isRefused(_ device: ModelDevice) -> Bool {
        guard case .refused(let problem)? = device.status?.writeTrouble else { return false }
        return problem.code == .clientTaken
    }

    @Test("a clone with its own key takes another name before it sends anything, and its writes take effect once")
    func clone() {
        // Given
        var server = ModelServer()
        let disk = image(&server, of: "a")
        var clone = device(on: disk, of: "b")
        // When
        for number in 1...3 { increment(&clone, number) }
        clone.run(with: &server)
        // Then
        #expect(name(clone).hasPrefix("kiosk.") && count(server) == #"{"n":5}"# && clone.store.rows.isEmpty && !isRefused(clone))
        #expect(server.ledgers[disk.state.client]?.last == 2, "no number of the other principal is used")
        #expect(clone.logs.contains { $0.level == .warning && $0.text.contains("kiosk") })
        // When the first goes on under the name
        var first = device(on: disk, of: "a", random: 7)
        increment(&first, 1)
        first.run(with: &server)
        // Then
        #expect(name(first) == "kiosk" && count(server) == #"{"n":6}"# && server.repeated.isEmpty)
    }

    @Test("a new device with a name that another principal has used takes another one")
    func sameNameFromTheBeginning() {
        // Given
        var server = ModelServer()
        _ = image(&server, of: "a")
        var other = ModelDevice(client: "kiosk")
        other.principal = "b"
        other.handle(.started(other.store.persisted))
        // When
        increment(&other, 1)
        other.run(with: &server)
        // Then
        #expect(name(other).hasPrefix("kiosk.") && count(server) == #"{"n":3}"# && other.store.rows.isEmpty)
    }

    /// A device of `a` with a write whose answer is lost, or that did not arrive, which then gets the token of `b`.
    private func interrupted(_ server: inout ModelServer, arrives: Bool) -> ModelDevice {
        let disk = image(&server, of: "a")
        var device = device(on: disk, of: "a")
        device.run(with: &server)
        increment(&device, 1)
        var isLost = false
        while !isLost, let call = device.open.first(where: { if case .changes = $0.kind { false } else { true } }) {
            var reply = Reply.failure(.interrupted("lost"))
            if case .writes = call.kind {
                isLost = true
                if arrives { _ = device.answer(call.kind, by: &server) }
            } else if let answer = device.answer(call.kind, by: &server) {
                reply = answer
            }
            device.reply(call.id, reply)
            device.settleDisk()
        }
        #expect(isLost)
        device.principal = "b"
        return device
    }

    @Test("a write that was sent before the token changed has its outcome, and is not sent again")
    func lostAnswer() {
        // Given
        var server = ModelServer()
        var device = interrupted(&server, arrives: true)
        // When
        increment(&device, 2)
        device.run(with: &server)
        // Then
        #expect(count(server) == #"{"n":4}"# && device.store.rows.isEmpty && device.verdicts.count == 2 && server.repeated.isEmpty)
        #expect(name(device).hasPrefix("kiosk."))
    }

    @Test("a write that may still arrive waits, the status states why, and the owner's token sends it")
    func lostRequest() {
        // Given
        var server = ModelServer()
        var device = interrupted(&server, arrives: false)
        // When
        increment(&device, 2)
        device.run(with: &server, rounds: 50)
        // Then
        #expect(isRefused(device) && device.status?.pendingWrites == 2 && count(server) == #"{"n":2}"# && name(device) == "kiosk")
        #expect(device.status?.connection == .live)
        // When
        device.principal = "a"
        device.handle(.wake)
        device.run(with: &server)
        // Then
        #expect(count(server) == #"{"n":4}"# && device.store.rows.isEmpty && !isRefused(device) && name(device) == "kiosk")
    }

    @Test("a device whose key was replaced continues under its name once the former key is revoked")
    func revokedOwner() throws {
        // Given
        var server = ModelServer()
        var device = interrupted(&server, arrives: false)
        device.run(with: &server, rounds: 50)
        try #require(isRefused(device))
        // When the name is free
        server.owners = [:]
        device.fireTimer()
        device.run(with: &server)
        // Then
        #expect(count(server) == #"{"n":3}"# && device.store.rows.isEmpty && name(device) == "kiosk")
    }

    @Test("a device that waits for a name asks at the longest back-off")
    func backOff() throws {
        // Given
        var server = ModelServer()
        var device = interrupted(&server, arrives: false)
        for _ in 1...20 where !isRefused(device) { device.run(with: &server, rounds: 1) }
        try #require(isRefused(device))
        // When
        let start = device.uptime
        var questions = 0
        for _ in 1...2_000 where device.uptime < start + 300_000 {
            device.fireTimer()
            for call in device.open {
                guard let answer = device.answer(call.kind, by: &server) else { continue }
                if case .changes = call.kind {} else { questions += 1 }
                device.reply(call.id, answer, lastWrite: server.lastWrite(for: call.kind, from: device.principal))
                device.settleDisk()
            }
        }
        // Then: one for the number and one for the outcomes, each half a minute
        #expect(isRefused(device) && device.uptime >= start + 300_000 && (16...22).contains(questions), "\(questions)")
    }

    @Test("devices on copies, whose tokens change, lose no write and have none applied twice")
    func randomSteps() {
        var waiting = 0
        for seed in 1...(SoakScale.isSoak ? 20_000 : 100) as ClosedRange<UInt64> {
            let walk = CopyWalk(seed: seed, hasOwners: true)
            #expect(walk.faults.isEmpty, "seed \(seed): \(walk.faults)")
            waiting += walk.waitingForOwner
        }
        #expect(waiting > 0, "no device had to wait for the principal of its name")
    }
}
