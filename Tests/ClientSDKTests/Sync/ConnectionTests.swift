import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetClient

/// Liveness: watchdogs, back-off, waking, tokens (rule 9).
@Suite struct ConnectionTests {
    private let unauthorized = Reply.problem(Problem(.unauthorized, "expired"), cursor: nil, retryAfter: nil)

    @Test func theWatchdogFiresWhateverTheTransportBelieves() {
        // Given
        var scene = Scene.live()
        let poll = scene.feed
        #expect(scene.device.deadline == scene.device.uptime + 35_000)
        // When
        scene.pass(35_000)
        // Then
        #expect(scene.device.calls.contains { $0.description.id == poll?.id && $0.isCancelled })
        if case .offline? = scene.device.status?.connection {} else { Issue.record("not offline") }
        #expect(scene.device.status?.feedTrouble == .transport(.watchdog))
        scene.device.fireTimer()
        #expect(scene.wait == 0, "it catches up before it waits")
    }

    @Test func whatAnAnswerTookBeyondTheGraceIsTakenFromTheNextWait() {
        // Given a poll whose answer comes late: it may have been true when the poll was sent, and no later
        var scene = Scene.live()
        scene.device.uptime += 18_000
        // When
        scene.page([], to: 11)
        // Then of the 25 seconds 8 are gone
        #expect(scene.wait == 17 && scene.device.status?.connection == .live)
        // When that poll is held to its end, as an answer without news says
        scene.device.uptime += 17_500
        scene.replyToFeed(.noChange(Scene.position(11)))
        // Then the next one may wait for as long as ever
        #expect(scene.wait == 25)
        // When an answer within the grace comes
        scene.device.uptime += 10_000
        scene.page([], to: 12)
        #expect(scene.wait == 25)
    }

    @Test func anAnswerOlderThanHoldAndGraceIsNoReasonToWait() {
        // Given
        var scene = Scene.live()
        scene.device.uptime += 34_500
        // When
        scene.page([], to: 11)
        // Then
        #expect(scene.wait == 0 && scene.device.status?.connection == .catchingUp)
        // When
        scene.page([], to: 11)
        #expect(scene.wait == 25 && scene.device.status?.connection == .live)
    }

    @Test func whatACacheHasKeptIsOlderThanItsRequest() throws {
        // Given a poll whose answer arrives at the end of the grace
        var scene = Scene.live()
        let poll = try #require(scene.feed)
        scene.device.uptime += 34_000
        // When a shared cache had kept the answer for two seconds
        scene.device.reply(poll.id, .page(ChangePage(changes: [], cursor: Scene.position(11), upToDate: true)), age: 2_000)
        scene.device.settleDisk()
        // Then it is older than hold and grace
        #expect(scene.wait == 0 && scene.device.status?.connection == .catchingUp)
    }

    @Test("A cache that returns an old response again and again is asked with back-off, and the device is not live")
    func oldResponses() throws {
        // Given
        var scene = Scene.live()
        for _ in 0..<5 {
            // When a shared cache returns at once a response of the largest age
            scene.replyToFeed(.noChange(Scene.position(10)), age: 2_147_483_649_000)
            // Then
            #expect(scene.device.status?.connection == .catchingUp)
            #expect(scene.feed == nil && (scene.device.deadline ?? 0) >= scene.device.uptime + 50)
            scene.device.fireTimer()
            #expect(scene.wait == 0)
        }
        // When the server answers
        scene.replyToFeed(.noChange(Scene.position(10)))
        // Then
        #expect(scene.wait == 25 && scene.device.status?.connection == .live)
    }

    @Test("A device is not live while it waits for longer than the last response counts")
    func pauses() throws {
        // Given a device whose polls are answered at once, so that it waits for up to 30 seconds between them
        var scene = Scene.live()
        for _ in 0..<40 {
            // When each response has been in a cache for 30 seconds
            scene.replyToFeed(.noChange(Scene.position(10)), age: 30_000)
            // Then the device is live only if it asks again within hold and twice the grace
            let isLive = scene.device.status?.connection == .live
            #expect(!isLive || scene.feed != nil || (scene.device.deadline ?? .max) < scene.device.uptime + 15_000)
            if scene.feed == nil { scene.device.fireTimer() }
        }
    }

    @Test("A response that differs in its turn alone is no change, and the next request has the turn")
    func turns() throws {
        // Given
        var scene = Scene.live()
        let position = try #require(scene.device.store.state.cursor)
        let next = Cursor(epoch: position.epoch, revision: position.revision, turn: 7)
        // When
        scene.device.uptime += 25_000
        scene.replyToFeed(.noChange(next))
        // Then
        guard case .changes(let since, _, _, _, _)? = scene.feed?.kind else { Issue.record("no poll is under way"); return }
        #expect(since == .after(next) && scene.device.status?.connection == .live)
    }

    @Test func aReplyAfterTheWatchdogIsIgnored() {
        // Given
        var scene = Scene.live()
        let poll = scene.feed?.id ?? RequestID(0)
        scene.pass(35_000)
        // When
        scene.device.handle(.replied(poll, .noChange(Scene.position(99))))
        // Then
        #expect(scene.device.transactions.isEmpty)
    }

    @Test func anEarlyTimerDoesNothing() {
        // Given
        var scene = Scene.live()
        // When
        scene.pass(10)
        // Then
        #expect(scene.feed != nil)
        #expect(scene.device.status?.connection == .live)
    }

    @Test func offlineSinceTheLastContact() {
        // Given
        var scene = Scene.live()
        let reachability = scene.device.now.wall
        scene.device.uptime += 8_000
        // When
        scene.replyToFeed(.failure(.interrupted("reset")))
        // Then
        #expect(scene.device.status?.connection == .offline(since: reachability))
        // When
        scene.device.fireTimer()
        scene.page([], to: 10)
        // Then
        #expect(scene.device.status?.connection == .live)
        #expect(scene.device.status?.feedTrouble == nil)
    }

    @Test func backOffGrowsWithJitterAndIsBounded() {
        // Given
        var scene = Scene.live()
        var waits: [Int64] = []
        // When
        for _ in 0..<30 {
            scene.replyToFeed(.failure(.unreachable("no route")))
            waits.append((scene.device.deadline ?? 0) - scene.device.uptime)
            scene.device.fireTimer()
        }
        // Then
        #expect(waits.allSatisfy { $0 >= 50 && $0 <= 30_100 })
        #expect(waits[0] <= 300)
        #expect(Set(waits.suffix(10)).count > 5)
        #expect((waits.max() ?? 0) > 10_000)
    }

    @Test func retryAfterIsTheLeast() {
        // Given
        var scene = Scene.live()
        // When
        scene.replyToFeed(.problem(Problem(.overloaded, "busy"), cursor: Scene.position(10), retryAfter: 7_000))
        // Then
        #expect((scene.device.deadline ?? 0) >= scene.device.uptime + 7_000)
    }

    @Test func retryAfterIsNotBelievedForEver() {
        // Given
        var scene = Scene.live()
        // When
        scene.replyToFeed(.problem(Problem(.overloaded, "busy"), cursor: nil, retryAfter: .max))
        // Then
        #expect((scene.device.deadline ?? .max) <= scene.device.uptime + 600_000)
    }

    @Test func wakingCatchesUpAtOnce() {
        // Given
        var scene = Scene.live()
        scene.put("c/1", "1")
        let old = scene.device.open.map(\.id)
        // When
        scene.device.handle(.wake)
        // Then
        #expect(Set(old).isDisjoint(with: scene.device.open.map(\.id)))
        #expect(scene.wait == 0)
        #expect(scene.numbers == [1])
        #expect(scene.device.status?.connection == .catchingUp)
    }

    @Test func wakingForgetsTheBackOff() {
        // Given
        var scene = Scene.live()
        for _ in 0..<6 {
            scene.replyToFeed(.failure(.unreachable("no route")))
            scene.device.fireTimer()
        }
        scene.replyToFeed(.failure(.unreachable("no route")))
        #expect(scene.feed == nil)
        // When
        scene.device.handle(.wake)
        // Then
        #expect(scene.feed != nil)
    }

    @Test func anExpiredTokenIsRefreshedOnceFromTheSamePosition() {
        // Given
        var scene = Scene.live()
        // When
        scene.replyToFeed(unauthorized)
        // Then
        #expect(scene.feed?.needsFreshToken == true)
        #expect(scene.since == .after(Scene.position(10)))
        // When
        scene.replyToFeed(unauthorized)
        // Then
        #expect(scene.feed == nil)
        #expect(scene.device.status?.feedTrouble == .unauthorized)
        if case .unauthorized? = scene.device.status?.connection {} else { Issue.record("not said to be the token") }
        // When
        scene.device.fireTimer()
        scene.page([], to: 10)
        // Then
        #expect(scene.feed?.needsFreshToken == false)
        #expect(scene.device.status?.feedTrouble == nil)
    }

    @Test func soItIsForWritesAndReads() {
        // Given
        var scene = Scene.live(.cachedKeys)
        scene.put("c/1", "1")
        let callerID = scene.fetch("c/2")
        // When
        scene.replyToWrites(unauthorized)
        scene.answerFetch(unauthorized)
        // Then
        #expect(scene.writes?.needsFreshToken == true)
        #expect(scene.fetches.first?.needsFreshToken == true)
        // When
        scene.replyToWrites(unauthorized)
        scene.answerFetch(unauthorized)
        // Then
        #expect(scene.device.status?.writeTrouble == .unauthorized)
        #expect(scene.isPending("c/1"))
        if case .refused? = scene.failure(callerID) {} else { Issue.record("not reported") }
    }

    @Test func contactOfOnePartWakesTheOther() {
        // Given
        var scene = Scene.live()
        scene.put("c/1", "1")
        for _ in 0..<8 {
            scene.replyToWrites(.failure(.unreachable("no route")))
            while scene.writes == nil { scene.device.fireTimer() }
        }
        scene.replyToWrites(.failure(.unreachable("no route")))
        if scene.feed == nil { scene.device.handle(.wake) }
        scene.replyToFeed(.failure(.unreachable("no route")))
        while scene.feed == nil { scene.device.fireTimer() }
        #expect(scene.writes == nil)
        // When
        scene.page([], to: 10)
        // Then
        #expect(scene.writes != nil)
    }

    @Test func inboundDoesNotWaitForOutbound() {
        // Given
        var scene = Scene.live(holding: [Scene.put("c/1", 4, "1")])
        scene.put("c/2", "2")
        scene.replyToWrites(.problem(Problem(.overloaded, "busy"), cursor: nil, retryAfter: 60_000))
        // When
        scene.page([Scene.put("c/1", 12, "new")], to: 12)
        // Then
        #expect(scene.text("c/1") == "new")
        #expect(scene.device.status?.connection == .live)
    }

    @Test func stoppingCancelsAndTellsThoseWhoWait() {
        // Given
        var scene = Scene.live(.cachedKeys)
        let read = scene.fetch("c/1")
        let write = scene.set("c/2", .put(Scene.json("1")), settles: false)
        // When
        scene.device.handle(.stop)
        // Then
        #expect(scene.failure(read) == .stopped)
        #expect(scene.failure(write) == .stopped)
        #expect(scene.device.open.isEmpty)
        scene.device.handle(.timer)
        scene.device.settleDisk()
        #expect(scene.device.open.isEmpty)
    }

    @Test func equalEventsGiveEqualActions() {
        // Given
        func run() -> ([Publication], [RequestDescription], VolatileStore) {
            var scene = Scene.live(.cachedKeys)
            for number in 1...9 { scene.put("c/\(number)", "\(number)") }
            _ = scene.fetch(Scene.key("d/1"), Scene.key("d/2"), Scene.key("d/3"))
            scene.page([Scene.invalidate(.everything, 20)], to: 20)
            scene.device.handle(.wake)
            return (scene.device.publications, scene.device.calls.map(\.description), scene.device.store)
        }
        // When
        let first = run()
        let second = run()
        // Then
        #expect(first.0 == second.0)
        #expect(first.1 == second.1)
        #expect(first.2.persisted == second.2.persisted)
    }
}
