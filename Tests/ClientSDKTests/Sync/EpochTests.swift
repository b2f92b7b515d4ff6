// swift-format-ignore-file: NeverForceUnwrap

import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetClient

/// A write has its verdict within one history: every batch names the one that it is for.
@Suite struct EpochTests {
    private func otherEpoch(_ epoch: String?) -> Reply {
        .problem(Problem(.epochChanged, "another"), cursor: epoch.map { Scene.position(9, $0) }, retryAfter: nil)
    }

    private func last(_ number: Int64, _ scene: Scene, _ epoch: String = "b") -> Reply {
        .client(ClientStatus(client: scene.device.store.state.client, last: number), Scene.position(9, epoch))
    }

    // MARK: First contact

    @Test func theFeedTellsANewDeviceTheHistory() {
        // Given
        var scene = Scene()
        // When
        scene.put("c/1", "1")
        // Then: nothing is sent that could be taken for another history's, and nothing more is asked
        #expect(scene.writes == nil && scene.status == nil)
        #expect(scene.text("c/1") == "1" && scene.isPending("c/1"))
        // When
        scene.page([], to: 10)
        // Then
        #expect(scene.epoch == Epoch("a"))
        #expect(scene.numbers == [1])
        #expect(scene.status == nil)
    }

    @Test func whereTheFeedFailsTheSenderAsksForItself() {
        // Given
        var scene = Scene()
        scene.put("c/1", "1")
        // When
        scene.replyToFeed(.problem(Problem(.forbidden, "no reading"), cursor: nil, retryAfter: nil))
        // Then
        guard let status = scene.status else { Issue.record("not asked"); return }
        scene.device.reply(status.id, last(0, scene, "a"))
        scene.device.settleDisk()
        #expect(scene.epoch == Epoch("a"))
        #expect(scene.numbers == [1])
        #expect(scene.device.store.state.epoch == Epoch("a"))
    }

    @Test func aReadTellsItToo() {
        // Given
        var scene = Scene(.cachedKeys)
        scene.put("c/1", "1")
        _ = scene.fetch("c/2")
        // When
        scene.answerFetch(.missing(Scene.position(10)))
        // Then
        #expect(scene.epoch == Epoch("a"))
    }

    @Test func offlineTheWritesWaitAndShow() {
        // Given
        var scene = Scene()
        for number in 1...3 { scene.put("c/\(number)", "1") }
        // When
        for _ in 0..<20 {
            if scene.feed != nil { scene.replyToFeed(.failure(.unreachable("no route"))) }
            if let status = scene.status { scene.device.reply(status.id, .failure(.unreachable("no route"))) }
            #expect(scene.writes == nil)
            scene.device.fireTimer()
        }
        // Then
        #expect(scene.text("c/3") == "1" && scene.isPending("c/3"))
        // When
        var server = ModelServer()
        scene.device.run(with: &server)
        // Then
        #expect(scene.device.verdicts.map(\.verdict) == (1...3).map { .applied(Scene.revision($0)) })
    }

    @Test func aRestartKnowsTheHistory() {
        // Given
        var scene = Scene.live()
        scene.put("c/1", "1")
        // When
        scene.device.crash()
        scene.answerStatus(last: 0, at: 10)
        // Then
        #expect(scene.epoch == Epoch("a"))
    }

    @Test func afterAClearItIsLearnedAnew() {
        // Given
        var scene = Scene.live()
        scene.device.handle(.clear(newClient: try! ClientIdentifier("device2"), CallerID(99)))
        scene.device.settleDisk()
        scene.put("c/1", "1")
        #expect(scene.writes == nil)
        // When
        scene.page([], to: 10, "b")
        // Then
        #expect(scene.epoch == Epoch("b"))
    }

    // MARK: Another history

    @Test(arguments: ["b", nil]) func aRefusedBatchKeepsItsNumbers(epoch: String?) {
        // Given: number 1 is decided, 2 and 3 are under way
        var scene = Scene.live()
        scene.put("c/1", "1")
        scene.results([Scene.applied(1, 11)], at: 11)
        scene.put("c/2", "2")
        scene.put("c/3", "3")
        // When: the server was restored to before all of them
        scene.replyToWrites(otherEpoch(epoch))
        // Then
        #expect(scene.writes == nil)
        guard let status = scene.status else { Issue.record("not compared"); return }
        scene.device.reply(status.id, last(0, scene))
        scene.device.settleDisk()
        #expect(scene.epoch == Epoch("b"))
        #expect(scene.batch.map(\.key) == [Scene.key("c/2"), Scene.key("c/3")])
        #expect(scene.numbers == [2, 3])
        #expect(scene.resume == true)
        scene.results([Scene.applied(2, 2), Scene.applied(3, 3)], at: 3, "b")
        #expect(scene.verdict(2) == .applied(Scene.revision(2)))
        #expect(scene.verdict(3) == .applied(Scene.revision(3)))
        #expect(scene.device.verdicts.count == 3)
    }

    @Test func aBatchThatTheBackUpHoldsCountsOnce() {
        // Given: the answer is lost, and the back-up is taken after it
        var server = ModelServer()
        var scene = Scene()
        scene.device.run(with: &server)
        _ = scene.set("c/1", Scene.increment())
        _ = server.answer(scene.writes!.kind)
        let backup = server
        scene.replyToWrites(.failure(.interrupted("lost")))
        _ = scene.set("c/1", Scene.increment())
        // When
        server = backup
        server.epoch = Epoch("b")!
        scene.device.run(with: &server)
        // Then
        #expect(scene.text("c/1") == #"{"n":2}"#)
        #expect(server.records[Scene.key("c/1")]?.content == Scene.json(#"{"n":2}"#))
        #expect(scene.device.verdicts.count == 2)
    }

    @Test func aBatchOfBeforeTheRestoreThatComesLateTakesNoNumber() {
        // Given: a proxy holds a batch back, and the device believes it lost
        var server = ModelServer()
        var scene = Scene()
        scene.device.run(with: &server)
        let backup = server
        scene.put("c/1", "1")
        let delayed = scene.writes!.kind
        scene.replyToWrites(.failure(.interrupted("lost")))
        scene.device.fireTimer()
        scene.device.run(with: &server)
        scene.put("c/2", "2")
        // When: the restored server gets it before the device's next
        server = backup
        server.epoch = Epoch("b")!
        scene.replyToFeed(otherEpoch("b"))
        scene.device.reply(scene.status!.id, last(0, scene))
        scene.device.settleDisk()
        #expect(scene.numbers == [2])
        if case .problem(let problem, _, _)? = server.answer(delayed) {
            #expect(problem.code == .epochChanged)
        } else {
            Issue.record("it was applied")
        }
        scene.device.run(with: &server)
        // Then
        #expect(server.records[Scene.key("c/2")]?.content == Scene.json("2"))
        #expect(server.records[Scene.key("c/1")] == nil)
        #expect(scene.text("c/2") == "2" && !scene.isPending("c/2"))
    }

    @Test func aLastNumberOfYetAnotherHistoryIsNotUsed() {
        // Given: nobody knows the history
        var scene = Scene.live()
        scene.put("c/1", "1")
        scene.replyToWrites(otherEpoch(nil))
        guard let status = scene.status else { Issue.record("not compared"); return }
        // When: while the disk takes the feed's first page of c, the answer of b comes
        scene.page([], to: 3, "c", settles: false)
        scene.device.reply(status.id, last(7, scene, "b"))
        scene.device.settleDisk()
        // Then
        #expect(scene.writes == nil)
        #expect(scene.row(1)?.number == 1)
    }

    @Test func anotherGoneThanThisIsARefusalLikeAnyOther() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/9", 4, "9")])
        scene.put("c/1", "1")
        // When
        let problem = Problem(ProblemCode(text: "http-410", status: 410), "a proxy's", status: 410)
        scene.replyToWrites(.problem(problem, cursor: nil, retryAfter: nil))
        // Then
        #expect(scene.device.store.state.cursor == Scene.position(10))
        #expect(scene.device.status?.writeTrouble == .refused(problem))
        #expect(scene.writes == nil && (scene.device.deadline ?? 0) > scene.device.uptime)
    }

    // MARK: No storm

    @Test(arguments: [true, false]) func serversThatDisagreeMakeNoStorm(isReplica: Bool) {
        // Given: the feed leads to one server, the writes and reads to another
        var scene = Scene.live(isReplica ? .everything : .cachedKeys, holding: [Scene.put("c/9", 4, "9")])
        scene.put("c/1", "1")
        let start = scene.device.uptime
        let before = scene.device.machine.inspection.requestsSent
        // When
        while scene.device.uptime < start + 600_000 {
            scene.device.settleDisk()
            if let request = scene.device.open.first(where: { $0.id != scene.feed?.id || scene.wait == 0 }) {
                switch request.kind {
                case .changes: scene.page([], to: 10, "a")
                case .writes: scene.device.reply(request.id, otherEpoch("b"))
                case .list: break
                case .clientStatus: scene.device.reply(request.id, last(0, scene))
                case .reads: scene.device.reply(request.id, .reads(ReadsResponse(records: [], missing: [], cursor: Scene.position(9, "b"))))
                case .record: scene.device.reply(request.id, .missing(Scene.position(9, "b")))
                }
                // Each answer takes its time.
                scene.device.uptime += 1
            } else {
                scene.device.fireTimer()
            }
            guard scene.device.machine.inspection.requestsSent < before + 10_000 else { break }
        }
        // Then: ten minutes
        #expect(scene.device.machine.inspection.requestsSent - before < 300)
        #expect(scene.text("c/1") == "1" && scene.isPending("c/1"))
    }

    @Test func aServerThatContradictsItselfMakesNoStorm() {
        // Given: it refuses the epoch that it names itself
        var scene = Scene.live()
        scene.put("c/1", "1")
        let start = scene.device.uptime
        let before = scene.device.machine.inspection.requestsSent
        // When
        while scene.device.uptime < start + 600_000, scene.device.machine.inspection.requestsSent < before + 10_000 {
            scene.device.settleDisk()
            if scene.writes != nil {
                scene.replyToWrites(otherEpoch("a"))
            } else if let status = scene.status {
                scene.device.reply(status.id, last(0, scene, "a"))
            } else if scene.feed != nil, scene.wait == 0 {
                scene.page([], to: 10)
            } else {
                scene.device.fireTimer()
            }
            scene.device.uptime += 1
        }
        // Then
        #expect(scene.device.machine.inspection.requestsSent - before < 300)
    }
}
