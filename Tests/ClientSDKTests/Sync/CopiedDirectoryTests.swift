// swift-format-ignore-file: NeverUseForceTry, NeverForceUnwrap

import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetClient

/// Devices that were made of one directory, or were rolled back, share a name and its numbers: each write takes effect once, and none is confirmed that
/// did not.
@Suite("A copied or rolled-back directory") struct CopiedDirectoryTests {
    private static let counter = Scene.key("counters/1")

    /// A directory that was in use: two writes are decided.
    private func image(_ server: inout ModelServer, waiting: Int = 0) -> VolatileStore {
        var device = ModelDevice.onCopy(of: VolatileStore(client: try! ClientIdentifier("kiosk")), random: 5)
        for number in 1...2 { increment(&device, number) }
        device.run(with: &server)
        for number in 0..<waiting { increment(&device, 10 + number) }
        device.settleDisk()
        return device.store
    }

    private func increment(_ device: inout ModelDevice, _ callerID: Int, _ policy: ConflictPolicy = .lastWriterWins) {
        device.handle(
            .set(
                SetRequest(
                    callerID: CallerID(Int64(callerID)), key: Self.counter, operation: Scene.increment(), policy: policy,
                    base: device.store.entries[Self.counter])))
        device.settleDisk()
    }

    /// Makes so many writes on a copy of the directory, and sends them.
    ///
    /// - Parameter random: the seed of the writes' nonces.
    private func write(_ count: Int, onCopyOf disk: VolatileStore, random: UInt64 = 100, _ server: inout ModelServer) {
        var device = ModelDevice.onCopy(of: disk, random: random)
        for number in 1...count { increment(&device, number) }
        device.run(with: &server)
    }

    private func forgetOutcomes(_ server: inout ModelServer) throws {
        let client = try ClientIdentifier("kiosk")
        server.ledgers[client]?.outcomes = [:]
        server.ledgers[client]?.nonces = [:]
    }

    private func count(_ server: ModelServer) -> String? {
        server.records[Self.counter]?.content.map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    private func isSettled(_ device: ModelDevice) -> Bool {
        device.store.rows.isEmpty && device.status?.pendingWrites == 0 && device.store.state.renamesAfter == nil
            && device.verdicts.allSatisfy { if case .applied(.some) = $0.verdict { true } else { false } }
    }

    private func name(_ device: ModelDevice) -> String { device.store.state.client.text }

    @Test("copies that run at the same time and write the same record: each write counts, and one of them takes a new name")
    func copiesAtTheSameTime() {
        // Given two that were made of one directory, both in contact
        var server = ModelServer()
        let disk = image(&server)
        var first = ModelDevice.onCopy(of: disk, random: 100)
        var second = ModelDevice.onCopy(of: disk, random: 200)
        first.run(with: &server)
        second.run(with: &server)
        // When both write under the same numbers
        for number in 1...3 { increment(&first, number) }
        for number in 1...2 { increment(&second, number) }
        first.run(with: &server)
        second.run(with: &server)
        // Then
        #expect(count(server) == #"{"n":7}"# && server.repeated.isEmpty)
        #expect(isSettled(first) && isSettled(second) && second.verdicts.count == 2)
        #expect(name(first) == "kiosk" && name(second).hasPrefix("kiosk.") && name(second).utf8.count == 19)
        #expect(second.logs.contains { $0.level == .warning && $0.text.contains("kiosk") })
        // When both go on
        increment(&first, 9)
        increment(&second, 9)
        first.run(with: &server)
        second.run(with: &server)
        first.run(with: &server)
        // Then neither meets the other
        #expect(count(server) == #"{"n":9}"# && isSettled(first) && isSettled(second) && name(first) == "kiosk")
        #expect(second.view(Self.counter).value == first.view(Self.counter).value)
    }

    @Test("a write that waited when a directory was copied takes effect once, from any copy", arguments: [1, 4])
    func copyWithWaitingWrites(_ waiting: Int) {
        // Given
        var server = ModelServer()
        let disk = image(&server, waiting: waiting)
        var first = ModelDevice.onCopy(of: disk, random: 100)
        var second = ModelDevice.onCopy(of: disk, random: 200)
        // When each adds another write
        increment(&first, 1)
        increment(&second, 1)
        first.run(with: &server)
        second.run(with: &server)
        // Then
        #expect(count(server) == "{\"n\":\(2 + waiting + 2)}" && server.repeated.isEmpty)
        #expect(isSettled(first) && isSettled(second))
        #expect(first.verdicts.count == waiting + 1 && second.verdicts.count == waiting + 1)
    }

    @Test("a device that was rolled back sends its later writes, and none a second time")
    func rollback() {
        // Given a snapshot with a write that was sent after it, and more
        var server = ModelServer()
        let snapshot = image(&server, waiting: 1)
        write(1, onCopyOf: snapshot, &server)
        #expect(count(server) == #"{"n":4}"#)
        // When it goes back, and writes more than it had before it is in contact
        var device = ModelDevice.onCopy(of: snapshot, random: 200)
        for number in 1...3 { increment(&device, number) }
        #expect(device.view(Self.counter).isPending)
        device.run(with: &server)
        // Then
        #expect(count(server) == #"{"n":7}"# && server.repeated.isEmpty && isSettled(device))
        #expect(name(device) != "kiosk")
    }

    @Test(
        "edits on a rolled-back device take effect though the server has forgotten the outcomes of their numbers", arguments: [3, 12],
        [false, true])
    func forgottenOutcomes(_ edits: Int, _ crashes: Bool) {
        // Given a snapshot, after which more writes were made than the server keeps outcomes of
        var server = ModelServer()
        server.kept = 3
        let snapshot = image(&server)
        write(10, onCopyOf: snapshot, &server)
        #expect(count(server) == #"{"n":12}"#)
        // When the device goes back, and its user edits before it is in contact
        var device = ModelDevice.onCopy(of: snapshot, random: 200)
        for number in 1...edits { increment(&device, number) }
        if crashes {
            // The process ends as soon as it has stored the server's last number.
            guard let call = device.open.first(where: { if case .clientStatus = $0.kind { true } else { false } }),
                let answer = device.answer(call.kind, by: &server)
            else {
                Issue.record("the server's last number is not asked for")
                return
            }
            device.reply(call.id, answer)
            device.commitNext()
            device.crash()
        }
        device.run(with: &server)
        // Then
        #expect(count(server) == "{\"n\":\(12 + edits)}" && server.repeated.isEmpty)
        #expect(isSettled(device) && device.verdicts.count == edits && name(device) != "kiosk")
        #expect(device.view(Self.counter).value.content == server.records[Self.counter]?.content)
    }

    /// Answers the device's oldest request that the condition holds for and that the server answers at once, or lets the server alone have it.
    private func answer(
        _ device: inout ModelDevice, by server: inout ModelServer, isLost: Bool = false, where holds: (RequestDescription.Kind) -> Bool
    ) throws {
        for call in device.open where holds(call.kind) {
            guard let reply = device.answer(call.kind, by: &server) else { continue }
            if !isLost {
                device.reply(call.id, reply, lastWrite: server.lastWrite(for: call.kind))
                device.settleDisk()
            }
            return
        }
        throw Unanswered()
    }

    private struct Unanswered: Error {}

    private static func isWrites(_ kind: RequestDescription.Kind) -> Bool { if case .writes = kind { true } else { false } }
    private static func isStatus(_ kind: RequestDescription.Kind) -> Bool { if case .clientStatus = kind { true } else { false } }

    @Test("a number that another history has not used is the device's own again")
    func usedInAnotherHistory() throws {
        // Given a rolled-back device that has stored that the number of its edit is used
        var server = ModelServer()
        let snapshot = image(&server)
        let backup = server
        write(3, onCopyOf: snapshot, &server)
        var device = ModelDevice.onCopy(of: snapshot, random: 200)
        increment(&device, 1)
        try answer(&device, by: &server, where: Self.isStatus)
        #expect(device.store.rows.values.allSatisfy { $0.origin?.number == 3 })
        // When the server loses the number, applies the edit under it, and has forgotten that when the device comes again
        server = restored(backup)
        for _ in 0..<20 where device.store.state.epoch != server.epoch || !device.open.contains(where: { Self.isWrites($0.kind) }) {
            try answer(&device, by: &server) { _ in true }
        }
        try answer(&device, by: &server, isLost: true, where: Self.isWrites)
        #expect(count(server) == #"{"n":3}"#)
        try forgetOutcomes(&server)
        device.crash()
        device.run(with: &server)
        // Then it took effect once
        #expect(
            count(server) == #"{"n":3}"# && device.store.rows.isEmpty && device.view(Self.counter).value.content == Scene.json(#"{"n":3}"#))
    }

    @Test("the last of several puts of one record stays, though the numbers of the earlier ones are used", arguments: [3, .max])
    func orderOfPuts(_ kept: Int64) {
        // Given
        var server = ModelServer()
        server.kept = kept
        let snapshot = image(&server)
        write(6, onCopyOf: snapshot, &server)
        // When a device that was rolled back puts one more time than numbers are used
        var device = ModelDevice.onCopy(of: snapshot, random: 200)
        let key = Scene.key("notes/1")
        for number in 1...7 { put(&device, Int64(number)) }
        device.run(with: &server)
        // Then
        #expect(server.records[key]?.content == Scene.json("7") && device.view(key).value.content == Scene.json("7"))
        #expect(isSettled(device) && device.verdicts.count == 7 && name(device) != "kiosk")
    }

    private func put(_ device: inout ModelDevice, _ number: Int64, _ key: RecordKey = Scene.key("notes/1")) {
        device.handle(.set(SetRequest(callerID: CallerID(number), key: key, operation: .put(Scene.json("\(number)")), base: nil)))
        device.settleDisk()
    }

    @Test(
        "of two copies that run, the one whose numbers are used keeps the order of its puts, over one record and several",
        arguments: [1, 100], [3, .max] as [Int64])
    func orderOfPutsOnARunningCopy(_ batchCount: Int, _ kept: Int64) {
        // Given two copies in contact, of which one has used numbers, as many as the server keeps or more
        var server = ModelServer()
        server.kept = kept
        let disk = image(&server)
        var first = ModelDevice.onCopy(of: disk, random: 100)
        var second = ModelDevice.onCopy(of: disk, random: 200) { $0.batchCount = batchCount }
        first.run(with: &server)
        second.run(with: &server)
        for number in 1...5 { increment(&first, number) }
        first.run(with: &server)
        // When the other one puts one record again and again, and another between, beyond those numbers
        for number in 1...7 { put(&second, Int64(number), Scene.key(number == 6 ? "notes/2" : "notes/1")) }
        second.run(with: &server)
        // Then
        #expect(server.records[Scene.key("notes/1")]?.content == Scene.json("7"))
        #expect(isSettled(second) && second.verdicts.count == 7 && name(second) != "kiosk" && server.repeated.isEmpty)
        #expect(server.records[Scene.key("notes/2")].map { $0.revision < server.head } == true)
    }

    @Test("a write that a copy of the running device has sent takes effect once, though its number comes after used ones")
    func neverSentOnARunningDevice() throws {
        // Given a device that has been in contact, with writes that it has not sent, and a copy that sends them and goes on
        var server = ModelServer()
        let disk = image(&server)
        var device = ModelDevice.onCopy(of: disk, random: 100)
        for number in 1...3 { increment(&device, number) }
        try answer(&device, by: &server, where: Self.isStatus)
        var copy = ModelDevice.onCopy(of: device.store, random: 200)
        copy.run(with: &server)
        increment(&copy, 4)
        copy.run(with: &server)
        increment(&device, 5)
        // When
        device.run(with: &server)
        // Then
        #expect(count(server) == #"{"n":7}"# && server.repeated.isEmpty)
        #expect(isSettled(device) && device.verdicts.count == 4 && isSettled(copy))
    }

    @Test("an edit that is made after the server's last number is known waits for the next name", arguments: [false, true])
    func editAfterTheComparison(_ crashes: Bool) throws {
        // Given a rolled-back device that has stored that the numbers of its edits are used
        var server = ModelServer()
        server.kept = 3
        let snapshot = image(&server)
        write(10, onCopyOf: snapshot, &server)
        var device = ModelDevice.onCopy(of: snapshot, random: 200)
        for number in 1...3 { increment(&device, number) }
        try answer(&device, by: &server, where: Self.isStatus)
        // When its user edits again
        increment(&device, 4)
        if crashes { device.crash() }
        device.run(with: &server)
        // Then
        #expect(count(server) == #"{"n":16}"# && server.repeated.isEmpty)
        #expect(isSettled(device) && device.verdicts.count == 4 && name(device) != "kiosk")
    }

    @Test("a write over a displaced one is kept, though the server has forgotten who used its number")
    func forgottenVoidWrite() throws {
        // Given two writes that wait on two devices, the second over the first, and numbers that another copy has used
        var server = ModelServer()
        let disk = image(&server)
        var waiting = ModelDevice.onCopy(of: disk, random: 100)
        increment(&waiting, 1)
        increment(&waiting, 2, .rejectIfChanged)
        write(2, onCopyOf: disk, random: 200, &server)
        var device = ModelDevice.onCopy(of: waiting.store, random: 300)
        // When the first is refused as another's, and the server then forgets the outcomes
        for _ in 0..<20 where device.store.rows.values.allSatisfy({ !$0.isDisplaced }) { try answer(&device, by: &server) { _ in true } }
        try forgetOutcomes(&server)
        device.run(with: &server)
        // Then both take effect under the next name
        #expect(count(server) == #"{"n":6}"# && server.repeated.isEmpty)
        #expect(isSettled(device) && device.verdicts.count == 2 && name(device) != "kiosk")
    }

    @Test("an edit that a copy of the running device has sent before it takes effect once")
    func copyOfUnsentWrites() {
        // Given a device that has not been in contact since its start, and a copy that sends its edits and one more
        var server = ModelServer()
        var device = ModelDevice.onCopy(of: image(&server), random: 100)
        for number in 1...2 { increment(&device, number) }
        var copy = ModelDevice.onCopy(of: device.store, random: 200)
        increment(&copy, 3)
        copy.run(with: &server)
        #expect(count(server) == #"{"n":5}"#)
        // When
        device.run(with: &server)
        // Then
        #expect(count(server) == #"{"n":5}"# && server.repeated.isEmpty)
        #expect(isSettled(device) && device.verdicts.count == 2 && name(device) != "kiosk")
    }

    @Test("a device that the server is ahead of takes a new name before it has written anything")
    func serverIsAhead() {
        // Given
        var server = ModelServer()
        let snapshot = image(&server)
        write(1, onCopyOf: snapshot, &server)
        // When the feed brings a write under its name, with a number that it never gave
        var device = ModelDevice.onCopy(of: snapshot, random: 200)
        device.run(with: &server)
        device.run(with: &server)
        // Then
        #expect(name(device) != "kiosk" && device.store.state.nextNumber == 1 && isSettled(device))
    }

    /// The server as it was, in another history. All changes since then are lost.
    private func restored(_ backup: ModelServer) -> ModelServer {
        var server = backup
        server.epoch = Epoch("b")!
        return server
    }

    @Test("a write under a number that the other device left out after a restore is not taken for decided")
    func leftOutNumbers() {
        // Given a server that loses two writes of the first of two devices
        var server = ModelServer()
        let disk = image(&server)
        let backup = server
        var first = ModelDevice.onCopy(of: disk, random: 100)
        var second = ModelDevice.onCopy(of: disk, random: 200)
        for number in 1...2 { increment(&first, number) }
        first.run(with: &server)
        second.run(with: &server)
        server = restored(backup)
        // When the first goes on, and then the second writes under the numbers that it left out
        increment(&first, 3)
        first.run(with: &server)
        for number in 1...2 { increment(&second, number) }
        second.run(with: &server)
        // Then
        #expect(count(server) == #"{"n":5}"# && server.repeated.isEmpty)
        #expect(isSettled(first) && isSettled(second) && name(second) != "kiosk")
        #expect(second.view(Self.counter).value.content == server.records[Self.counter]?.content)
    }

    @Test("a record of a lost history that may contain a write is not shown with it once more")
    func lostHistoryOfASharedWrite() {
        // Given a write that waits on two devices, the second of which sees it in the record after the first has sent it
        var server = ModelServer()
        let disk = image(&server, waiting: 1)
        let backup = server
        var first = ModelDevice.onCopy(of: disk, random: 100)
        var second = ModelDevice.onCopy(of: disk, random: 200)
        first.run(with: &server)
        if let feed = second.open.first(where: { if case .changes = $0.kind { true } else { false } }),
            let answer = second.answer(feed.kind, by: &server)
        {
            second.reply(feed.id, answer, lastWrite: server.lastWrite(for: feed.kind))
            second.settleDisk()
        }
        #expect(second.view(Self.counter).value.content == Scene.json(#"{"n":3}"#))
        // When the server loses it, the first goes on without it, and the second hears of that before it has read any of the new history
        server = restored(backup)
        increment(&first, 3)
        first.run(with: &server)
        var shown: [Content?] = []
        for _ in 0..<20 {
            for call in second.open {
                if case .changes = call.kind, !second.store.rows.isEmpty, second.store.state.epoch == server.epoch { continue }
                guard let answer = second.answer(call.kind, by: &server) else { continue }
                second.reply(call.id, answer, lastWrite: server.lastWrite(for: call.kind))
                second.settleDisk()
                shown.append(second.view(Self.counter).value.content)
            }
        }
        second.run(with: &server)
        // Then
        #expect(!shown.contains(Scene.json(#"{"n":4}"#)))
        #expect(name(second) != "kiosk" && isSettled(second) && count(server) == #"{"n":4}"#)
    }

    @Test("a write over another whose number was taken goes with it under the new name")
    func chainOfConditionalWrites() {
        // Given
        var server = ModelServer()
        let disk = image(&server)
        var first = ModelDevice.onCopy(of: disk, random: 100)
        var second = ModelDevice.onCopy(of: disk, random: 200)
        second.run(with: &server)
        increment(&first, 1)
        increment(&second, 1)
        increment(&second, 2, .rejectIfChanged)
        // When
        first.run(with: &server)
        second.run(with: &server)
        // Then
        #expect(count(server) == #"{"n":5}"# && isSettled(second))
    }

    @Test("a large value that another copy wrote under the same number is read again, and not taken for one's own")
    func largeValueOfAnotherCopy() {
        // Given two that write values of one size, which the feed leaves out
        var server = ModelServer()
        let disk = image(&server)
        var first = ModelDevice.onCopy(of: disk, random: 100)
        var second = ModelDevice.onCopy(of: disk, random: 200)
        second.run(with: &server)
        let key = Scene.key("pictures/1")
        for (value, index) in [("a", 0), ("b", 1)] {
            let content = Scene.json("\"\(String(repeating: value, count: 300))\"")
            let request = SetRequest(callerID: CallerID(50), key: key, operation: .put(content), base: nil)
            if index == 0 { first.handle(.set(request)) } else { second.handle(.set(request)) }
        }
        first.settleDisk()
        second.settleDisk()
        // When the feed brings the first's write to the second before the second's write has an answer
        first.run(with: &server)
        if let feed = second.open.first(where: { if case .changes = $0.kind { true } else { false } }),
            let answer = second.answer(feed.kind, by: &server)
        {
            second.reply(feed.id, answer)
            second.settleDisk()
        }
        second.run(with: &server)
        first.run(with: &server)
        // Then both show the later one
        let stored = server.records[key]?.content
        #expect(stored?.bytes[1] == UInt8(ascii: "b") && isSettled(second))
        #expect(first.view(key).value.content == stored && second.view(key).value.content == stored)
    }

    @Test("a server that calls each number or each name taken is asked ever more slowly", arguments: [true, false])
    func everyNameIsTaken(_ refusesBatch: Bool) throws {
        // Given
        var scene = Scene.live()
        scene.put("c/1", "1")
        func refuse() {
            if refusesBatch {
                scene.replyToWrites(.problem(Problem(.clientTaken, "no"), cursor: nil, retryAfter: nil))
            } else {
                scene.results([Scene.rejected(1, .numberTaken)], at: 12)
            }
        }
        // When the first name is taken
        refuse()
        // Then the next one is tried at once
        let first = scene.device.store.state.client
        #expect(first.text.hasPrefix("device.") && scene.numbers == [1])
        // When that is taken too
        let start = scene.device.uptime
        var names: Set<ClientIdentifier> = []
        for _ in 1...1_000 where scene.device.uptime < start + 600_000 {
            if scene.writes != nil { refuse() } else { scene.device.fireTimer() }
            names.insert(scene.device.store.state.client)
        }
        // Then each change waits, 15 seconds on average in the end, and the write is kept
        #expect(scene.device.uptime >= start + 600_000 && (15...80).contains(names.count), "\(names.count)")
        #expect(scene.isPending("c/1"))
        // When a name is accepted
        while scene.writes == nil { scene.device.fireTimer() }
        scene.results([Scene.applied(1, 13)], at: 13)
        scene.put("c/2", "2")
        let accepted = scene.device.store.state.client
        #expect(scene.writes != nil)
        // And a later number is taken
        scene.results([Scene.rejected(2, .numberTaken)], at: 14)
        // Then another one is tried at once
        #expect(scene.device.store.state.client != accepted && scene.writes != nil)
    }

    @Test("a crash between the answers and the new name loses nothing", arguments: 0...12)
    func crashesOnTheWay(_ steps: Int) {
        // Given
        var server = ModelServer()
        let disk = image(&server)
        var first = ModelDevice.onCopy(of: disk, random: 100)
        for number in 1...3 { increment(&first, number) }
        first.run(with: &server)
        var second = ModelDevice.onCopy(of: disk, random: 200)
        for number in 1...5 { increment(&second, number) }
        // When the process dies after some transactions
        for _ in 0..<steps {
            for call in second.open {
                guard let answer = second.answer(call.kind, by: &server) else { continue }
                second.reply(call.id, answer, lastWrite: server.lastWrite(for: call.kind))
            }
            second.commitNext()
        }
        second.commitNext(silently: true)
        second.crash()
        second.run(with: &server)
        // Then
        #expect(count(server) == #"{"n":10}"# && server.repeated.isEmpty && second.store.rows.isEmpty)
    }

    @Test("copies and rollbacks at random times: each write counts once", arguments: 0..<20)
    func copiesAndRollbacks(_ tenth: UInt64) {
        for seed in tenth * 10 + 1...tenth * 10 + 10 {
            let walk = CopyWalk(seed: seed)
            #expect(walk.faults == [], "seed \(seed)")
        }
    }

    @Test("without nonces a walk shows within 200 seeds that writes are lost")
    func withoutNonces() {
        #expect((1...200).contains { !CopyWalk(seed: $0, ignoresNonces: true).faults.isEmpty })
    }
}
