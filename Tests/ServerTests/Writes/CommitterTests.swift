import Dispatch
import FreshetServer
import FreshetWire
import Synchronization
import Testing

@Suite struct CommitterTests {
    /// A store whose transactions wait for a gate, and fail if there is an error for them.
    private final class GatedStore: ForwardingStore {
        let base = MemoryRecordStore(seed: 1)
        let gate = DispatchSemaphore(value: 0)
        let entered = DispatchSemaphore(value: 0)
        let failure = Mutex<StoreError?>(nil)
        var reads: any RecordStore { base }

        func transaction<Result: Sendable>(
            touching scope: () -> TransactionScope, _ body: @Sendable (any RecordTransaction) throws -> Result
        ) throws -> Result {
            entered.signal()
            gate.wait()
            if let failure = failure.withLock({ $0 }) { throw failure }
            return try base.transaction(touching: scope, body)
        }
    }

    /// The events, in order.
    private final class Journal: Sendable {
        private let entries = Mutex<[String]>([])
        func note(_ entry: String) { entries.withLock { $0.append(entry) } }
        var all: [String] { entries.withLock { $0 } }
    }

    private let store = GatedStore()
    private let journal = Journal()
    private let namespace: Namespace

    init() throws { namespace = try Namespace("shop") }

    private func committer(_ configuration: Committer.Configuration = .init()) -> Committer {
        let journal = journal
        return Committer(
            store: store, configuration: configuration, clock: { WriteTime(milliseconds: 5) }, now: { 0 },
            onFailure: { journal.note("failed \($0)") },
            onCommit: { commits in
                for commit in commits { journal.note("published \(commit.changes.map(\.revision.description).joined(separator: " "))") }
            })
    }

    private func put(_ key: String) throws -> Submission {
        let journal = journal
        return .single(SingleWrite(key: try RecordKey(key), operation: .put(json: "1")), in: namespace) { committed in
            switch committed.result {
            case .success(let receipt): journal.note("answered \(key) \(receipt.revision?.description ?? "-")")
            case .failure(let problem): journal.note("refused \(key) \(problem.code)")
            }
        }
    }

    private func stop(_ committer: Committer) async {
        await withCheckedContinuation { continuation in committer.stop { continuation.resume() } }
    }

    @Test func whatWaitsIsCommittedTogetherPublishedAndThenTold() async throws {
        // Given a transaction that is under way
        let committer = committer()
        committer.submit(try put("a/1"))
        store.entered.wait()
        // When
        for key in ["a/2", "a/3", "a/4"] { committer.submit(try put(key)) }
        for _ in 1...2 { store.gate.signal() }
        await stop(committer)
        // Then
        #expect(
            journal.all == ["published 1", "answered a/1 1", "published 2 3 4", "answered a/2 2", "answered a/3 3", "answered a/4 4"])
    }

    @Test func aWriteDoesNotWaitForAllEditsThatWereLeftOver() async throws {
        // Given a transaction that takes one increment at most, and four increments that wait for it
        var configuration = Committer.Configuration()
        configuration.room = 1
        let committer = committer(configuration)
        committer.submit(try put("a/0"))
        store.entered.wait()
        let journal = journal
        for place in 1...4 {
            let write = SingleWrite(key: try RecordKey("a/\(place)"), operation: .increment(path: try JSONPointer("/n"), by: .integer(1)))
            committer.submit(.single(write, in: namespace) { _ in journal.note("answered a/\(place)") })
        }
        store.gate.signal()
        store.entered.wait()
        // When another write comes while the first increment is committed
        committer.submit(try put("b/1"))
        for _ in 1...6 { store.gate.signal() }
        await stop(committer)
        // Then its answer comes before that of the third
        let answered = journal.all.filter { $0.hasPrefix("answered") }
        #expect(answered.count == 6 && answered.last == "answered a/4", "\(answered)")
        let other = try #require(answered.firstIndex { $0.hasPrefix("answered b") })
        #expect(other < answered.firstIndex(of: "answered a/3") ?? 0, "\(answered)")
    }

    /// A committer that has begun a batch of four writes, which goes on in the next transaction after each.
    private func committerOfParts() throws -> Committer {
        var configuration = Committer.Configuration()
        configuration.portion = 1
        let committer = committer(configuration)
        let journal = journal
        let writes = try (1...4).map { try Write(number: Int64($0), key: RecordKey("a/\($0)"), operation: .put(json: "1")) }
        let batch = WriteBatch(client: try ClientIdentifier("phone"), writes: writes)
        committer.submit(
            .batch(batch, in: namespace) { committed in
                journal.note("answered batch \((try? committed.result.get().count) ?? 0) \(committed.cursor?.revision.description ?? "-")")
            })
        store.entered.wait()
        return committer
    }

    @Test func aWriteDoesNotWaitForAllOfALongBatch() async throws {
        // Given a batch that is done in parts
        let committer = try committerOfParts()
        // When another write comes while its first write is committed
        committer.submit(try put("b/1"))
        for _ in 1...5 { store.gate.signal() }
        await stop(committer)
        // Then it waits for one more part, and the batch is answered once, when all of it is published
        #expect(
            journal.all == [
                "published 1", "published 2", "published 3", "answered b/1 3", "published 4", "published 5", "answered batch 4 5",
            ])
    }

    @Test func theRestOfALongBatchIsRefusedWithTheTransactionThatFails() async throws {
        // Given a batch that is done in parts
        let committer = try committerOfParts()
        // When the second transaction fails
        store.gate.signal()
        store.entered.wait()
        store.failure.withLock { $0 = .full(path: "shop.db") }
        store.gate.signal()
        await stop(committer)
        // Then the answer holds the first write
        #expect(journal.all.filter { !$0.hasPrefix("failed") } == ["published 1", "answered batch 1 1"])
    }

    @Test func stoppingFinishesWhatWasAcceptedAndRefusesTheRest() async throws {
        // Given
        let committer = committer()
        committer.submit(try put("a/1"))
        store.entered.wait()
        committer.submit(try put("a/2"))
        // When
        let stopped = Task { await stop(committer) }
        while !committer.isStopping { await Task.yield() }
        committer.submit(try put("a/3"))
        for _ in 1...2 { store.gate.signal() }
        await stopped.value
        // Then
        #expect(journal.all == ["refused a/3 unavailable", "published 1", "answered a/1 1", "published 2", "answered a/2 2"])
        await stop(committer)
    }

    @Test func anIdleCommitterStopsAtOnce() async {
        await stop(committer())
        #expect(journal.all.isEmpty)
    }

    @Test func beyondTheBoundSubmissionsAreRefused() async throws {
        // Given
        var configuration = Committer.Configuration()
        configuration.queue.waiting = 2
        let committer = committer(configuration)
        committer.submit(try put("a/1"))
        store.entered.wait()
        // When
        for key in ["a/2", "a/3", "a/4"] { committer.submit(try put(key)) }
        #expect(committer.waiting == 2)
        for _ in 1...2 { store.gate.signal() }
        await stop(committer)
        // Then
        #expect(journal.all.first == "refused a/4 overloaded")
        #expect(journal.all.last == "answered a/3 3")
    }

    @Test func whatTheServerAsksForItselfIsTakenInAnOverloadToo() async throws {
        // Given
        var configuration = Committer.Configuration()
        configuration.queue.waiting = 1
        let committer = committer(configuration)
        committer.submit(try put("a/1"))
        store.entered.wait()
        committer.submit(try put("a/2"))
        #expect(throws: Problem.self) { try committer.checkRoom(in: namespace) }
        // When
        committer.submit(.probe { [journal] in journal.note("probed \((try? $0.result.get()) != nil)") })
        let compaction = Submission.compact(before: Timestamp(milliseconds: 0)) { [journal] in
            journal.note("compacted \((try? $0.result.get()) != nil)")
        }
        committer.submit(compaction)
        for _ in 1...3 { store.gate.signal() }
        await stop(committer)
        // Then
        #expect(journal.all.contains("probed true") && journal.all.contains("compacted true"))
    }

    @Test func aGroupIsBounded() async throws {
        // Given
        var configuration = Committer.Configuration()
        configuration.queue.groupWrites = 2
        let committer = committer(configuration)
        committer.submit(try put("a/1"))
        store.entered.wait()
        // When
        for key in ["a/2", "a/3", "a/4"] { committer.submit(try put(key)) }
        for _ in 1...3 { store.gate.signal() }
        await stop(committer)
        // Then
        #expect(journal.all.filter { $0.hasPrefix("published") } == ["published 1", "published 2 3", "published 4"])
    }

    @Test func whenTheStoreFailsNobodyIsToldOfSuccessAndTheNextGroupIsTriedAfresh() async throws {
        // Given
        let committer = committer()
        store.failure.withLock { $0 = .full(path: "/data") }
        committer.submit(try put("a/1"))
        store.entered.wait()
        committer.submit(try put("a/2"))
        // When
        store.gate.signal()
        store.entered.wait()
        store.failure.withLock { $0 = nil }
        store.gate.signal()
        await stop(committer)
        // Then
        #expect(journal.all == ["refused a/1 storage-full", "failed \(StoreError.full(path: "/data"))", "published 1", "answered a/2 1"])
    }

    @Test func aDropResetsTheNamespaceForTheFeed() throws {
        // Given
        let fixture = try StoreFixture(.memory)
        try fixture.put("a/1", "1")
        let old = try fixture.store.state(of: fixture.namespace).epoch
        let recorder = (CompletionRecorder<SingleReceipt>(), CompletionRecorder<Bool>())
        let write = SingleWrite(key: try RecordKey("a/2"), operation: .put(json: "1"))
        // When
        let group = try GroupCommit.commit(
            [
                .single(write, in: fixture.namespace, then: recorder.0.record), .drop(fixture.namespace, then: recorder.1.record),
                .single(write, in: fixture.namespace, then: recorder.0.record),
            ], to: fixture.store, at: WriteTime(milliseconds: 1), editLimit: 1)
        // Then
        #expect(group.commits.map(\.isReset) == [false, true])
        #expect(group.commits.map(\.changes.count) == [0, 1])
        #expect(group.commits[0].cursor.epoch == old)
        #expect(try group.commits[1].cursor == fixture.store.state(of: fixture.namespace).cursor)
        #expect(group.commits[1].cursor.epoch != old)
        #expect(group.commits[1].replaced == old)
        #expect(group.commits[1].base == Cursor(epoch: group.commits[1].cursor.epoch, revision: .zero))
    }

    @Test(arguments: StoreKind.allCases) func aCommitStatesThePositionThatItsTransactionFound(_ kind: StoreKind) throws {
        // Given
        let fixture = try StoreFixture(kind)
        let other = try Namespace("other")
        let unmade = try fixture.store.state(of: fixture.namespace).cursor
        let recorder = CompletionRecorder<SingleReceipt>()
        func group(_ namespaces: Namespace...) throws -> [NamespaceCommit] {
            let write = SingleWrite(key: try RecordKey("a/1"), operation: .put(json: "1"))
            return try GroupCommit.commit(
                namespaces.map { .single(write, in: $0, then: recorder.record) }, to: fixture.store, at: WriteTime(milliseconds: 1),
                editLimit: 1
            ).commits
        }
        // When
        let (first, second) = (try group(fixture.namespace, other, fixture.namespace), try group(fixture.namespace))
        // Then: the group's first change has the base, whatever came between
        #expect(first.map(\.base) == [unmade, try fixture.store.state(of: other).cursor.at(0)])
        #expect(first.map(\.cursor.revision.number) == [2, 1])
        #expect(second.map(\.base) == [try fixture.cursor(2)])
        // And one that renews the epoch begins where the old history ended
        let renewal = try GroupCommit.commit(
            [.renewEpoch(of: fixture.namespace, seed: 7) { _ in }], to: fixture.store, at: WriteTime(milliseconds: 1), editLimit: 1
        ).commits
        #expect(renewal.map(\.base) == [try fixture.cursor(3)])
        #expect(renewal.map(\.replaced) == [unmade.epoch])
    }

    @Test func aProbeWritesToTheDisk() throws {
        let fixture = try StoreFixture(.sqlite)
        let committed = try fixture.commit { Submission.probe(then: $0) }
        try committed.result.get()
    }
}

extension Cursor {
    fileprivate func at(_ number: Int64) -> Cursor { Cursor(epoch: epoch, revision: Revision(number) ?? .maximum) }
}
