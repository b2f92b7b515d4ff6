import FreshetWire
import Testing

@testable import FreshetClient

@Suite("A merger") struct MergerTests {
    private let state = PartSupport.state(at: 10)

    /// A merger whose closure is registered.
    private func merger() -> Merger {
        var merger = Merger()
        var turn = PartSupport.turn()
        merger.register(MergeName("m"), PartSupport.outbox([]), &turn)
        return merger
    }

    /// A write that was rejected, since it wanted to find the record at a revision.
    private func rejected(
        _ number: Int64, _ key: String, _ operation: WriteOperation = .put(Scene.json("2")), wanting revision: Int64 = 5,
        ancestor: String? = "1"
    ) -> OutboxRow {
        PartSupport.row(
            number, key, operation, .merge(MergeName("m")), finding: .revision(Scene.revision(revision)),
            state: .merging(Scene.position(1).epoch), ancestor: ancestor.map(Scene.json))
    }

    /// Calls closures. Returns the conflicts that they get, and the keys that must be read first.
    private func advance(_ merger: inout Merger, _ outbox: Outbox, at uptime: Int64 = 1_000) -> (
        merges: [MergeRequest], unread: [RecordKey]
    ) {
        var turn = PartSupport.turn(at: uptime)
        let unread = merger.advance(state, outbox, generation: 3, &turn)
        return (turn.merges, unread)
    }

    @Test("a closure gets what the user saw, what the user wrote and what is there now, once")
    func closureIsCalledOnce() {
        // Given
        var merger = merger()
        let outbox = PartSupport.outbox([rejected(1, "c/1")], over: [PartSupport.entry("c/1", 8, value: "9")])
        // When
        let (merges, unread) = advance(&merger, outbox)
        // Then
        #expect(
            merges == [
                MergeRequest(
                    writeID: LocalWriteID(1), key: Scene.key("c/1"), name: MergeName("m"), base: Scene.json("1"), mine: Scene.json("2"),
                    theirs: Scene.json("9"), generation: 3)
            ])
        #expect(unread.isEmpty && merger.theirs(LocalWriteID(1))?.revision == Scene.revision(8) && merger.theirs(LocalWriteID(2)) == nil)
        #expect(advance(&merger, outbox).merges.isEmpty)
    }

    @Test("what the user wrote is the write over what the user saw, and a write that this cannot take leaves it as it was")
    func mine() throws {
        let patch = WriteOperation.patch(Array(#"{"b":2}"#.utf8))
        let cases: [(WriteOperation, String?, String?)] = [
            (Scene.increment(2), #"{"n":1}"#, #"{"n":3}"#), (.delete, "1", nil), (patch, nil, nil), (patch, #"{"a":1}"#, #"{"a":1,"b":2}"#),
        ]
        for (operation, ancestor, mine) in cases {
            var merger = merger()
            let outbox = PartSupport.outbox(
                [rejected(1, "c/1", operation, ancestor: ancestor)], over: [PartSupport.entry("c/1", 8)])
            let request = try #require(advance(&merger, outbox).merges.first)
            #expect(request.mine == mine.map(Scene.json), "\(operation)")
        }
    }

    @Test("a record that does not show the other's change is read first")
    func readsFirst() {
        let bases: [(base: Entry?, why: Comment)] = [
            (nil, "it is not known"),
            (PartSupport.entry("c/1", 5), "it is the one that the write wanted to find"),
            (PartSupport.entry("c/1", 3), "it is older than the one that the write wanted to find"),
            (PartSupport.entry("c/1", 4, value: nil), "its absence is older than the one that the write wanted to find"),
            (PartSupport.entry("c/1", 8, "b"), "it is of another history"),
            (PartSupport.entry("c/1", 8, pass: 0), "it was not verified since the reset"),
        ]
        for (base, why) in bases {
            // Given
            var merger = merger()
            let outbox = PartSupport.outbox([rejected(1, "c/1")], over: base.map { [$0] } ?? [])
            // Then
            let first = advance(&merger, outbox)
            #expect(first.merges.isEmpty && first.unread == [Scene.key("c/1")], why)
            // When
            merger.noteRead(Scene.key("c/1"), outbox)
            // Then
            let second = advance(&merger, outbox)
            #expect(second.merges.count == (base == nil ? 0 : 1) && second.unread.isEmpty == (base != nil), why)
        }
    }

    @Test("a record that is gone shows the other's change, and one that nobody wanted to find does too")
    func absence() {
        // Given
        var merger = merger()
        let outbox = PartSupport.outbox(
            [rejected(1, "c/1"), rejected(2, "c/2", wanting: 0, ancestor: nil), rejected(3, "c/3", wanting: 0, ancestor: nil)],
            over: [PartSupport.entry("c/1", 8, value: nil), PartSupport.entry("c/2", 8), PartSupport.entry("c/3", 8, value: nil)])
        // When
        let (merges, unread) = advance(&merger, outbox)
        // Then
        #expect(merges.map(\.writeID) == [LocalWriteID(1), LocalWriteID(2)] && merges.first?.theirs == nil && unread == [Scene.key("c/3")])
    }

    @Test("a condition that never holds says nothing about the record, so that is read first")
    func impossibleCondition() {
        var merger = merger()
        let outbox = PartSupport.outbox(
            [rejected(1, "c/1", wanting: Revision.maximum.number)], over: [PartSupport.entry("c/1", 8)])
        #expect(advance(&merger, outbox).unread == [Scene.key("c/1")])
    }

    @Test("a merge that the disk refuses is asked for again after a while, and answers to the earlier call do not count")
    func notStored() throws {
        // Given
        var merger = merger()
        let outbox = PartSupport.outbox([rejected(1, "c/1")], over: [PartSupport.entry("c/1", 8)])
        _ = advance(&merger, outbox)
        for failure in 0..<4 as Range<Int> {
            // When
            var turn = PartSupport.turn(at: 1_000)
            merger.notStored(&turn)
            // Then
            let deadline = try #require(merger.deadline(outbox))
            #expect(PartSupport.delays(after: failure, at: 1_000).contains(deadline))
            #expect(merger.theirs(LocalWriteID(1)) == nil && advance(&merger, outbox, at: deadline - 1).merges.isEmpty)
            #expect(advance(&merger, outbox, at: deadline).merges.count == 1)
        }
        // When it takes one
        merger.stored()
        var turn = PartSupport.turn(at: 1_000)
        merger.notStored(&turn)
        // Then
        #expect(PartSupport.delays(after: 0, at: 1_000).contains(try #require(merger.deadline(outbox))))
        // When
        merger.wake()
        // Then
        #expect(advance(&merger, outbox).merges.count == 1)
    }

    @Test("without a conflict nothing is due, and a read that was noted is forgotten with it")
    func withoutConflicts() {
        // Given
        var merger = merger()
        let base = PartSupport.entry("c/1", 5)
        let conflict = PartSupport.outbox([rejected(1, "c/1")], over: [base])
        let none = PartSupport.outbox([PartSupport.row(2, "c/1")], over: [base])
        #expect(merger.deadline(none) == nil)
        // When
        merger.noteRead(Scene.key("c/1"), none)
        // Then
        #expect(advance(&merger, conflict).unread == [Scene.key("c/1")])
        // When the conflict ends before the closure is called
        merger.noteRead(Scene.key("c/1"), conflict)
        _ = advance(&merger, none)
        // Then
        #expect(advance(&merger, conflict).unread == [Scene.key("c/1")])
    }

    @Test("a verdict ends one conflict, and another history all of them")
    func forgets() {
        // Given
        var merger = merger()
        let rows = [rejected(1, "c/1"), rejected(2, "c/2")]
        let outbox = PartSupport.outbox(rows, over: [PartSupport.entry("c/1", 8), PartSupport.entry("c/2", 8)])
        _ = advance(&merger, outbox)
        // When
        merger.decided(LocalWriteID(1))
        // Then
        #expect(merger.theirs(LocalWriteID(1)) == nil && merger.theirs(LocalWriteID(2)) != nil)
        // When
        merger.noteRead(Scene.key("c/2"), outbox)
        merger.forget()
        // Then
        let unmoved = PartSupport.outbox([rejected(2, "c/2")], over: [PartSupport.entry("c/2", 5)])
        #expect(merger.theirs(LocalWriteID(2)) == nil && advance(&merger, unmoved).unread == [Scene.key("c/2")])
    }

    @Test("a write waits for a closure that is not registered, and the log says once which and how many")
    func waitsForItsClosure() {
        // Given two writes for one closure, and none that is registered
        var merger = Merger()
        let rows = [rejected(1, "c/1"), rejected(2, "c/2")]
        let outbox = PartSupport.outbox(rows, over: [PartSupport.entry("c/1", 8), PartSupport.entry("c/2", 3)])
        var turn = PartSupport.turn()
        // When it is asked twice
        let unread = merger.advance(state, outbox, generation: 0, &turn) + merger.advance(state, outbox, generation: 0, &turn)
        // Then nothing is read or merged
        #expect(turn.merges.isEmpty && unread.isEmpty && merger.missing(outbox) == [MergeName("m"): 2])
        #expect(turn.logs.map(\.level) == [.warning] && turn.logs.first?.text.hasPrefix("2 writes wait for the merge closure 'm'") == true)
        // When another closure is registered, and then this one
        merger.register(MergeName("other"), outbox, &turn)
        #expect(turn.logs.count == 1 && merger.advance(state, outbox, generation: 0, &turn).isEmpty && turn.merges.isEmpty)
        merger.register(MergeName("m"), outbox, &turn)
        // Then it gets both
        #expect(merger.missing(outbox).isEmpty && turn.logs.last?.level == .info)
        #expect(advance(&merger, outbox).merges.map(\.writeID) == [LocalWriteID(1)])
    }

    @Test("another account keeps the closures of the process, and forgets the conflicts")
    func clear() {
        // Given a conflict that a closure has
        var merger = merger()
        let outbox = PartSupport.outbox([rejected(1, "c/1")], over: [PartSupport.entry("c/1", 8)])
        _ = advance(&merger, outbox)
        // When
        merger.clear()
        // Then
        #expect(merger.theirs(LocalWriteID(1)) == nil && merger.missing(outbox).isEmpty)
        #expect(advance(&merger, outbox).merges.count == 1)
    }
}
