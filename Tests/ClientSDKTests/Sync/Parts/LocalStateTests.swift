import FreshetWire
import Testing

@testable import FreshetClient

@Suite("The device's own state on the disk") struct LocalStateTests {
    private let key = Scene.key("c/1")

    private func request(
        _ callerID: Int64, _ key: String = "c/1", _ operation: WriteOperation = .put(Scene.json("2")),
        _ policy: ConflictPolicy = .lastWriterWins, base: Entry? = nil
    ) -> SetRequest {
        SetRequest(callerID: CallerID(callerID), key: Scene.key(key), operation: operation, policy: policy, base: base)
    }

    private func text(_ local: LocalState, _ key: String = "c/1") -> String? {
        local.view(of: Scene.key(key), stored: nil).value.content.map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    /// Makes one transaction of all writes that wait, and hands it to the disk.
    private func begin(_ local: inout LocalState, _ turn: inout Turn, generation: Int64 = 0) throws {
        guard case .sets? = local.nextInput() else {
            Issue.record("no writes wait")
            return
        }
        let plan = try #require(local.planSets(Sender(), &turn))
        #expect(local.begin(plan, generation: generation, &turn))
    }

    // MARK: The user's writes

    @Test("a write shows and takes its number when the disk has it, not earlier")
    func durableFirst() throws {
        // Given
        var local = PartSupport.local(PartSupport.state(at: 10, nextNumber: 4))
        var turn = PartSupport.turn()
        // When
        local.add(request(1))
        try begin(&local, &turn)
        // Then
        let transaction = try #require(turn.commits.first)
        #expect(transaction.state == [.nextNumber(5), .nextWriteID(2)] && transaction.outbox.count == 1)
        #expect(text(local) == nil && local.outbox.pendingCount == 0 && local.sync.nextNumber == 4 && turn.publications.isEmpty)
        #expect(local.mustKeep(key) && !local.isIdle)
        // When the disk has it
        _ = local.committed([], &turn)
        // Then
        #expect(text(local) == "2" && local.sync.nextNumber == 5 && local.isIdle && turn.publications.count == 1)
        #expect(local.view(of: key, stored: nil).isPending)
    }

    @Test("a write that the disk does not take leaves nothing behind, and its number goes to the next")
    func notStored() throws {
        // Given
        var local = PartSupport.local(PartSupport.state(at: 10))
        var turn = PartSupport.turn()
        local.add(request(1))
        try begin(&local, &turn)
        // When
        _ = local.failed()
        local.complete(request(1), .failed(.disk(.full)), &turn)
        // Then
        #expect(text(local) == nil && !local.mustKeep(key) && local.isIdle && turn.failures == [.disk(.full)])
        // When
        local.add(request(2))
        try begin(&local, &turn)
        _ = local.committed([], &turn)
        // Then
        #expect(local.outbox.queue.map(\.number) == [1])
    }

    @Test("writes that wait go into one transaction, each over those before it; one that the value cannot take is refused alone")
    func oneTransaction() throws {
        // Given
        var local = PartSupport.local(PartSupport.state(at: 10))
        var turn = PartSupport.turn()
        // When
        local.add(request(1, "c/1", .put(Scene.json(#"{"n":1}"#))))
        local.add(request(2, "c/1", Scene.increment(2)))
        local.add(request(3, "c/2", Scene.increment(1), .rejectIfChanged))
        local.add(request(4, "c/1", Scene.increment(3)))
        try begin(&local, &turn)
        // Then
        #expect(turn.answered == [CallerID(3)] && turn.failures == [.baseUnknown])
        guard case .sets(let requests, let writeIDs)? = local.committed([], &turn)?.onCommit else {
            Issue.record("not the writes")
            return
        }
        #expect(
            requests.map(\.callerID) == [CallerID(1), CallerID(2), CallerID(4)]
                && writeIDs == [LocalWriteID(1), LocalWriteID(2), LocalWriteID(3)])
        #expect(text(local) == #"{"n":6}"# && local.nextInput() == nil && !local.mustKeep(Scene.key("c/2")))
    }

    @Test("writes of which none can be taken make no transaction")
    func allRefused() {
        // Given
        var local = PartSupport.local(PartSupport.state(at: 10))
        var turn = PartSupport.turn()
        let text = PartSupport.entry("c/1", 5, value: #""text""#)
        // When
        local.add(request(1, "c/1", Scene.increment(), base: text))
        local.add(request(2, "c/2", .patch(Array("{}".utf8)), base: PartSupport.entry("c/2", 5, value: nil)))
        // Then
        #expect(local.planSets(Sender(), &turn)?.state == nil)
        #expect(turn.answered == [CallerID(1), CallerID(2)] && local.keyCount == 0 && local.sync.nextNumber == 1)
    }

    @Test("those whose writes are dropped are given in the order in which they came")
    func dropsSets() throws {
        // Given one write that the disk has, and two that wait
        var local = PartSupport.local(PartSupport.state(at: 10))
        var turn = PartSupport.turn()
        local.add(request(1))
        try begin(&local, &turn)
        local.add(request(2))
        local.add(request(3, "c/2"))
        // Then
        #expect(local.dropSets() == [CallerID(1), CallerID(2), CallerID(3)] && local.keyCount == 0)
    }

    // MARK: The start

    @Test("the pending writes of the last process are shown at the start, before any read")
    func start() {
        // Given
        var state = PartSupport.state(at: 10)
        state.apply(.nextNumber(3))
        let persisted = PersistedState(
            state: state, outbox: [PartSupport.row(1, "c/2", Scene.increment()), PartSupport.row(2, "c/1")],
            bases: [PartSupport.entry("c/2", 5, value: #"{"n":1}"#)])
        var local = LocalState(client: PartSupport.client)
        var turn = PartSupport.turn()
        // When
        local.start(persisted, &turn)
        // Then
        let views = turn.publications.compactMap { if case .view(let view) = $0 { view } else { nil } }
        #expect(views.map(\.key.description) == ["c/1", "c/2"] && views.allSatisfy(\.isPending))
        #expect(text(local, "c/2") == #"{"n":2}"# && local.sync == state && local.outbox.queue.map(\.number) == [1, 2])
        // When nothing was pending
        turn = PartSupport.turn()
        local.start(PersistedState(state: state), &turn)
        // Then
        #expect(turn.actions.isEmpty && !local.mustKeep(key))
    }

    @Test("held keys are verified once there is a position to verify them against")
    func revalidation() {
        #expect(!PartSupport.local(PartSupport.state(at: nil, revalidation: .ofCachedKeys)).isRevalidating)
        #expect(PartSupport.local(PartSupport.state(at: 10, revalidation: .ofCachedKeys)).isRevalidating)
        let fromStart = PartSupport.local(PartSupport.state(at: 10, revalidation: .fromStart))
        #expect(!fromStart.isRevalidating && !fromStart.isVerified && PartSupport.local(PartSupport.state(at: 10)).isVerified)
    }

    // MARK: Keys to read

    @Test("a write must be read for if its outcome is not known, or the feed does not bring its key, or has passed it")
    func keysToRead() throws {
        // Given
        let position = Scene.position(11)
        let rows = [
            PartSupport.row(1, "c/pending"), PartSupport.row(2, "c/applied", state: .applied(position)),
            PartSupport.row(3, "d/applied", state: .applied(position)), PartSupport.row(4, "c/settled", state: .settled(position)),
            PartSupport.row(5, "d/merging", state: .merging(nil)), PartSupport.row(6, "c/passed", state: .applied(Scene.position(10))),
            PartSupport.row(7, "c/earlier", state: .applied(Scene.position(9, "earlier"))),
        ]
        let local = PartSupport.local(PartSupport.state(at: 10), rows)
        // Then
        #expect(local.keysToRead(.all).map(\.description) == ["c/passed", "c/settled"])
        #expect(local.keysToRead(try ChangeFilter(collections: ["c"])).map(\.description) == ["c/passed", "c/settled", "d/applied"])
    }

    // MARK: Resets and clears

    @Test("a reset drops the server's records, except those on disk, and keeps the user's writes")
    func reset() throws {
        // Given a read that the disk has
        var local = PartSupport.local(PartSupport.state(at: 10))
        var turn = PartSupport.turn()
        var builder = PlanBuilder(.fetched([PartSupport.entry("c/1", 5)]), turn, local, Sender())
        builder.add(fetched: PartSupport.entry("c/1", 5), at: Scene.position(10), nil)
        #expect(local.begin(builder.plan, generation: 0, &turn))
        // Given a page, a write and a merge that wait
        local.add(.noChange(Scene.position(12), since: .after(Scene.position(10)), lastWrite: nil))
        local.add(request(1))
        local.add(.revalidationFinished)
        local.add(.merged(LocalWriteID(9), .delete))
        // When
        let underWay = local.dropResponses()
        // Then
        #expect(underWay == [key])
        guard case .sets? = local.nextInput(), case .merged? = local.nextInput() else {
            Issue.record("the user's are lost")
            return
        }
        #expect(local.nextInput() == nil && !local.isIdle)
    }

    @Test("a clear reports each pending write as cleared and forgets all; the disk's answer to an earlier transaction is not waited for")
    func clear() throws {
        // Given
        let rows = [
            PartSupport.row(1, "c/1", state: .applied(Scene.position(9))), PartSupport.row(2, "c/1"), PartSupport.row(3, "c/0"),
        ]
        var local = PartSupport.local(PartSupport.state(at: 10, nextNumber: 4), rows)
        var turn = PartSupport.turn()
        local.add(request(7, "c/5"))
        try begin(&local, &turn)
        let earlier = try #require(turn.commits.first?.id)
        _ = local.dropSets()
        // When
        turn = PartSupport.turn()
        local.clear(&turn)
        // Then
        #expect(
            turn.actions == [
                .outcome(LocalWriteID(3), Scene.key("c/0"), .cleared), .outcome(LocalWriteID(2), Scene.key("c/1"), .cleared),
            ])
        #expect(!local.isUnderWay(earlier) && local.outbox.keys.isEmpty && text(local) == nil)
        // When a write comes, and the disk has cleared
        local.add(request(8, "c/6"))
        let next = try ClientIdentifier("next")
        var builder = PlanBuilder(.cleared(CallerID(9)), turn, local, Sender())
        builder.clear(for: next)
        #expect(local.begin(builder.plan, generation: 1, &turn))
        let id = try #require(turn.commits.first?.id)
        #expect(id > earlier && id.generation == 1 && local.isUnderWay(id))
        _ = local.committed([], &turn)
        // Then
        #expect(local.sync == SyncState(client: next))
        try begin(&local, &turn)
        _ = local.committed([], &turn)
        #expect(local.outbox.queue.map(\.number) == [1] && local.sync.client == next)
    }
}
