import Dispatch
import FreshetWire
import Synchronization
import Testing

@testable import FreshetServer

/// A committer with several lanes, over a store that runs transactions of different namespaces at once.
@Suite("A committer with lanes") struct LaneCommitTests {
    /// Keeps each namespace in a separate store, so that no transaction waits for another by itself.
    private final class ParallelStore: ForwardingStore {
        let answersAtOnce = false
        let lanes: Int
        private let rest = MemoryRecordStore(seed: 1)
        var reads: any RecordStore { rest }
        private let stores: [Namespace: MemoryRecordStore]
        /// How many transactions are in progress, and the most that were.
        let inProgress = Mutex<(now: Int, most: Int)>((0, 0))

        init(_ namespaces: [Namespace], lanes: Int) {
            self.lanes = lanes
            stores = Dictionary(uniqueKeysWithValues: namespaces.map { ($0, MemoryRecordStore(seed: 1)) })
        }

        func transaction<Result: Sendable>(
            touching scope: () -> TransactionScope, _ body: @Sendable (any RecordTransaction) throws -> Result
        ) throws -> Result {
            inProgress.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            defer { inProgress.withLock { $0.now -= 1 } }
            return try (scope().namespaces.first.flatMap { stores[$0] } ?? rest).transaction(touching: scope, body)
        }
    }

    private static func committer(over store: ParallelStore) -> Committer {
        Committer(
            store: store, clock: { WriteTime(milliseconds: 5) }, now: { 0 }, onFailure: { Issue.record("\($0)") }, onCommit: { _ in })
    }

    private static func stop(_ committer: Committer) async {
        await withCheckedContinuation { continuation in committer.stop { continuation.resume() } }
    }

    /// Namespaces, one of each lane.
    private static func namespaces(lanes: Int) throws -> [Namespace] {
        try (0..<lanes).map { lane in
            let names = try (0..<100).map { try Namespace("tenant-\($0)") }
            return try #require(names.first { CommitLanes<Submission>.Destination($0, of: lanes) == .lane(lane) })
        }
    }

    @Test func namespacesOfDifferentLanesAreCommittedAtOnce() async throws {
        // Given two transactions that each wait until the other is in progress
        let namespaces = try Self.namespaces(lanes: 2)
        let store = ParallelStore(namespaces, lanes: 2)
        let committer = Self.committer(over: store)
        let barrier = [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)]
        let answers = Mutex(0)
        // When
        for (number, namespace) in namespaces.enumerated() {
            committer.submit(
                Submission(reaching: .namespace(namespace)) { (_: Committed<Void>) in
                    answers.withLock { $0 += 1 }
                } _: { _ in
                    barrier[1 - number].signal()
                    barrier[number].wait()
                    return Committed(.success(()), nil)
                })
        }
        await Self.stop(committer)
        // Then
        #expect(answers.withLock { $0 } == 2 && store.inProgress.withLock { $0.most } == 2)
    }

    @Test func writesOfANamespaceKeepTheirOrder() async throws {
        let namespaces = try Self.namespaces(lanes: 4)
        let committer = Self.committer(over: ParallelStore(namespaces, lanes: 4))
        let revisions = Mutex<[Namespace: [Int64]]>([:])
        for number in 1...200 {
            for namespace in namespaces {
                let write = SingleWrite(key: try RecordKey("a/\(number)"), operation: .put(json: "1"))
                committer.submit(
                    .single(write, in: namespace) { committed in
                        let revision = (try? committed.result.get())?.revision?.number
                        revisions.withLock { $0[namespace, default: []].append(revision ?? 0) }
                    })
            }
            // Exclusive groups come in between.
            if number % 20 == 0 { committer.submit(.compact(before: Timestamp(milliseconds: 0)) { _ in }) }
        }
        await Self.stop(committer)
        for namespace in namespaces { #expect(revisions.withLock { $0[namespace] } == Array(1...200)) }
    }

    /// As a key is revoked: it is removed, and the answer is sent, by the completion of the stored revocation.
    @Test func noWriteIsAppliedAfterARevocationWasAnswered() async throws {
        // Given writers in every lane that check the key within their transactions, and a revocation among their writes
        let namespaces = try Self.namespaces(lanes: 3)
        let store = ParallelStore(namespaces, lanes: 3)
        for round in 0..<40 {
            let committer = Self.committer(over: store)
            let isRevoked = Atomic(false)
            let isAnswered = Atomic(false)
            let late = Atomic(0)
            for number in 0..<60 {
                if number == round {
                    committer.submit(
                        .access { (_: Committed<Void>) in
                            isRevoked.store(true, ordering: .sequentiallyConsistent)
                            isAnswered.store(true, ordering: .sequentiallyConsistent)
                        } _: { _ in
                            .success(())
                        })
                }
                committer.submit(
                    Submission(reaching: .namespace(namespaces[number % 3])) { (_: Committed<Void>) in
                    } _: { context in
                        guard !isRevoked.load(ordering: .sequentiallyConsistent) else { return Committed(.success(()), nil) }
                        // Some work between the check and the commit.
                        for place in 0..<20 {
                            _ = try context.transaction.namespace(namespaces[number % 3]).record(try RecordKey("a/\(place)"))
                        }
                        if isAnswered.load(ordering: .sequentiallyConsistent) { late.add(1, ordering: .sequentiallyConsistent) }
                        return Committed(.success(()), nil)
                    })
            }
            await Self.stop(committer)
            // Then none that has passed the check commits after the answer
            #expect(isAnswered.load(ordering: .sequentiallyConsistent) && late.load(ordering: .sequentiallyConsistent) == 0)
        }
    }

    @Test func aRevocationWaitsForTheTransactionsInProgress() async throws {
        // Given a transaction that has passed its check
        let namespaces = try Self.namespaces(lanes: 2)
        let committer = Self.committer(over: ParallelStore(namespaces, lanes: 2))
        let (entered, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let journal = Mutex<[String]>([])
        func write(_ name: String, in namespace: Namespace, waits: Bool) -> Submission {
            Submission(reaching: .namespace(namespace)) { (_: Committed<Void>) in
                journal.withLock { $0.append(name) }
            } _: { _ in
                if waits {
                    entered.signal()
                    gate.wait()
                }
                return Committed(.success(()), nil)
            }
        }
        committer.submit(write("before", in: namespaces[0], waits: true))
        entered.wait()
        // When a key is revoked, and another lane has work
        committer.submit(
            .access { (_: Committed<Void>) in
                journal.withLock { $0.append("revoked") }
            } _: { _ in
                .success(())
            })
        committer.submit(write("after", in: namespaces[1], waits: false))
        #expect(committer.waiting == 2)
        gate.signal()
        await Self.stop(committer)
        // Then
        #expect(journal.withLock { $0 } == ["before", "revoked", "after"])
    }
}
