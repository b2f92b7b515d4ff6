import FreshetWire
import Testing

@testable import FreshetClient

@Suite("A follower") struct FollowerTests {
    /// A follower with what it needs from its neighbours.
    private struct Feed {
        var follower = Follower()
        var requests = RequestTable()
        var reachability = Reachability()
        var state: SyncState
        var uptime: Int64 = 1_000
        var random: UInt64 = 1
        var configure: (inout SyncSettings) -> Void = { $0.following = .everything }

        init(at number: Int64?) { state = PartSupport.state(at: number) }

        /// One that has caught up, with a poll under way that the server may hold for the whole time.
        static func polling(at number: Int64 = 10) -> Feed {
            var feed = Feed(at: number)
            _ = feed.ask()
            _ = feed.take(.noChange(Scene.position(number)))
            _ = feed.store(number)
            _ = feed.ask()
            return feed
        }

        var turn: Turn { PartSupport.turn(at: uptime, random: random, configure: configure) }

        /// The request that leaves now.
        mutating func ask(isRevalidating: Bool = false, under rows: [OutboxRow] = []) -> RequestDescription? {
            var turn = turn
            follower.advance(state, isRevalidating: isRevalidating, PartSupport.rule(state, rows), &requests, &turn)
            return turn.sent.first
        }

        mutating func take(_ reply: Reply) -> [Effect] {
            guard let id = follower.underWay, let sent = requests.remove(id), case .feed(let since, let wait) = sent.purpose else {
                Issue.record("no request is under way")
                return []
            }
            var turn = turn
            return follower.take(reply, nil, to: sent, since: since, wait: wait, state, &reachability, &turn)
        }

        mutating func take(_ changes: [Change] = [], to number: Int64, upToDate: Bool) -> [Effect] {
            take(.page(ChangePage(changes: changes, cursor: Scene.position(number), upToDate: upToDate)))
        }

        /// The disk has taken a page. Returns whether it showed that the history lasts.
        mutating func store(_ number: Int64, upToDate: Bool = true) -> Bool {
            state.apply(.cursor(Scene.position(number)))
            return follower.stored(upToDate: upToDate, state, turn)
        }
    }

    private func since(_ request: RequestDescription?) -> Since? {
        if case .changes(let since, _, _, _, _)? = request?.kind { since } else { nil }
    }

    private func wait(_ request: RequestDescription?) -> Int? {
        if case .changes(_, _, let wait, _, _)? = request?.kind { wait } else { nil }
    }

    // MARK: Asking

    @Test("after a page that is too large a smaller one is asked for at once, and the usual size where nothing is left")
    func tooLarge() {
        // Given
        var feed = Feed(at: 10)
        feed.configure = {
            $0.following = .everything
            $0.pageLimit = 4
        }
        func limit(_ request: RequestDescription?) -> Int? {
            if case .changes(_, _, _, let limit, _)? = request?.kind { limit } else { nil }
        }
        #expect(limit(feed.ask()) == 4)
        // When
        #expect(feed.take(.tooLarge("large")).isEmpty && feed.reachability.trouble == nil)
        // Then
        #expect(limit(feed.ask()) == 2)
        _ = feed.take(.tooLarge("large"))
        #expect(limit(feed.ask()) == 1)
        // When a single change is too large
        _ = feed.take(.tooLarge("large"))
        // Then the device says so, and asks again after a while
        #expect(feed.reachability.trouble == .malformed("large") && feed.ask() == nil)
        feed.uptime = feed.follower.deadline ?? 0
        #expect(limit(feed.ask()) == 1)
        // When it fits, and more is to come
        _ = feed.take([Scene.put("c/1", 11, "1")], to: 11, upToDate: false)
        _ = feed.store(11, upToDate: false)
        // Then the next is likely to be as large
        #expect(limit(feed.ask()) == 1 && feed.reachability.trouble == nil)
        // When nothing is left
        _ = feed.take([Scene.put("c/1", 12, "1")], to: 12, upToDate: true)
        _ = feed.store(12)
        // Then
        #expect(limit(feed.ask()) == 4)
    }

    @Test("the first request does not wait: a replica asks from the start, a device that holds keys from now")
    func firstRequest() {
        for (following, expected) in [(SyncSettings.Following.everything, Since.start), (.cachedKeys, .now)] {
            // Given
            var feed = Feed(at: nil)
            feed.configure = { $0.following = following }
            // When
            let request = feed.ask()
            // Then
            #expect(since(request) == expected && wait(request) == 0 && request?.timeout == 30_000)
            #expect(feed.ask() == nil && feed.follower.deadline == nil && !feed.follower.isLive)
        }
    }

    @Test("nothing newer is asked for while held keys are verified")
    func verificationGoesFirst() {
        var feed = Feed(at: 10)
        #expect(feed.ask(isRevalidating: true) == nil)
        #expect(since(feed.ask(isRevalidating: false)) == .after(Scene.position(10)))
    }

    @Test("the page after one that is being stored is asked for, one page ahead at most, and a poll waits once nothing is left")
    func onePageAhead() {
        // Given
        var feed = Feed(at: 10)
        _ = feed.ask()
        // When a page leaves something
        #expect(feed.take(to: 20, upToDate: false).inputs.count == 1)
        // Then
        let ahead = feed.ask()
        #expect(since(ahead) == .after(Scene.position(20)) && wait(ahead) == 0)
        #expect(feed.take(to: 30, upToDate: false).inputs.count == 1)
        #expect(feed.ask() == nil && feed.follower.isBusy)
        // When the disk has the first
        #expect(!feed.store(20, upToDate: false) && !feed.follower.isLive)
        // Then
        #expect(since(feed.ask()) == .after(Scene.position(30)))
        _ = feed.take(to: 40, upToDate: true)
        // When the disk has all
        _ = feed.store(30, upToDate: false)
        #expect(feed.ask() == nil)
        _ = feed.store(40)
        // Then
        let poll = feed.ask()
        #expect(feed.follower.isLive && since(poll) == .after(Scene.position(40)) && wait(poll) == 25 && poll?.timeout == 35_000)
    }

    @Test("a request names the device while its writes are under way, and a poll that waits never does")
    func namesTheDevice() {
        // Given
        let rows = [PartSupport.row(1, "c/1")]
        var feed = Feed(at: 10)
        // When
        let first = feed.ask(under: rows)
        // Then
        #expect(first?.kind.client == PartSupport.client)
        // When it has caught up
        _ = feed.take(.noChange(Scene.position(10)))
        _ = feed.store(10)
        // Then
        let poll = feed.ask(under: rows)
        #expect(wait(poll) == 25 && poll?.kind.client == nil)
    }

    @Test(
        "the time of a response beyond the grace is taken from the next wait",
        arguments: [(9_000, 25), (14_000, 21), (24_500, 10), (34_500, 0)] as [(Int64, Int)])
    func lateResponse(_ took: Int64, _ expected: Int) {
        // Given
        var feed = Feed.polling()
        // When
        feed.uptime += took
        _ = feed.take([Scene.put("c/1", 11, "1")], to: 11, upToDate: true)
        _ = feed.store(11)
        // Then
        #expect(wait(feed.ask()) == expected && feed.follower.isLive == (expected > 0))
    }

    @Test("a poll that the server held to its end was true until then")
    func heldResponse() {
        var feed = Feed.polling()
        feed.uptime += 34_000
        _ = feed.take(.noChange(Scene.position(10)))
        _ = feed.store(10)
        #expect(wait(feed.ask()) == 25)
    }

    // MARK: Responses

    @Test("a page that contradicts its request is refused, and the same is asked for later")
    func contradictions() throws {
        let position = Scene.position(10)
        let replies: [(at: Int64?, reply: Reply)] = [
            (10, .page(ChangePage(changes: [], cursor: Scene.position(9), upToDate: true))),
            (10, .page(ChangePage(changes: [], cursor: position, upToDate: false))),
            // Another origin is no way on.
            (
                10,
                .page(
                    ChangePage(
                        changes: [], cursor: Cursor(epoch: position.epoch, revision: position.revision, goal: .origin(Scene.revision(9))),
                        upToDate: false))
            ),
            (10, .page(ChangePage(changes: [Scene.put("c/1", 12, "1")], cursor: Scene.position(11), upToDate: true))),
            (10, .noChange(Scene.position(9))),
            (nil, .page(ChangePage(changes: [], cursor: Scene.position(9), upToDate: false))),
            (10, .results(WriteResults(results: [], cursor: position))),
            (10, .garbage("no JSON")),
        ]
        for (number, reply) in replies {
            // Given
            var feed = Feed(at: number)
            let first = feed.ask()
            // When
            let effects = feed.take(reply)
            // Then
            #expect(effects.isEmpty, "\(reply)")
            if case .malformed? = feed.reachability.trouble {
            } else {
                Issue.record("\(reply): \(String(describing: feed.reachability.trouble))")
            }
            #expect(feed.ask() == nil)
            feed.uptime = try #require(feed.follower.deadline)
            #expect(PartSupport.delays(after: 0, at: 1_000).contains(feed.uptime))
            #expect(feed.ask()?.kind == first?.kind)
        }
    }

    @Test("no changes from the start are the first position")
    func quietFirstResponse() {
        // Given
        var feed = Feed(at: nil)
        _ = feed.ask()
        // When
        let effects = feed.take(.noChange(Scene.position(0)))
        // Then
        guard case .page(let page, .start, _)? = effects.inputs.first else {
            Issue.record("no page: \(effects)")
            return
        }
        #expect(page.changes.isEmpty && page.upToDate && page.cursor == Scene.position(0))
    }

    @Test("only a poll shows that the history lasts")
    func historyLasts() {
        // Given
        var feed = Feed(at: nil)
        _ = feed.ask()
        _ = feed.take(to: 10, upToDate: true)
        // Then
        #expect(feed.store(10) == false)
        // When
        _ = feed.ask()
        _ = feed.take([Scene.put("c/1", 11, "1")], to: 11, upToDate: true)
        // Then
        #expect(feed.store(11) == true)
    }

    @Test("nothing is called live for longer than hold and twice the grace, however long the disk takes")
    func slowDisk() {
        // Given a device that is live, a poll that was held for ten seconds, and its news on their way to a disk that hangs
        var feed = Feed.polling(at: 10)
        feed.uptime = 11_000
        let settings = feed.turn.settings
        _ = feed.take([Scene.put("c/1", 11, "1")], to: 11, upToDate: true)
        // Then the stored records were true when the previous poll began
        let end = 1_000 + Int64(settings.hold) * 1_000 + 2 * settings.grace
        #expect(feed.follower.isLive && feed.follower.liveUntil(settings) == end)
        // When the time is over
        feed.uptime = end
        #expect(feed.ask() == nil && !feed.follower.isLive && feed.follower.liveUntil(settings) == nil)
        // Then the device catches up before it is live again
        _ = feed.store(11)
        #expect(!feed.follower.isLive && wait(feed.ask()) == 0)
    }

    @Test("a page that is stored while a reset is to come does not make the device live, nor show that the history lasts")
    func storedDuringAReset() {
        // Given a page that the disk has
        var feed = Feed.polling()
        _ = feed.take([Scene.put("c/1", 11, "1")], to: 11, upToDate: true)
        // When
        feed.follower.reset()
        // Then
        #expect(!feed.store(11) && !feed.follower.isLive)
    }

    @Test("polls that come back at once with nothing are asked for ever more slowly, until one is held")
    func idlePolls() throws {
        // Given
        var feed = Feed.polling()
        var longest: Int64 = 0
        for seed in 0..<12 as Range<Int> {
            // When
            feed.random = UInt64(seed) &* 977
            _ = feed.take(.noChange(Scene.position(10)))
            _ = feed.store(10)
            // Then
            let deadline = try #require(feed.follower.deadline)
            #expect(PartSupport.delays(after: seed, at: feed.uptime).contains(deadline) && feed.follower.isLive)
            #expect(feed.ask() == nil)
            longest = max(longest, deadline - feed.uptime)
            feed.uptime = deadline
            #expect(feed.ask() != nil)
        }
        #expect(longest > 5_000)
        // When one is held
        feed.uptime += 5_000
        _ = feed.take(.noChange(Scene.position(10)))
        _ = feed.store(10)
        // Then
        #expect(feed.ask() != nil)
        _ = feed.take(.noChange(Scene.position(10)))
        _ = feed.store(10)
        #expect(PartSupport.delays(after: 0, at: feed.uptime).contains(try #require(feed.follower.deadline)))
    }

    // MARK: Trouble

    @Test("failures in a row wait longer each time, at least for the server's Retry-After, and one answer makes the next the first")
    func backOff() throws {
        // Given
        var feed = Feed.polling()
        var longest: Int64 = 0
        for failure in 0..<10 as Range<Int> {
            // When
            feed.random = UInt64(failure) &* 31
            #expect(feed.take(PartSupport.lost).isEmpty)
            // Then
            #expect(feed.reachability.isLost && !feed.follower.isLive && feed.ask() == nil)
            let deadline = try #require(feed.follower.deadline)
            #expect(PartSupport.delays(after: failure, at: feed.uptime).contains(deadline))
            longest = max(longest, deadline - feed.uptime)
            feed.uptime = deadline
            #expect(wait(feed.ask()) == 0)
        }
        #expect(longest > 5_000)
        // When the server refuses
        _ = feed.take(PartSupport.problem(.overloaded, retryAfter: 90_000))
        // Then
        #expect(feed.follower.deadline == feed.uptime + 90_000)
        // When it answers
        feed.uptime += 90_000
        _ = feed.ask()
        #expect(feed.take(to: 11, upToDate: true).regainsContact && !feed.reachability.isLost)
        _ = feed.store(11)
        _ = feed.ask()
        _ = feed.take(PartSupport.lost)
        // Then
        #expect(PartSupport.delays(after: 0, at: feed.uptime).contains(try #require(feed.follower.deadline)))
    }

    @Test("a refused token is replaced at once, and a fresh one that is refused waits")
    func refusedToken() {
        // Given
        var feed = Feed(at: 10)
        #expect(feed.ask()?.needsFreshToken == false)
        // When
        #expect(feed.take(PartSupport.problem(.unauthorized)).isEmpty)
        // Then
        #expect(feed.reachability.trouble == nil && feed.ask()?.needsFreshToken == true)
        // When
        #expect(feed.take(PartSupport.problem(.unauthorized)).isEmpty)
        // Then
        #expect(feed.reachability.trouble == .unauthorized && feed.ask() == nil && feed.follower.deadline != nil)
    }

    @Test("a lost position leads to a reset, and a lost history to one whose history is not known")
    func resets() {
        let epoch = Scene.position(1).epoch
        for (code, expected) in [(ProblemCode.cursorExpired, epoch), (.invalidCursor, epoch), (.epochChanged, nil)] {
            var feed = Feed(at: 10)
            _ = feed.ask()
            let effects = feed.take(PartSupport.problem(code))
            #expect(effects.resets == [expected] && !effects.forgets)
        }
        // A device without a position has none that the server could call invalid.
        var feed = Feed(at: nil)
        _ = feed.ask()
        #expect(feed.take(PartSupport.problem(.invalidCursor)).isEmpty && feed.follower.deadline != nil)
    }

    @Test("a server that is behind the position is waited for three times in a row, and the fourth time the entries go")
    func serverIsBehind() throws {
        // Given
        var feed = Feed(at: 10)
        func refuse() -> [Effect] {
            feed.uptime = max(feed.uptime, feed.follower.deadline ?? 0)
            _ = feed.ask()
            return feed.take(PartSupport.problem(.cursorAhead))
        }
        for _ in 0..<3 { #expect(refuse().isEmpty) }
        // When it answers in between
        feed.uptime = try #require(feed.follower.deadline)
        _ = feed.ask()
        _ = feed.take(.noChange(Scene.position(10)))
        _ = feed.store(10)
        // Then
        for _ in 0..<3 { #expect(refuse().isEmpty) }
        let effects = refuse()
        #expect(effects.resets == [Scene.position(1).epoch] && effects.forgets)
    }

    // MARK: The disk's answers

    @Test("a page that the disk does not take is asked for again after a while, and the page after it is passed over")
    func pageNotStored() throws {
        // Given
        var feed = Feed(at: 10)
        _ = feed.ask()
        _ = feed.take(to: 20, upToDate: false)
        _ = feed.ask()
        _ = feed.take(to: 30, upToDate: true)
        // When
        var turn = feed.turn
        feed.follower.notStored(.full, &feed.reachability, &turn)
        feed.follower.overtaken()
        // Then
        #expect(feed.reachability.trouble == .disk(.full) && feed.ask() == nil)
        feed.uptime = try #require(feed.follower.deadline)
        #expect(since(feed.ask()) == .after(Scene.position(10)))
    }

    @Test("a page that does not say which writes it contains is asked for again at once, without waiting")
    func pageDropped() {
        // Given
        var feed = Feed.polling()
        _ = feed.take([Scene.put("c/1", 11, "1")], to: 11, upToDate: true)
        // When
        feed.follower.dropped()
        // Then
        let again = feed.ask(under: [PartSupport.row(1, "c/1")])
        #expect(since(again) == .after(Scene.position(10)) && wait(again) == 0 && again?.kind.client == PartSupport.client)
    }

    // MARK: Other events

    @Test("waking ends the wait and catches up before it polls; an answer to another part ends the wait alone")
    func wakesAndHurries() {
        // Given
        var feed = Feed.polling()
        for _ in 0..<6 {
            _ = feed.take(PartSupport.lost)
            feed.uptime = feed.follower.deadline ?? 0
            _ = feed.ask()
        }
        _ = feed.take(PartSupport.lost)
        #expect(feed.ask() == nil)
        // When
        feed.follower.hurry(feed.turn)
        // Then
        #expect(wait(feed.ask()) == 0)
        // When
        _ = feed.take(PartSupport.lost)
        feed.follower.wake()
        // Then
        #expect(wait(feed.ask()) == 0 && !feed.follower.isLive)
        _ = feed.take(PartSupport.lost)
        #expect(PartSupport.delays(after: 0, at: feed.uptime).contains(feed.follower.deadline ?? 0))
    }
}
