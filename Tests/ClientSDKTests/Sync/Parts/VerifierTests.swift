import FreshetWire
import Testing

@testable import FreshetClient

@Suite("A verifier of held keys") struct VerifierTests {
    /// A verifier with what it needs from its neighbours, after a reset whose position is `a-10`.
    private struct Verification {
        var verifier = Verifier()
        var requests = RequestTable()
        var contact = Contact()
        var state = PartSupport.state(at: 10, verification: .ofHeldKeys)
        /// Writes of the device that may have been sent.
        var rows: [OutboxRow] = []
        var uptime: Int64 = 1_000

        var turn: Turn { PartSupport.turn(at: uptime) { $0.verificationKeys = 2 } }
        var rule: WatermarkRule { PartSupport.rule(state, rows) }

        /// What the verifier asks of the disk or of the server now.
        mutating func ask() -> (query: HeldQuery?, request: RequestDescription?) {
            var turn = turn
            verifier.advance(state, rule, &requests, &turn)
            return (turn.queries.first, turn.sent.first)
        }

        /// The disk's answer. Returns the request that leaves.
        mutating func load(_ keys: HeldKey...) -> (request: RequestDescription?, intent: Intent?) {
            var turn = turn
            let intent = verifier.take(keys, state, rule, &requests, &turn)
            return (turn.sent.first, intent)
        }

        mutating func take(_ reply: Reply, lastWrite: Int64? = nil) -> [Effect] {
            guard let id = requests.all.first, let sent = requests.remove(id), case .verification(let keys) = sent.purpose else {
                Issue.record("no request is under way")
                return []
            }
            var turn = turn
            return verifier.take(reply, lastWrite, to: sent, keys, state, &contact, &turn)
        }

        /// Lets the time pass until the verifier may go on.
        mutating func wait() { uptime = max(uptime, verifier.deadline ?? 0) }
    }

    private func held(_ key: String, _ revision: Int64, _ epoch: String = "a", isAbsent: Bool = false) -> HeldKey {
        HeldKey(
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
        var verification = Verification()
        // When
        let first = verification.ask().query
        // Then
        #expect(first == HeldQuery(.before(pass: 1), after: nil, limit: 2) && verification.verifier.deadline == nil)
        #expect(verification.ask() == (nil, nil))
        // When the disk answers
        let request = verification.load(held("c/1", 3), held("c/2", 4)).request
        // Then
        #expect(items(request)?.map(\.key) == [Scene.key("c/1"), Scene.key("c/2")] && verification.ask() == (nil, nil))
        // When the server answers
        #expect(verification.take(Self.reads(at: 10)).intents.count == 1)
        // Then nothing is asked before the disk has the page
        #expect(verification.ask() == (nil, nil))
        verification.verifier.stored(&verification.contact)
        #expect(verification.ask().query == HeldQuery(.before(pass: 1), after: Scene.key("c/2"), limit: 2))
        // When no key is left
        let end = verification.load()
        // Then
        guard case .verificationOver? = end.intent else {
            Issue.record("it is not over: \(end)")
            return
        }
        #expect(end.request == nil && verification.ask() == (nil, nil))
    }

    @Test("keys that an answer leaves for the next are verified before the disk is asked for more")
    func partialAnswer() {
        // Given
        var verification = Verification()
        _ = verification.ask()
        _ = verification.load(held("c/1", 3), held("c/2", 4), held("c/3", 5))
        // When an answer ends before the second key
        let part = Reply.reads(ReadsResponse(records: [], missing: [], next: 1, cursor: Scene.position(10)))
        guard case .heldVerified(let keys, _, _)? = verification.take(part).intents.first else {
            Issue.record("nothing is to be stored")
            return
        }
        #expect(keys.map(\.key) == [Scene.key("c/1")])
        // Then stored keys are not requested again, and keys that the disk refuses are
        var turn = verification.turn
        verification.verifier.failed(.full, &verification.contact, &turn)
        verification.wait()
        #expect(items(verification.ask().request)?.count == 3)
        _ = verification.take(part)
        verification.verifier.stored(&verification.contact)
        #expect(items(verification.ask().request)?.map(\.key) == [Scene.key("c/2"), Scene.key("c/3")])
        // When the rest is answered
        _ = verification.take(Self.reads(at: 11))
        verification.verifier.stored(&verification.contact)
        // Then
        #expect(verification.ask().query?.after == Scene.key("c/3"))
    }

    @Test(
        "an answer whose 'next' is at the first key or beyond the last is trouble, and is asked for again after a while", arguments: [0, 2])
    func answerWithoutProgress(next: Int) {
        // Given
        var verification = Verification()
        _ = verification.ask()
        _ = verification.load(held("c/1", 3), held("c/2", 4))
        // When
        let effects = verification.take(.reads(ReadsResponse(records: [], missing: [], next: next, cursor: Scene.position(10))))
        // Then
        if case .malformed? = verification.contact.trouble {} else { Issue.record("no trouble") }
        #expect(effects.isEmpty && verification.ask() == (nil, nil))
        verification.wait()
        #expect(items(verification.ask().request)?.count == 2)
    }

    @Test("after an answer that is too large fewer keys are verified at a time, and a record that alone is too large is passed over")
    func tooLarge() {
        // Given
        var verification = Verification()
        _ = verification.ask()
        _ = verification.load(held("c/1", 3), held("c/2", 4), held("c/3", 5))
        // When
        #expect(verification.take(.tooLarge("large")).isEmpty)
        // Then
        #expect(items(verification.ask().request)?.map(\.key) == [Scene.key("c/1")])
        // When that is too large as well
        #expect(verification.take(.tooLarge("large")).isEmpty)
        // Then the others are verified, and nothing keeps the device from being live
        #expect(items(verification.ask().request)?.map(\.key) == [Scene.key("c/2")] && verification.contact.trouble == nil)
        for key in ["c/2", "c/3"] {
            guard case .heldVerified(let keys, _, _)? = verification.take(Self.reads(at: 10)).intents.first else {
                Issue.record("nothing is to be stored")
                return
            }
            #expect(keys.map(\.key) == [Scene.key(key)])
            verification.verifier.stored(&verification.contact)
            _ = verification.ask()
        }
        #expect(verification.verifier.isWaiting(for: HeldQuery(.before(pass: 1), after: Scene.key("c/3"), limit: 2)))
    }

    @Test("only a record of this history is compared by its revision")
    func revisions() {
        var verification = Verification()
        _ = verification.ask()
        let request = verification.load(held("c/1", 3), held("c/2", 4, "b"), held("c/3", 5, isAbsent: true)).request
        #expect(items(request)?.map(\.revision) == [Scene.revision(3), nil, nil])
    }

    @Test("a response from before the position of the reset is refused, and the same keys are asked for after a while")
    func oldResponse() {
        // Given
        var verification = Verification()
        _ = verification.ask()
        let request = verification.load(held("c/1", 3)).request
        // When
        #expect(verification.take(Self.reads(at: 9)).isEmpty)
        // Then
        if case .malformed? = verification.contact.trouble {} else { Issue.record("no trouble") }
        #expect(verification.ask() == (nil, nil))
        verification.wait()
        #expect(PartSupport.delays(after: 0, at: 1_000).contains(verification.uptime))
        #expect(verification.ask().request?.kind == request?.kind)
        #expect(verification.take(Self.reads(at: 10)).intents.count == 1)
    }

    @Test("failures in a row wait longer each time, at least for the server's Retry-After")
    func backOff() {
        // Given
        var verification = Verification()
        _ = verification.ask()
        _ = verification.load(held("c/1", 3))
        var longest: Int64 = 0
        for failure in 0..<10 as Range<Int> {
            // When
            #expect(verification.take(PartSupport.lost).isEmpty && verification.contact.isLost)
            // Then
            let sentAt = verification.uptime
            verification.wait()
            #expect(PartSupport.delays(after: failure, at: sentAt).contains(verification.uptime))
            longest = max(longest, verification.uptime - sentAt)
            #expect(verification.ask().request != nil)
        }
        #expect(longest > 5_000)
        // When
        _ = verification.take(PartSupport.problem(.overloaded, retryAfter: 90_000))
        // Then
        #expect(verification.verifier.deadline == verification.uptime + 90_000)
        // When
        verification.verifier.wake()
        // Then
        #expect(verification.ask().request != nil)
    }

    @Test("the answer after a loss of contact restores it for the other parts")
    func regainsContact() {
        // Given
        var verification = Verification()
        _ = verification.ask()
        _ = verification.load(held("c/1", 3))
        _ = verification.take(PartSupport.lost)
        verification.wait()
        _ = verification.ask()
        // When
        let effects = verification.take(Self.reads(at: 10))
        // Then
        #expect(effects.regainsContact && !verification.contact.isLost)
    }

    @Test("a refused token is replaced at once, and a fresh one that is refused waits")
    func refusedToken() {
        // Given
        var verification = Verification()
        _ = verification.ask()
        _ = verification.load(held("c/1", 3))
        // When
        _ = verification.take(PartSupport.problem(.unauthorized))
        // Then
        #expect(verification.ask().request?.needsFreshToken == true)
        // When
        _ = verification.take(PartSupport.problem(.unauthorized))
        // Then
        #expect(verification.contact.trouble == .unauthorized && verification.ask() == (nil, nil))
    }

    @Test("a response that does not say which writes it contains is asked for again at once, with the device's name")
    func unstatedResponse() {
        // Given
        var verification = Verification()
        _ = verification.ask()
        #expect(verification.load(held("c/1", 3)).request?.kind.client == nil)
        // When a write leaves while the request is under way
        verification.rows = [PartSupport.row(1, "c/1")]
        guard case .heldVerified(let keys, let response, let lastWrite)? = verification.take(Self.reads(at: 10)).intents.first else {
            Issue.record("nothing is to be stored")
            return
        }
        let builder = PlanBuilder(
            .heldVerified, verification.turn, PartSupport.local(verification.state, verification.rows), Sender())
        #expect(verification.verifier.plan(keys, response, lastWrite, verification.rule, builder) == nil)
        // Then
        #expect(verification.ask().request?.kind.client == PartSupport.client)
        #expect(verification.verifier.plan(keys, response, 0, verification.rule, builder) != nil)
    }

    @Test("a disk operation that fails is tried again after a while, from the same place")
    func diskFails() {
        // Given
        var verification = Verification()
        let query = verification.ask().query
        // When
        var turn = verification.turn
        verification.verifier.failed(.failed("no"), &verification.contact, &turn)
        // Then
        #expect(verification.contact.trouble == .disk(.failed("no")) && verification.ask() == (nil, nil))
        verification.wait()
        #expect(verification.ask().query == query)
        // When the page cannot be stored
        let request = verification.load(held("c/1", 3)).request
        _ = verification.take(Self.reads(at: 10))
        turn = verification.turn
        verification.verifier.failed(.full, &verification.contact, &turn)
        verification.wait()
        // Then
        #expect(verification.ask().request?.kind == request?.kind)
        // When it can
        _ = verification.take(Self.reads(at: 10))
        verification.contact.trouble = .disk(.full)
        verification.verifier.stored(&verification.contact)
        // Then
        #expect(verification.contact.trouble == nil && verification.ask().query?.after == Scene.key("c/1"))
    }

    @Test("a request that was cancelled is sent again, and one after a restart begins with the first key")
    func restarts() {
        // Given
        var verification = Verification()
        _ = verification.ask()
        let request = verification.load(held("c/1", 3)).request
        // When
        verification.verifier.released()
        // Then
        #expect(verification.ask().request?.kind == request?.kind)
        // When the process starts again
        verification.verifier = Verifier()
        verification.requests.generation += 1
        // Then
        #expect(verification.ask().query == HeldQuery(.before(pass: 1), after: nil, limit: 2, generation: 1))
    }

    @Test("it waits for its own query alone")
    func foreignQuery() throws {
        // Given
        var verification = Verification()
        let query = try #require(verification.ask().query)
        var other = query
        other.after = Scene.key("c/1")
        // Then
        #expect(verification.verifier.isWaiting(for: query) && !verification.verifier.isWaiting(for: other))
        // When it has its answer
        _ = verification.load(held("c/1", 3))
        // Then
        #expect(!verification.verifier.isWaiting(for: query))
    }
}
