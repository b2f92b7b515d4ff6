import FreshetWire
import Testing

@testable import FreshetClient

@Suite("A verifier of held keys") struct RevalidatorTests {
    /// A verifier with what it needs from its neighbours, after a reset whose position is `a-10`.
    private struct RevalidationPhase {
        var revalidator = Revalidator()
        var requests = RequestTable()
        var reachability = Reachability()
        var state = PartSupport.state(at: 10, revalidation: .ofCachedKeys)
        /// Writes of the device that may have been sent.
        var rows: [OutboxRow] = []
        var uptime: Int64 = 1_000
        var following = SyncSettings.Following.cachedKeys

        var turn: Turn {
            PartSupport.turn(at: uptime) {
                $0.revalidationKeys = 2
                $0.following = following
            }
        }
        var rule: WatermarkRule { PartSupport.rule(state, rows) }

        /// What the verifier asks of the disk or of the server now.
        mutating func ask() -> (query: CachedKeyQuery?, request: RequestDescription?) {
            var turn = turn
            revalidator.advance(state, rule, &requests, &turn)
            return (turn.queries.first, turn.sent.first)
        }

        /// The disk's answer. Returns the request that leaves.
        mutating func load(_ keys: CachedKey...) -> (request: RequestDescription?, input: QueuedInput?) {
            var turn = turn
            let input = revalidator.take(keys, state, rule, &requests, &turn)
            return (turn.sent.first, input)
        }

        mutating func take(_ reply: Reply, lastWrite: Int64? = nil) -> [Effect] {
            guard let id = requests.all.first, let sent = requests.remove(id), case .revalidation(let keys) = sent.purpose else {
                Issue.record("no request is under way")
                return []
            }
            var turn = turn
            return revalidator.take(reply, lastWrite, to: sent, keys, state, &reachability, &turn)
        }

        /// Lets the time pass until the verifier may go on.
        mutating func wait() { uptime = max(uptime, revalidator.deadline ?? 0) }
    }

    private func held(_ key: String, _ revision: Int64, _ epoch: String = "a", isAbsent: Bool = false) -> CachedKey {
        CachedKey(
            key: Scene.key(key), epoch: Scene.position(1, epoch).epoch, revision: Scene.revision(revision), hasValue: !isAbsent)
    }

    private func items(_ request: RequestDescription?) -> [ReadsRequest.Item]? {
        if case .reads(let reads)? = request?.kind { reads.items } else { nil }
    }

    private static func reads(at position: Int64) -> Reply {
        .reads(ReadsResponse(records: [], missing: [], cursor: Scene.position(position)))
    }

    @Test("it verifies page by page: the disk's next keys, then the server's answer, then the disk")
    func pages() {
        // Given
        var revalidation = RevalidationPhase()
        // When
        let first = revalidation.ask().query
        // Then
        #expect(first == CachedKeyQuery(.before(pass: 1), after: nil, limit: 2) && revalidation.revalidator.deadline == nil)
        #expect(revalidation.ask() == (nil, nil))
        // When the disk answers
        let request = revalidation.load(held("c/1", 3), held("c/2", 4)).request
        // Then
        #expect(items(request)?.map(\.key) == [Scene.key("c/1"), Scene.key("c/2")] && revalidation.ask() == (nil, nil))
        // When the server answers
        #expect(revalidation.take(Self.reads(at: 10)).inputs.count == 1)
        // Then nothing is asked before the disk has the page
        #expect(revalidation.ask() == (nil, nil))
        revalidation.revalidator.stored(&revalidation.reachability)
        #expect(revalidation.ask().query == CachedKeyQuery(.before(pass: 1), after: Scene.key("c/2"), limit: 2))
        // When no key is left
        let end = revalidation.load()
        // Then
        guard case .revalidationFinished? = end.input else {
            Issue.record("it is not over: \(end)")
            return
        }
        #expect(end.request == nil && revalidation.ask() == (nil, nil))
    }

    @Test("keys that an answer leaves for the next are verified before the disk is asked for more")
    func partialAnswer() {
        // Given
        var revalidation = RevalidationPhase()
        _ = revalidation.ask()
        _ = revalidation.load(held("c/1", 3), held("c/2", 4), held("c/3", 5))
        // When an answer ends before the second key
        let part = Reply.reads(ReadsResponse(records: [], missing: [], next: 1, cursor: Scene.position(10)))
        guard case .cachedKeysRevalidated(let keys, _, _)? = revalidation.take(part).inputs.first else {
            Issue.record("nothing is to be stored")
            return
        }
        #expect(keys.map(\.key) == [Scene.key("c/1")])
        // Then stored keys are not requested again, and keys that the disk refuses are
        var turn = revalidation.turn
        revalidation.revalidator.failed(.full, &revalidation.reachability, &turn)
        revalidation.wait()
        #expect(items(revalidation.ask().request)?.count == 3)
        _ = revalidation.take(part)
        revalidation.revalidator.stored(&revalidation.reachability)
        #expect(items(revalidation.ask().request)?.map(\.key) == [Scene.key("c/2"), Scene.key("c/3")])
        // When the rest is answered
        _ = revalidation.take(Self.reads(at: 11))
        revalidation.revalidator.stored(&revalidation.reachability)
        // Then
        #expect(revalidation.ask().query?.after == Scene.key("c/3"))
    }

    @Test(
        "an answer whose 'next' is at the first key or beyond the last is trouble, and is asked for again after a while", arguments: [0, 2])
    func answerWithoutProgress(next: Int) {
        // Given
        var revalidation = RevalidationPhase()
        _ = revalidation.ask()
        _ = revalidation.load(held("c/1", 3), held("c/2", 4))
        // When
        let effects = revalidation.take(.reads(ReadsResponse(records: [], missing: [], next: next, cursor: Scene.position(10))))
        // Then
        if case .malformed? = revalidation.reachability.trouble {} else { Issue.record("no trouble") }
        #expect(effects.isEmpty && revalidation.ask() == (nil, nil))
        revalidation.wait()
        #expect(items(revalidation.ask().request)?.count == 2)
    }

    @Test("after an answer that is too large fewer keys are verified at a time, and a record that alone is too large is passed over")
    func tooLarge() {
        // Given
        var revalidation = RevalidationPhase()
        _ = revalidation.ask()
        _ = revalidation.load(held("c/1", 3), held("c/2", 4), held("c/3", 5))
        // When
        #expect(revalidation.take(.tooLarge("large")).isEmpty)
        // Then
        #expect(items(revalidation.ask().request)?.map(\.key) == [Scene.key("c/1")])
        // When that is too large as well
        #expect(revalidation.take(.tooLarge("large")).isEmpty)
        // Then the others are verified, and nothing keeps the device from being live
        #expect(items(revalidation.ask().request)?.map(\.key) == [Scene.key("c/2")] && revalidation.reachability.trouble == nil)
        for key in ["c/2", "c/3"] {
            guard case .cachedKeysRevalidated(let keys, _, _)? = revalidation.take(Self.reads(at: 10)).inputs.first else {
                Issue.record("nothing is to be stored")
                return
            }
            #expect(keys.map(\.key) == [Scene.key(key)])
            revalidation.revalidator.stored(&revalidation.reachability)
            _ = revalidation.ask()
        }
        #expect(revalidation.revalidator.isWaiting(for: CachedKeyQuery(.before(pass: 1), after: Scene.key("c/3"), limit: 2)))
    }

    @Test("a copy of everything that cannot verify a record is read again from the start")
    func tooLargeForCopy() {
        // Given
        var revalidation = RevalidationPhase(following: .everything)
        _ = revalidation.ask()
        _ = revalidation.load(held("c/1", 3))
        // When
        let effects = revalidation.take(.tooLarge("large"))
        // Then
        #expect(effects.resets == [Epoch("a")])
    }

    @Test("only a record of this history is compared by its revision")
    func revisions() {
        var revalidation = RevalidationPhase()
        _ = revalidation.ask()
        let request = revalidation.load(held("c/1", 3), held("c/2", 4, "b"), held("c/3", 5, isAbsent: true)).request
        #expect(items(request)?.map(\.revision) == [Scene.revision(3), nil, nil])
    }

    @Test("a response from before the position of the reset is refused, and the same keys are asked for after a while")
    func oldResponse() {
        // Given
        var revalidation = RevalidationPhase()
        _ = revalidation.ask()
        let request = revalidation.load(held("c/1", 3)).request
        // When
        #expect(revalidation.take(Self.reads(at: 9)).isEmpty)
        // Then
        if case .malformed? = revalidation.reachability.trouble {} else { Issue.record("no trouble") }
        #expect(revalidation.ask() == (nil, nil))
        revalidation.wait()
        #expect(PartSupport.delays(after: 0, at: 1_000).contains(revalidation.uptime))
        #expect(revalidation.ask().request?.kind == request?.kind)
        #expect(revalidation.take(Self.reads(at: 10)).inputs.count == 1)
    }

    @Test("failures in a row wait longer each time, at least for the server's Retry-After")
    func backOff() {
        // Given
        var revalidation = RevalidationPhase()
        _ = revalidation.ask()
        _ = revalidation.load(held("c/1", 3))
        var longest: Int64 = 0
        for failure in 0..<10 as Range<Int> {
            // When
            #expect(revalidation.take(PartSupport.lost).isEmpty && revalidation.reachability.isLost)
            // Then
            let sentAt = revalidation.uptime
            revalidation.wait()
            #expect(PartSupport.delays(after: failure, at: sentAt).contains(revalidation.uptime))
            longest = max(longest, revalidation.uptime - sentAt)
            #expect(revalidation.ask().request != nil)
        }
        #expect(longest > 5_000)
        // When
        _ = revalidation.take(PartSupport.problem(.overloaded, retryAfter: 90_000))
        // Then
        #expect(revalidation.revalidator.deadline == revalidation.uptime + 90_000)
        // When
        revalidation.revalidator.wake()
        // Then
        #expect(revalidation.ask().request != nil)
    }

    @Test("the answer after a loss of contact restores it for the other parts")
    func regainsContact() {
        // Given
        var revalidation = RevalidationPhase()
        _ = revalidation.ask()
        _ = revalidation.load(held("c/1", 3))
        _ = revalidation.take(PartSupport.lost)
        revalidation.wait()
        _ = revalidation.ask()
        // When
        let effects = revalidation.take(Self.reads(at: 10))
        // Then
        #expect(effects.regainsContact && !revalidation.reachability.isLost)
    }

    @Test("a refused token is replaced at once, and a fresh one that is refused waits")
    func refusedToken() {
        // Given
        var revalidation = RevalidationPhase()
        _ = revalidation.ask()
        _ = revalidation.load(held("c/1", 3))
        // When
        _ = revalidation.take(PartSupport.problem(.unauthorized))
        // Then
        #expect(revalidation.ask().request?.needsFreshToken == true)
        // When
        _ = revalidation.take(PartSupport.problem(.unauthorized))
        // Then
        #expect(revalidation.reachability.trouble == .unauthorized && revalidation.ask() == (nil, nil))
    }

    @Test("a response that does not say which writes it contains is asked for again at once, with the device's name")
    func unstatedResponse() {
        // Given
        var revalidation = RevalidationPhase()
        _ = revalidation.ask()
        #expect(revalidation.load(held("c/1", 3)).request?.kind.client == nil)
        // When a write leaves while the request is under way
        revalidation.rows = [PartSupport.row(1, "c/1")]
        guard case .cachedKeysRevalidated(let keys, let response, let lastWrite)? = revalidation.take(Self.reads(at: 10)).inputs.first
        else {
            Issue.record("nothing is to be stored")
            return
        }
        let builder = PlanBuilder(
            .cachedKeysRevalidated, revalidation.turn, PartSupport.local(revalidation.state, revalidation.rows), Sender())
        #expect(revalidation.revalidator.plan(keys, response, lastWrite, revalidation.rule, builder) == nil)
        // Then
        #expect(revalidation.ask().request?.kind.client == PartSupport.client)
        #expect(revalidation.revalidator.plan(keys, response, 0, revalidation.rule, builder) != nil)
    }

    @Test("a disk operation that fails is tried again after a while, from the same place")
    func diskFails() {
        // Given
        var revalidation = RevalidationPhase()
        let query = revalidation.ask().query
        // When
        var turn = revalidation.turn
        revalidation.revalidator.failed(.failed("no"), &revalidation.reachability, &turn)
        // Then
        #expect(revalidation.reachability.trouble == .disk(.failed("no")) && revalidation.ask() == (nil, nil))
        revalidation.wait()
        #expect(revalidation.ask().query == query)
        // When the page cannot be stored
        let request = revalidation.load(held("c/1", 3)).request
        _ = revalidation.take(Self.reads(at: 10))
        turn = revalidation.turn
        revalidation.revalidator.failed(.full, &revalidation.reachability, &turn)
        revalidation.wait()
        // Then
        #expect(revalidation.ask().request?.kind == request?.kind)
        // When it can
        _ = revalidation.take(Self.reads(at: 10))
        revalidation.reachability.failed(.disk(.full))
        revalidation.revalidator.stored(&revalidation.reachability)
        // Then
        #expect(revalidation.reachability.trouble == nil && revalidation.ask().query?.after == Scene.key("c/1"))
    }

    @Test("a request that was cancelled is sent again, and one after a restart begins with the first key")
    func restarts() {
        // Given
        var revalidation = RevalidationPhase()
        _ = revalidation.ask()
        let request = revalidation.load(held("c/1", 3)).request
        // When
        revalidation.revalidator.released()
        // Then
        #expect(revalidation.ask().request?.kind == request?.kind)
        // When the process starts again
        revalidation.revalidator = Revalidator()
        revalidation.requests.beginGeneration()
        // Then
        #expect(revalidation.ask().query == CachedKeyQuery(.before(pass: 1), after: nil, limit: 2, generation: 1))
    }

    @Test("it waits for its own query alone")
    func foreignQuery() throws {
        // Given
        var revalidation = RevalidationPhase()
        let query = try #require(revalidation.ask().query)
        var other = query
        other.after = Scene.key("c/1")
        // Then
        #expect(revalidation.revalidator.isWaiting(for: query) && !revalidation.revalidator.isWaiting(for: other))
        // When it has its answer
        _ = revalidation.load(held("c/1", 3))
        // Then
        #expect(!revalidation.revalidator.isWaiting(for: query))
    }
}
