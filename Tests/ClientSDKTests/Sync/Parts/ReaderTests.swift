import FreshetWire
import Testing

@testable import FreshetClient

@Suite("A reader") struct ReaderTests {
    /// A reader with what it needs from its neighbours, at the position `a-10`.
    private struct Reads {
        var reader = Reader()
        var requests = RequestTable()
        var state = PartSupport.state(at: 10)
        /// Writes of the device that may have been sent.
        var rows: [OutboxRow] = []
        var uptime: Int64 = 1_000
        var random: UInt64 = 1
        var configure: (inout SyncSettings) -> Void = { _ in }
        private var lastToken: Int64 = 0

        var turn: Turn { PartSupport.turn(at: uptime, random: random, configure: configure) }

        @discardableResult
        mutating func add(_ keys: String..., known: Entry? = nil, mustBeNew: Bool = false) -> CallerID {
            lastToken += 1
            let items = keys.map { FetchRequest.Item(key: Scene.key($0), known: known) }
            reader.add(FetchRequest(callerID: CallerID(lastToken), items: items, mustBeNew: mustBeNew), state, turn) { $0.known }
            return CallerID(lastToken)
        }

        mutating func refresh(_ key: String) {
            reader.refresh(PendingKey(key: Scene.key(key), base: nil, rows: [PartSupport.row(1, key)]), state)
        }

        /// The requests that leave now.
        mutating func ask() -> [RequestDescription] {
            var turn = turn
            reader.advance(state, PartSupport.rule(state, rows), &requests, &turn)
            return turn.sent
        }

        /// Handles a response to the oldest request under way. Returns the records to store, and the turn with the callers' answers.
        mutating func take(_ reply: Reply) -> (keyResponses: [Reader.KeyResponse], turn: Turn) {
            var turn = turn
            guard let id = requests.all.first, let sent = requests.remove(id), case .fetch(let keys) = sent.purpose else {
                Issue.record("no read is under way")
                return ([], turn)
            }
            let keyResponses = reader.take(reply, to: sent, keys, state, &turn)
            return (keyResponses, turn)
        }

        /// The response to the oldest request under way, and what passes the fence is stored.
        mutating func answer(_ reply: Reply, lastWrite: Int64? = nil) -> (entries: [Entry], turn: Turn) {
            var (keyResponses, turn) = take(reply)
            let builder = PlanBuilder(.fetched([]), turn, PartSupport.local(state, rows), Sender())
            guard !keyResponses.isEmpty,
                let plan = reader.plan(keyResponses, lastWrite, PartSupport.rule(state, rows), builder, &turn),
                case .fetched(let entries) = plan.onCommit
            else { return ([], turn) }
            for entry in entries { reader.stored(entry.key, KeyView(entry.key, entry), isKnown: true, &turn) }
            return (entries, turn)
        }

        /// Lets the time pass until the next attempt.
        mutating func wait() {
            guard let next = reader.nextAttempt(after: uptime) else {
                Issue.record("there is no next attempt")
                return
            }
            uptime = next
        }
    }

    private static func record(_ key: String, _ revision: Int64, at position: Int64) -> Reply {
        .record(Scene.record(Scene.key(key), revision, Scene.json("1")), Scene.position(position))
    }

    private func keys(_ request: RequestDescription?) -> [String] {
        switch request?.kind {
        case .record(let key, _, _): [key.description]
        case .reads(let reads): reads.items.map(\.key.description)
        default: []
        }
    }

    // MARK: Asking

    @Test("keys are read together, so many in one request and so many requests at once")
    func bounds() {
        // Given
        var reads = Reads()
        reads.configure = {
            $0.fetchKeys = 2
            $0.fetchRequests = 2
        }
        for number in 1...5 { reads.add("c/\(number)") }
        // When
        let first = reads.ask()
        // Then
        #expect(first.map(keys) == [["c/1", "c/2"], ["c/3", "c/4"]] && reads.reader.underWay == 2)
        #expect(reads.ask().isEmpty)
        // When
        let response = ReadsResponse(records: [], missing: [Scene.key("c/1"), Scene.key("c/2")], cursor: Scene.position(10))
        #expect(reads.answer(.reads(response)).turn.answered == [CallerID(1), CallerID(2)])
        // Then
        #expect(reads.ask().map(keys) == [["c/5"]])
    }

    @Test("a known record of this history is compared by the server, and one of another is not")
    func comparison() {
        for (epoch, expected) in [("a", Scene.position(7)), ("b", nil)] {
            // Given
            var reads = Reads()
            reads.add("c/1", known: PartSupport.entry("c/1", 7, epoch))
            // Then
            #expect(reads.ask().first?.kind == .record(Scene.key("c/1"), known: expected))
            // When
            let (entries, turn) = reads.answer(.notModified(Scene.position(12)))
            // Then
            if expected != nil {
                #expect(entries.first?.revision == Scene.revision(7) && entries.first?.asOf == Scene.revision(12))
            } else {
                #expect(entries.isEmpty && turn.answered.isEmpty && reads.ask().isEmpty)
            }
        }
    }

    @Test("a request that is sent while a write of the key is under way names the device, and a response without the number is dropped")
    func unstatedResponse() {
        // Given
        var reads = Reads()
        reads.add("c/1")
        #expect(reads.ask().first?.kind.client == nil)
        // When a write leaves while the read is under way
        reads.rows = [PartSupport.row(1, "c/1")]
        // Then
        #expect(reads.answer(Self.record("c/1", 5, at: 11)).turn.answered.isEmpty)
        #expect(reads.ask().first?.kind.client == PartSupport.client)
        #expect(reads.answer(Self.record("c/1", 5, at: 11), lastWrite: 0).turn.answered == [CallerID(1)])
    }

    // MARK: The fence

    @Test("a response that is older than the position, the known record or a later invalidation is asked for again")
    func fence() {
        for (known, raised, refused, taken) in [(nil, nil, 9, 10), (14, nil, 13, 14), (nil, 20, 19, 20)]
            as [(Int64?, Int64?, Int64, Int64)]
        {
            // Given
            var reads = Reads()
            reads.add("c/1", known: known.map { PartSupport.entry("c/1", 5, asOf: $0) })
            _ = reads.ask()
            // When
            if let raised { reads.reader.raiseLowerBound(.everything, to: Scene.revision(raised)) }
            // Then
            #expect(reads.answer(Self.record("c/1", 5, at: refused)).entries.isEmpty && reads.ask().isEmpty)
            reads.wait()
            #expect(reads.ask().map(keys) == [["c/1"]])
            #expect(reads.answer(Self.record("c/1", 5, at: taken)).turn.answered == [CallerID(1)])
        }
    }

    @Test("a caller gets the failure after some attempts, and the machine's own reads go on for ever with bounded delays")
    func attempts() {
        for isOwn in [false, true] {
            // Given
            var reads = Reads()
            if isOwn { reads.refresh("c/1") } else { reads.add("c/1") }
            var longest: Int64 = 0
            for attempt in 0..<12 as Range<Int> {
                guard isOwn || attempt < 4 else { break }
                // When
                reads.random = UInt64(attempt) &* 77
                #expect(reads.ask().count == 1)
                let turn = reads.take(PartSupport.lost).turn
                // Then
                #expect(turn.failures == (!isOwn && attempt == 3 ? [.offline(.interrupted("the connection broke"))] : []))
                guard isOwn || attempt < 3 else { continue }
                let sentAt = reads.uptime
                reads.wait()
                #expect(PartSupport.delays(after: attempt, at: sentAt).contains(reads.uptime))
                longest = max(longest, reads.uptime - sentAt)
            }
            #expect(longest > (isOwn ? 5_000 : 0))
            #expect(reads.ask().count == (isOwn ? 1 : 0))
        }
    }

    @Test("a caller that wants a newer request than the machine's own gets its failures too")
    func newerThanOwn() {
        // Given
        var reads = Reads()
        reads.refresh("c/1")
        _ = reads.ask()
        // When
        let callerID = reads.add("c/1", mustBeNew: true)
        // Then
        for _ in 0..<20 {
            let turn = reads.take(PartSupport.lost).turn
            if !turn.failures.isEmpty {
                #expect(turn.answered == [callerID])
                return
            }
            if reads.ask().isEmpty {
                reads.wait()
                _ = reads.ask()
            }
        }
        Issue.record("the caller gets no failure")
    }

    @Test("a read that its callers have abandoned is not repeated after a failure", arguments: [false, true])
    func abandonedRead(_ isRefused: Bool) {
        // Given
        var reads = Reads()
        let callerID = reads.add("c/1")
        _ = reads.ask()
        // When
        reads.reader.abandon(callerID)
        let turn = reads.take(isRefused ? PartSupport.problem(.forbidden) : PartSupport.lost).turn
        // Then
        #expect(turn.answered.isEmpty && reads.ask().isEmpty && reads.reader.nextAttempt(after: reads.uptime) == nil)
    }

    // MARK: Responses

    @Test("a read of many keys answers each alone: too large ones are read singly, and keys left out are asked for again")
    func manyKeys() {
        // Given
        var reads = Reads()
        reads.add("c/1")
        reads.add("c/2")
        reads.add("c/3", known: PartSupport.entry("c/3", 6))
        reads.add("c/4")
        _ = reads.ask()
        // When
        let large = Record(
            key: Scene.key("c/2"), revision: Scene.revision(3), contentType: Content.json, size: 1 << 20,
            modified: Timestamp(milliseconds: 0))
        let foreign = Scene.record(Scene.key("c/9"), 4, Scene.json("1"))
        let own = Scene.record(Scene.key("c/1"), 4, Scene.json("1"))
        let (entries, turn) = reads.answer(
            .reads(ReadsResponse(records: [own, large, foreign], missing: [], cursor: Scene.position(10))))
        // Then
        #expect(entries.map(\.key.description) == ["c/1", "c/3"] && turn.answered == [CallerID(1), CallerID(3)])
        #expect(reads.ask().first?.kind == .record(Scene.key("c/2"), known: nil))
        reads.wait()
        #expect(reads.ask().map(keys) == [["c/4"]])
    }

    @Test("a response that does not belong to the read, or whose revision is past its position, is not stored")
    func foreignResponses() {
        let replies: [Reply] = [
            Self.record("c/2", 5, at: 10), Self.record("c/1", 11, at: 10), .notModified(Scene.position(10)), .noChange(Scene.position(10)),
            .reads(ReadsResponse(records: [], missing: [Scene.key("c/2")], cursor: Scene.position(10))), .garbage("no JSON"),
        ]
        for reply in replies {
            var reads = Reads()
            reads.configure = { $0.fetchAttempts = 1 }
            reads.add("c/1")
            _ = reads.ask()
            let (entries, turn) = reads.answer(reply)
            #expect(entries.isEmpty, "\(reply)")
            if case .malformed? = turn.failures.first {} else { Issue.record("\(reply): \(turn.failures)") }
        }
    }

    @Test("after an answer that is too large fewer keys are asked for, down to one by itself, and more again once all are read")
    func tooLarge() {
        // Given
        var reads = Reads()
        reads.configure = { $0.fetchRequests = 1 }
        for number in 1...4 { reads.add("c/\(number)") }
        #expect(reads.ask().map(keys) == [["c/1", "c/2", "c/3", "c/4"]])
        // When the answers are too large
        #expect(reads.answer(.tooLarge("large")).turn.failures.isEmpty)
        #expect(reads.ask().map(keys) == [["c/1", "c/2"]])
        _ = reads.answer(.tooLarge("large"))
        // Then the record is asked for alone
        #expect(reads.ask().map(\.kind) == [.record(Scene.key("c/1"), known: nil)])
        // When it is too large as well
        let (_, turn) = reads.answer(.tooLarge("large"))
        // Then its reader gets the failure, and the others are read
        #expect(turn.failures == [.tooLarge("large")] && turn.answered == [CallerID(1)])
        for number in 2...4 {
            #expect(reads.ask().map(keys) == [["c/\(number)"]])
            #expect(reads.answer(Self.record("c/\(number)", 4, at: 10)).turn.answered == [CallerID(Int64(number))])
        }
        #expect(reads.ask().isEmpty)
        // When others are asked for later
        reads.add("c/5")
        reads.add("c/6")
        // Then they are read together
        #expect(reads.ask().map(keys) == [["c/5", "c/6"]])
    }

    @Test("keys that an answer leaves for the next are asked for again at once, and only they")
    func partialResponse() {
        // Given
        var reads = Reads()
        for number in 1...4 { reads.add("c/\(number)") }
        _ = reads.ask()
        // When an answer ends before the third key
        let first = Scene.record(Scene.key("c/1"), 4, Scene.json("1"))
        let (entries, turn) = reads.answer(
            .reads(ReadsResponse(records: [first], missing: [Scene.key("c/2")], next: 2, cursor: Scene.position(10))))
        // Then
        #expect(entries.map(\.key.description) == ["c/1", "c/2"] && turn.answered == [CallerID(1), CallerID(2)])
        #expect(reads.ask().map(keys) == [["c/3", "c/4"]])
        // When the response for the remaining keys is older than a change that the feed has brought meanwhile
        reads.reader.raiseLowerBound(.key(Scene.key("c/3")), to: Scene.revision(11))
        let missing = [Scene.key("c/3"), Scene.key("c/4")]
        let (rest, last) = reads.answer(.reads(ReadsResponse(records: [], missing: missing, cursor: Scene.position(10))))
        // Then the fence holds for each answer by itself
        #expect(rest.map(\.key.description) == ["c/4"] && last.answered == [CallerID(4)])
    }

    @Test(
        "an answer whose 'next' is at the first key or beyond the last is refused, and not asked for again at once",
        arguments: [-1, 0, 2, 9])
    func responseWithoutProgress(next: Int) {
        // Given
        var reads = Reads()
        reads.configure = { $0.fetchAttempts = 2 }
        reads.add("c/1")
        reads.add("c/2")
        _ = reads.ask()
        // When
        let response = Reply.reads(ReadsResponse(records: [], missing: [], next: next, cursor: Scene.position(10)))
        #expect(reads.answer(response).entries.isEmpty)
        // Then
        #expect(reads.ask().isEmpty)
        // When it is so again
        var failures: [SyncFailure] = []
        for _ in 1...4 where failures.count < 2 {
            reads.wait()
            _ = reads.ask()
            failures += reads.answer(response).turn.failures
        }
        // Then the callers get the failures
        for failure in failures { if case .malformed = failure {} else { Issue.record("\(failure)") } }
        #expect(failures.count == 2)
    }

    @Test("a final refusal is reported at once, an overload is waited for, and a refused token is replaced first")
    func refusals() {
        // Given
        var reads = Reads()
        reads.add("c/1")
        _ = reads.ask()
        // When
        #expect(reads.take(PartSupport.problem(.unauthorized)).turn.answered.isEmpty)
        // Then
        #expect(reads.ask().first?.needsFreshToken == true)
        // When
        #expect(reads.take(PartSupport.problem(.overloaded, retryAfter: 70_000)).turn.answered.isEmpty)
        // Then
        #expect(reads.reader.nextAttempt(after: reads.uptime) == reads.uptime + 70_000)
        reads.wait()
        _ = reads.ask()
        // When
        let turn = reads.take(PartSupport.problem(.unauthorized)).turn
        // Then
        #expect(turn.failures == [.refused(Problem(.unauthorized, "no"))] && reads.ask().isEmpty)
    }

    // MARK: Other events

    @Test("contact ends the wait of reads that nobody answered, and not of those that the server put off")
    func reachability() {
        // Given
        var reads = Reads()
        for reply in [PartSupport.problem(.overloaded, retryAfter: 70_000), PartSupport.lost] {
            reads.add(reply == PartSupport.lost ? "c/lost" : "c/late")
            _ = reads.ask()
            _ = reads.take(reply)
        }
        // When
        reads.reader.regainedContact()
        // Then
        #expect(reads.ask().map(keys) == [["c/lost"]])
        // When
        reads.reader.wake()
        // Then
        #expect(reads.ask().map(keys) == [["c/late"]])
    }

    @Test("a record for which the disk has no room is answered all the same, and the machine's own read is repeated")
    func notStored() {
        // Given
        var reads = Reads()
        reads.add("c/1")
        reads.refresh("c/2")
        // When
        var turn = reads.turn
        for key in ["c/1", "c/2"] { reads.reader.notStored(Scene.key(key), KeyView(Scene.key(key), nil), &turn) }
        // Then
        #expect(turn.answered == [CallerID(1)] && turn.failures.isEmpty && reads.ask().isEmpty)
        reads.wait()
        #expect(reads.ask().map(keys) == [["c/2"]])
    }

    @Test("an own read that does not make its key known is repeated after a while")
    func ownReadTellsNothing() {
        var reads = Reads()
        reads.refresh("c/1")
        var turn = reads.turn
        reads.reader.stored(Scene.key("c/1"), KeyView(Scene.key("c/1"), nil), isKnown: false, &turn)
        #expect(reads.ask().isEmpty)
        reads.wait()
        #expect(reads.ask().map(keys) == [["c/1"]])
    }

    @Test("a response that comes after everything was forgotten is discarded")
    func lateResponse() {
        // Given
        var reads = Reads()
        let callerID = reads.add("c/1")
        _ = reads.ask()
        let keyResponses = reads.take(Self.record("c/1", 5, at: 10)).keyResponses
        // When
        #expect(reads.reader.removeAll() == [callerID])
        // Then
        var turn = reads.turn
        let builder = PlanBuilder(.fetched([]), turn, PartSupport.local(reads.state), Sender())
        #expect(reads.reader.plan(keyResponses, nil, PartSupport.rule(reads.state), builder, &turn) == nil)
        #expect(turn.answered.isEmpty && reads.ask().isEmpty)
    }
}
