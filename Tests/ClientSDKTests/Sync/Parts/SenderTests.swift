import FreshetWire
import Testing

@testable import FreshetClient

@Suite("A sender") struct SenderTests {
    /// A sender with what it needs from its neighbours, at the position `a-10`.
    private struct Queue {
        var sender = Sender()
        var requests = RequestTable()
        var state = PartSupport.state(at: 10)
        var rows: [OutboxRow]
        var uptime: Int64 = 1_000
        var random: UInt64 = 1
        var configure: (inout SyncSettings) -> Void = { _ in }

        init(_ rows: [OutboxRow]) { self.rows = rows }

        /// One whose writes are puts of these numbers, each to a separate key.
        init(numbers: some Sequence<Int64>) { self.init(numbers.map { PartSupport.row($0, "c/\($0)") }) }

        var turn: Turn { PartSupport.turn(at: uptime, random: random, configure: configure) }
        var outbox: Outbox { PartSupport.outbox(rows) }
        var trouble: SyncStatus.Trouble? { sender.trouble(state, outbox) }

        /// The request that leaves now.
        mutating func ask(isFeedBusy: Bool = false) -> RequestDescription? {
            var turn = turn
            sender.advance(state, outbox, isFeedBusy: isFeedBusy, &requests, &turn)
            return turn.sent.first
        }

        /// The batch that leaves now.
        mutating func send() -> WriteBatch? { if case .writes(let batch)? = ask()?.kind { batch } else { nil } }

        mutating func take(_ reply: Reply) -> [Effect] {
            guard let id = requests.all.first, let sent = requests.remove(id) else {
                Issue.record("no request is under way")
                return []
            }
            var turn = turn
            return switch sent.purpose {
            case .writes(let numbers): sender.take(reply, nil, to: sent, numbers, outbox, &turn)
            default: sender.takeStatus(reply, to: sent, of: state.client, outbox, &turn)
            }
        }

        mutating func cancel() {
            for id in requests.all { _ = requests.remove(id) }
            sender.released()
        }

        /// The server's verdicts on these numbers, and the disk takes them.
        mutating func decide(_ numbers: Int64...) {
            let outcomes = numbers.map { Scene.applied($0, 10 + $0) }
            #expect(take(.results(WriteResults(results: outcomes, cursor: Scene.position(20)))).inputs.count == 1)
            rows.removeAll { numbers.contains($0.number) }
            sender.decided(numbers)
        }

        /// The server's last number of this device, and the disk takes it.
        mutating func reconcile(last: Int64) {
            #expect(take(.client(ClientStatus(client: state.client, last: last), Scene.position(10))).inputs.count == 1)
            state.apply(.mustReconcile(false))
            sender.reconciled(last: last)
        }

        var deadline: Int64? { sender.deadline(state, outbox) }

        /// Lets the time pass until the next attempt.
        mutating func wait() { uptime = max(uptime, deadline ?? 0) }
    }

    private func asksForLast(_ request: RequestDescription?) -> Bool { request?.kind == .clientStatus(PartSupport.client) }

    // MARK: Batches

    @Test("a batch holds numbers that follow each other, as many as the settings allow, and names its history")
    func batches() {
        // Given
        var queue = Queue(numbers: [3, 4, 5, 6, 8])
        queue.configure = { $0.batchCount = 3 }
        // When
        let first = queue.send()
        // Then
        #expect(first?.writes.map(\.number) == [3, 4, 5] && first?.epoch == Scene.position(1).epoch && first?.resume == false)
        #expect(queue.send() == nil && queue.deadline == nil)
        // When
        queue.decide(3, 4, 5)
        // Then
        #expect(queue.send()?.writes.map(\.number) == [6])
        queue.decide(6)
        #expect(queue.send()?.writes.map(\.number) == [8])
    }

    @Test("a batch has a limit in bytes, but holds a single write of any size")
    func bytes() {
        // Given
        let large = WriteOperation.put(Content(bytes: Array(repeating: 48, count: 60), type: "text/plain"))
        var queue = Queue((1...4).map { PartSupport.row($0, "c/\($0)", large) })
        for (limit, expected) in [(10, 1), (60, 1), (119, 1), (120, 2), (1_000, 4)] {
            // When
            queue.configure = { $0.batchBytes = limit }
            // Then
            var attempt = queue
            #expect(attempt.send()?.writes.count == expected, "\(limit)")
        }
        queue.rows = []
        #expect(queue.send() == nil && queue.deadline == nil)
    }

    @Test("after an answer that is too large fewer writes are sent at once, and for a single one the device says so and waits")
    func tooLarge() {
        // Given
        var queue = Queue(numbers: 1...4)
        #expect(queue.send()?.writes.count == 4)
        // When
        #expect(queue.take(.tooLarge("large")).isEmpty && queue.trouble == nil)
        // Then
        #expect(queue.send()?.writes.map(\.number) == [1, 2])
        _ = queue.take(.tooLarge("large"))
        #expect(queue.send()?.writes.map(\.number) == [1])
        // When that is too large as well
        _ = queue.take(.tooLarge("large"))
        // Then
        #expect(queue.trouble == .malformed("large") && queue.send() == nil)
        queue.wait()
        #expect(queue.send()?.writes.map(\.number) == [1])
        // When it fits
        queue.decide(1)
        // Then more go at once again
        #expect(queue.send()?.writes.map(\.number) == [2, 3] && queue.trouble == nil)
    }

    @Test("a write that waits for the verdict on an earlier one is held back, and those behind it too")
    func heldBack() {
        var queue = Queue([
            PartSupport.row(1, "c/1"), PartSupport.row(2, "c/1", finding: .after(LocalWriteID(1))),
            PartSupport.row(3, "c/2", finding: .revision(Scene.revision(7))),
        ])
        #expect(queue.send()?.writes.map(\.number) == [1])
        queue.decide(1)
        // Its condition is not known yet.
        #expect(queue.send() == nil)
        queue.rows[0].precondition = .revision(Scene.revision(11))
        #expect(queue.send()?.writes.map(\.ifRevision) == [Scene.revision(11), Scene.revision(7)])
    }

    @Test("verdicts are stored before anything else is sent, and those that the disk does not take are asked for again")
    func verdictsFirst() {
        // Given
        var queue = Queue(numbers: [1, 2])
        queue.configure = { $0.batchCount = 1 }
        let batch = queue.send()
        // When
        let effects = queue.take(.results(WriteResults(results: [Scene.applied(1, 11)], cursor: Scene.position(11))))
        // Then
        #expect(effects.inputs.count == 1 && effects.reachesServer && queue.send() == nil && queue.deadline == nil)
        // When
        var turn = queue.turn
        queue.sender.notStored(.full, &turn)
        // Then
        #expect(queue.trouble == .disk(.full) && queue.send() == nil)
        queue.wait()
        #expect(queue.send() == batch)
    }

    @Test("a response to the first writes of a batch leaves the others to be sent next")
    func firstWritesAlone() {
        // Given
        var queue = Queue(numbers: [1, 2, 3, 4])
        #expect(queue.send()?.writes.map(\.number) == [1, 2, 3, 4])
        // When the server has decided two of them, as for values that are large
        queue.decide(1, 2)
        // Then
        #expect(queue.send()?.writes.map(\.number) == [3, 4])
    }

    @Test("outcomes that are not of the batch are refused")
    func foreignOutcomes() {
        let cursor = Scene.position(20)
        let replies: [Reply] = [
            .results(WriteResults(results: [], cursor: cursor)),
            .results(WriteResults(results: [Scene.applied(1, 11), Scene.applied(3, 12)], cursor: cursor)),
            .noChange(cursor), .garbage("no JSON"),
        ]
        for reply in replies {
            // Given
            var queue = Queue(numbers: [1, 2])
            let batch = queue.send()
            // When
            #expect(queue.take(reply).isEmpty, "\(reply)")
            // Then
            if case .malformed? = queue.trouble {} else { Issue.record("\(reply): \(String(describing: queue.trouble))") }
            #expect(queue.send() == nil)
            queue.wait()
            #expect(queue.send() == batch)
        }
    }

    // MARK: The server's last number

    @Test("on the first contact it leaves the question for the history to the feed, and asks where the feed fails")
    func firstContact() {
        // Given
        var queue = Queue(numbers: [1])
        queue.state = PartSupport.state(at: nil)
        // Then
        #expect(queue.ask(isFeedBusy: true) == nil)
        #expect(asksForLast(queue.ask(isFeedBusy: false)))
    }

    @Test("after a lost history the last number is asked for before anything is sent, and a status of another device is refused")
    func reconciles() {
        // Given
        var queue = Queue(numbers: [])
        #expect(queue.ask() == nil)
        queue.state.apply(.mustReconcile(true))
        // When
        #expect(asksForLast(queue.ask(isFeedBusy: true)))
        // Then
        for (name, last) in [("other", 4), ("device", -1), ("device", .max)] as [(String, Int64)] {
            guard let client = try? ClientIdentifier(name) else { continue }
            let reply = Reply.client(ClientStatus(client: client, last: last), Scene.position(10))
            #expect(queue.take(reply).isEmpty && queue.ask() == nil)
            queue.wait()
            #expect(asksForLast(queue.ask()))
        }
        // When the answer is on its way to the disk
        let reply = Reply.client(ClientStatus(client: queue.state.client, last: 4), Scene.position(10))
        #expect(queue.take(reply).inputs.count == 1 && queue.ask() == nil)
        // When the disk has it
        queue.state.apply(.mustReconcile(false))
        queue.sender.reconciled(last: 4)
        // Then
        #expect(queue.ask() == nil && queue.deadline == nil)
    }

    @Test("a batch that leaves out numbers behind the server's last says so until one is answered")
    func resumes() {
        // Given
        var queue = Queue(numbers: [7, 8, 9])
        queue.configure = { $0.batchCount = 1 }
        queue.state.apply(.mustReconcile(true))
        _ = queue.ask()
        queue.reconcile(last: 4)
        // Then
        #expect(queue.send()?.resume == true)
        // When the answer is lost
        _ = queue.take(PartSupport.lost)
        queue.wait()
        #expect(queue.send()?.resume == true)
        // When it is answered
        queue.decide(7)
        // Then
        #expect(queue.send()?.resume == false)
        // When the server's last is next to the first
        queue.decide(8)
        queue.state.apply(.mustReconcile(true))
        _ = queue.ask()
        queue.reconcile(last: 8)
        // Then
        #expect(queue.send()?.resume == false)
    }

    @Test("after a gap the last number is asked for at once, and ever more slowly if gaps go on")
    func gaps() {
        // Given
        var queue = Queue(numbers: [7])
        var longest: Int64 = 0
        for round in 0..<8 as Range<Int> {
            queue.random = UInt64(round) &* 13
            #expect(queue.send()?.writes.map(\.number) == [7])
            // When
            #expect(queue.take(PartSupport.problem(.writeGap)).isEmpty)
            // Then
            if round > 0 {
                #expect(queue.ask() == nil && PartSupport.delays(after: round, at: queue.uptime).contains(queue.deadline ?? 0))
                longest = max(longest, (queue.deadline ?? 0) - queue.uptime)
                queue.wait()
            }
            #expect(asksForLast(queue.ask()))
            queue.reconcile(last: 6)
        }
        #expect(longest > 5_000)
    }

    // MARK: Trouble

    @Test("a batch without an answer is sent again as it was, and contact shortens that wait but not one that the server asked for")
    func sentAgain() {
        // Given
        var queue = Queue(numbers: [1, 2])
        let batch = queue.send()
        // When
        #expect(queue.take(PartSupport.lost).isEmpty)
        // Then
        #expect(queue.send() == nil && PartSupport.delays(after: 0, at: queue.uptime).contains(queue.deadline ?? 0))
        queue.sender.regainedContact()
        #expect(queue.send() == batch)
        // When
        #expect(queue.take(PartSupport.problem(.overloaded, retryAfter: 70_000)).isEmpty)
        queue.sender.regainedContact()
        // Then
        #expect(queue.send() == nil && queue.deadline == queue.uptime + 70_000)
        // When the device wakes
        queue.sender.wake()
        // Then
        #expect(queue.send() == batch)
        // When the request was cancelled
        queue.cancel()
        // Then
        #expect(queue.send() == batch)
    }

    @Test("a write that the server does not take apart is looked for by halves, given up, and its number used up")
    func refusedWrites() {
        // Given
        var queue = Queue(numbers: 1...8)
        var sizes: [Int] = []
        while let batch = queue.send(), batch.writes.count > 1 || sizes.isEmpty {
            // When the batch holds write 1
            sizes.append(batch.writes.count)
            #expect(queue.take(PartSupport.problem(.tooLarge)).isEmpty)
        }
        #expect(sizes == [8, 4, 2] && queue.sender.refusedWrites.isEmpty)
        _ = queue.take(PartSupport.problem(.tooLarge))
        // Then
        let void = queue.send()
        #expect(queue.sender.refusedWrites.keys.sorted() == [1])
        #expect(void?.writes == [Write(number: 1, key: Scene.key("c/1"), operation: .delete, ifRevision: .maximum)])
        // When that is refused too
        _ = queue.take(PartSupport.problem(.tooLarge))
        // Then it does not loop hot
        #expect(queue.send() == nil && queue.deadline != nil)
        queue.wait()
        #expect(queue.send() == void)
        // When it has its verdict
        queue.decide(1)
        // Then the batches grow again
        #expect(queue.sender.refusedWrites.isEmpty && queue.send()?.writes.map(\.number) == [2, 3])
        queue.decide(2, 3)
        #expect(queue.send()?.writes.map(\.number) == [4, 5, 6, 7])
    }

    @Test("a refused token is replaced at once, a fresh one that is refused waits, and another history leads to a reset")
    func tokenAndHistory() {
        // Given
        var queue = Queue(numbers: [1])
        #expect(queue.ask()?.needsFreshToken == false)
        // When
        #expect(queue.take(PartSupport.problem(.unauthorized)).isEmpty && queue.trouble == nil)
        // Then
        #expect(queue.ask()?.needsFreshToken == true)
        #expect(queue.take(PartSupport.problem(.unauthorized)).isEmpty)
        #expect(queue.trouble == .unauthorized && queue.ask() == nil)
        // When
        queue.wait()
        _ = queue.ask()
        let effects = queue.take(PartSupport.problem(.epochChanged))
        // Then
        #expect(effects.resets == [nil] && !effects.forgets)
    }

    @Test("the trouble is over when the server has answered and nothing is left to send")
    func troubleEnds() {
        // Given
        var queue = Queue(numbers: [])
        queue.state.apply(.mustReconcile(true))
        _ = queue.ask()
        _ = queue.take(PartSupport.lost)
        #expect(queue.trouble != nil)
        // When
        queue.wait()
        _ = queue.ask()
        queue.reconcile(last: 0)
        // Then
        #expect(queue.trouble == nil)
        // When the feed brings the verdict on a write whose answer was lost
        queue.rows = [PartSupport.row(1, "c/1")]
        _ = queue.ask()
        _ = queue.take(PartSupport.lost)
        #expect(queue.trouble != nil)
        queue.rows = []
        // Then
        #expect(queue.trouble == nil)
    }

    // MARK: The process

    @Test("after a restart everything that has a number may have been sent, and what is sent later raises that")
    func lastSentNumber() {
        // Given
        var queue = Queue(numbers: [3])
        queue.state.apply(.nextNumber(6))
        #expect(queue.sender.lastSentNumber == 0)
        // When
        queue.sender.start(PersistedState(state: queue.state, isNew: true))
        // Then
        #expect(queue.sender.lastSentNumber == 5)
        _ = queue.send()
        #expect(queue.sender.lastSentNumber == 5)
        // When
        queue.rows.append(PartSupport.row(6, "c/6"))
        queue.decide(3)
        _ = queue.send()
        // Then
        #expect(queue.sender.lastSentNumber == 6)
    }

    @Test("after a change of name the next batch leaves at once, and ever later if names go on being taken")
    func changesOfName() throws {
        // Given
        var queue = Queue(numbers: [1])
        func rename() {
            var turn = queue.turn
            queue.sender.renamed(&turn)
        }
        var longest: Int64 = 0
        for round in 0..<30 as Range<Int> {
            queue.random = UInt64(round) &* 17
            #expect(queue.send() != nil)
            queue.cancel()
            // When
            rename()
            // Then
            guard round > 0 else { continue }
            #expect(queue.send() == nil)
            let deadline = try #require(queue.deadline)
            #expect(PartSupport.delays(after: min(round - 1, 18), at: queue.uptime).contains(deadline))
            longest = max(longest, deadline - queue.uptime)
            queue.wait()
        }
        #expect(longest > 5_000)
        // When a write is decided
        queue.sender.keptName()
        rename()
        // Then
        #expect(queue.send() != nil)
    }

    @Test("a reset drops results on their way to the disk, so that the same request is sent in the new history")
    func reset() {
        // Given
        var queue = Queue(numbers: [1])
        let batch = queue.send()
        _ = queue.take(.results(WriteResults(results: [Scene.applied(1, 11)], cursor: Scene.position(11))))
        #expect(queue.ask() == nil)
        // When
        queue.sender.reset()
        // Then
        #expect(queue.send() == batch)
        // Given
        queue.cancel()
        queue.state.apply(.mustReconcile(true))
        _ = queue.ask()
        _ = queue.take(.client(ClientStatus(client: queue.state.client, last: 0), Scene.position(10)))
        #expect(queue.ask() == nil)
        // When
        queue.sender.reset()
        // Then
        #expect(asksForLast(queue.ask()))
    }
}
