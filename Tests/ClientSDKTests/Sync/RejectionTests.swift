import FreshetWire
import Testing

@testable import FreshetClient

/// The list of rejected writes on a device.
@Suite struct RejectionTests {
    private func live(_ configure: (inout SyncSettings) -> Void = { _ in }) -> Scene {
        Scene.live(holding: [Scene.put("c/1", 4, "1")], configure: configure)
    }

    /// A device one of whose writes was rejected.
    private func rejected(_ configure: (inout SyncSettings) -> Void = { _ in }) -> Scene {
        var scene = live(configure)
        scene.put("c/1", "2", .rejectIfChanged)
        scene.results([Scene.rejected(1, current: Scene.record(Scene.key("c/1"), 12, Scene.json("x")))], at: 12)
        return scene
    }

    private func listed(_ scene: Scene) -> [Int64] { scene.device.store.rejections.map(\.writeID.number) }

    @discardableResult
    private func retry(
        _ scene: inout Scene, _ writeID: Int64, _ value: String, callerID: Int64 = 90, settles: Bool = true
    ) -> CallerID {
        let key = Scene.key("c/1")
        scene.device.handle(
            .set(
                SetRequest(
                    callerID: CallerID(callerID), key: key, operation: .put(Scene.json(value)), policy: .rejectIfChanged,
                    base: scene.device.store.entries[key], retries: LocalWriteID(writeID))))
        if settles { scene.device.settleDisk() }
        return CallerID(callerID)
    }

    @Test("a rejected write is on disk with its operation, in the transaction in which it leaves the outbox")
    func isKept() {
        // Given
        var scene = live()
        scene.put("c/1", "2", .rejectIfChanged)
        // When the verdict is on its way to the disk
        let current = Scene.record(Scene.key("c/1"), 12, Scene.json("x"))
        scene.results([Scene.rejected(1, current: current)], at: 12, settles: false)
        // Then
        #expect(scene.device.transactions.count == 1 && scene.device.status?.rejections == 0)
        let transaction = scene.device.transactions[0]
        #expect(transaction.outbox.contains(.remove(LocalWriteID(1))) && transaction.rejections.count == 1)
        // When
        scene.device.settleDisk()
        // Then
        let rejection = scene.device.store.rejections.first
        #expect(rejection?.key == Scene.key("c/1") && rejection?.operation == .put(Scene.json("2")))
        #expect(rejection?.policy == .rejectIfChanged && rejection?.problem.current == current)
        #expect(scene.device.status?.rejections == 1 && scene.verdict(1) != nil && scene.text("c/1") == "x")
    }

    @Test("it outlives the process, although no caller got the verdict")
    func outlivesTheProcess() {
        // Given a process that ends when the disk has the verdict
        var scene = live()
        scene.put("c/1", "2", .rejectIfChanged)
        scene.results([Scene.rejected(1)], at: 12, settles: false)
        scene.device.commitNext(silently: true)
        // When
        scene.device.crash()
        // Then
        #expect(scene.device.status?.rejections == 1 && listed(scene) == [1] && scene.device.machine.keeps(LocalWriteID(1)))
    }

    @Test("a merge that keeps the other's value is listed with what the user wrote")
    func merge() {
        // Given
        var scene = live()
        scene.put("c/1", "2", .merge(MergeName("m")))
        scene.results([Scene.rejected(1, current: Scene.record(Scene.key("c/1"), 12, Scene.json("x")))], at: 12)
        #expect(listed(scene).isEmpty)
        // When
        scene.device.handle(.merged(LocalWriteID(1), .takeTheirs))
        scene.device.settleDisk()
        // Then
        #expect(scene.device.store.rejections.first?.operation == .put(Scene.json("2")))
    }

    @Test("a retry is a new write, and takes the rejection off the disk in one transaction")
    func retry() {
        // Given
        var scene = rejected()
        // When
        let callerID = retry(&scene, 1, "3", settles: false)
        // Then
        #expect(scene.device.transactions.count == 1 && scene.device.transactions[0].rejections == [.remove(LocalWriteID(1))])
        #expect(scene.device.transactions[0].outbox.count == 1 && scene.device.answers[callerID] == nil)
        // When
        scene.device.settleDisk()
        // Then
        #expect(
            scene.device.answers[callerID] == .accepted(LocalWriteID(2)) && listed(scene).isEmpty && scene.device.status?.rejections == 0)
        #expect(scene.text("c/1") == "3" && scene.batch.map(\.ifRevision) == [Scene.revision(12)])
    }

    @Test("of two retries of one rejection, one is made", arguments: [true, false])
    func retryTwice(settles: Bool) {
        // Given
        var scene = rejected()
        // When both are called before the disk has the first, or after it
        let first = retry(&scene, 1, "3", callerID: 90, settles: settles)
        let second = retry(&scene, 1, "4", callerID: 91)
        // Then
        #expect(scene.device.answers[first] == .accepted(LocalWriteID(2)) && scene.failure(second) == .noRejection)
        #expect(scene.device.store.rows.count == 1 && scene.text("c/1") == "3")
    }

    @Test("a retry is made once though the process ends in between", arguments: [true, false])
    func retryAndCrash(isStored: Bool) {
        // Given
        var scene = rejected()
        retry(&scene, 1, "3", settles: false)
        // When the process ends before or after the disk has it
        if isStored { scene.device.commitNext(silently: true) }
        scene.device.crash()
        // Then the write is on disk, or the rejection is
        #expect(scene.device.store.rows.count == (isStored ? 1 : 0) && listed(scene) == (isStored ? [] : [1]))
        // When the user tries again
        let again = retry(&scene, 1, "3", callerID: 91)
        // Then
        #expect((scene.failure(again) == .noRejection) == isStored && scene.device.store.rows.count == 1 && listed(scene).isEmpty)
    }

    @Test("a retry that cannot be made leaves the rejection")
    func retryFails() {
        // Given a rejected write, and a value that takes no increment
        var scene = rejected()
        // When
        let key = Scene.key("c/1")
        let request = SetRequest(
            callerID: CallerID(90), key: key, operation: Scene.increment(), base: scene.device.store.entries[key], retries: LocalWriteID(1))
        scene.device.handle(.set(request))
        scene.device.settleDisk()
        // Then
        if case .cannotApply? = scene.failure(CallerID(90)) {
        } else {
            Issue.record("\(String(describing: scene.device.answers[CallerID(90)]))")
        }
        #expect(listed(scene) == [1] && scene.device.store.rows.isEmpty)
        // When the disk is full
        let callerID = retry(&scene, 1, "3", callerID: 91, settles: false)
        scene.device.failNext(.full)
        // Then
        #expect(scene.failure(callerID) == .disk(.full) && listed(scene) == [1] && scene.device.machine.keeps(LocalWriteID(1)))
    }

    @Test("a rejection that is discarded leaves the disk, once")
    func discard() {
        // Given
        var scene = rejected()
        // When it is discarded twice, first with a full disk
        scene.device.handle(.discard(LocalWriteID(1), CallerID(90)))
        scene.device.failNext(.full)
        #expect(scene.failure(CallerID(90)) == .disk(.full) && listed(scene) == [1])
        for callerID: Int64 in 91...92 {
            scene.device.handle(.discard(LocalWriteID(1), CallerID(callerID)))
            scene.device.settleDisk()
        }
        // Then
        #expect(scene.device.answers[CallerID(91)] == .discarded && scene.failure(CallerID(92)) == .noRejection)
        #expect(listed(scene).isEmpty && scene.device.status?.rejections == 0)
    }

    @Test("a clear forgets the list, and answers the callers that wait to discard")
    func clear() throws {
        // Given a call to discard that waits behind another transaction
        var scene = rejected()
        _ = scene.set("c/2", .put(Scene.json("1")), settles: false)
        scene.device.handle(.discard(LocalWriteID(1), CallerID(90)))
        // When
        scene.device.handle(.clear(newClient: try ClientIdentifier("next"), CallerID(99)))
        // Then nothing is listed from here on
        #expect(scene.failure(CallerID(90)) == .cleared && !scene.device.machine.keeps(LocalWriteID(1)))
        scene.device.settleDisk()
        #expect(scene.device.store.rejections.isEmpty && scene.device.status?.rejections == 0)
        // When one of the account before is retried
        let callerID = retry(&scene, 1, "3", callerID: 93)
        // Then
        #expect(scene.failure(callerID) == .noRejection && scene.device.store.rows.isEmpty)
    }

    @Test("a stop answers the callers that wait to discard, and a device that has not started discards nothing")
    func stop() {
        // Given
        var scene = rejected()
        scene.device.handle(.discard(LocalWriteID(1), CallerID(90)))
        // When
        scene.device.handle(.stop)
        // Then
        #expect(scene.failure(CallerID(90)) == .stopped)
        var idle = SyncMachine(settings: SyncSettings(), client: scene.device.store.state.client)
        let actions = idle.handle(.discard(LocalWriteID(1), CallerID(1)), at: scene.device.now)
        #expect(actions.contains(.complete(CallerID(1), .failed(.stopped))))
    }

    @Test("beyond the bounds the oldest is dropped for the newest, and counted, which the log says")
    func bounds() {
        let bounds: [(settings: (inout SyncSettings) -> Void, why: Comment)] = [
            ({ $0.rejectionCount = 2 }, "by number"), ({ $0.rejectionBytes = 3_500 }, "by bytes"),
        ]
        for (settings, why) in bounds {
            // Given
            var scene = live(settings)
            let value = "\"" + String(repeating: "v", count: 1_000) + "\""
            // When three are rejected
            for number: Int64 in 1...3 {
                scene.put("c/1", value, .rejectIfChanged)
                scene.results([Scene.rejected(number)], at: 12)
            }
            // Then
            #expect(listed(scene) == [2, 3] && scene.device.status?.rejections == 2 && scene.device.status?.droppedRejections == 1, why)
            #expect(scene.device.logs.contains { $0.level == .error && $0.text.hasPrefix("1 rejected writes were dropped") }, why)
            // When it starts again
            scene.device.crash()
            // Then
            #expect(scene.device.status?.rejections == 2 && scene.device.status?.droppedRejections == 1, why)
        }
    }

    @Test("their bytes are those of all texts and values that are stored")
    func bytes() {
        // Given a rejection without long texts
        let key = Scene.key("c/1")
        func size(_ problem: Problem, _ operation: WriteOperation = .delete, _ policy: ConflictPolicy = .lastWriterWins) -> Int {
            RejectedWrite(PartSupport.row(1, "c/1", operation, policy), problem, at: Timestamp(milliseconds: 1)).size
        }
        let plain = Problem(.forbidden, "no")
        let text = String(repeating: "x", count: 1_000)
        // When one of its texts is long
        var needs = plain
        needs.needs = Problem.Need(may: text, of: text)
        var outline = plain
        outline.current = Record(key: key, revision: Scene.revision(5), contentType: text, size: 1, modified: Timestamp(milliseconds: 1))
        let sizes = [
            size(Problem(.forbidden, text)), size(Problem(ProblemCode(text: text, status: 403), "no")), size(needs), size(outline),
            size(plain, .delete, .merge(MergeName(text))), size(plain, .put(Content(bytes: [], type: text))),
        ]
        // Then it counts
        #expect(sizes.allSatisfy { $0 >= size(plain) + 980 }, "\(sizes)")
    }

    @Test("the newest is kept at any size")
    func oneIsKept() {
        let scene = rejected { $0.rejectionBytes = 1 }
        #expect(listed(scene) == [1] && scene.device.status?.droppedRejections == 0)
    }

    @Test("the count of those that were dropped comes back as it was")
    func countIsStored() throws {
        var state = rejected().device.store.state
        #expect(try SyncState(json: state.json) == state)
        state.apply(.droppedRejections(7))
        #expect(try SyncState(json: state.json).droppedRejections == 7)
    }
}
