import FreshetTestSupport
import FreshetWire
import Synchronization
import Testing

@testable import FreshetServer

@Suite("What a transaction is about to use")
struct TransactionScopeTests {
    private let shop: Namespace
    private let phone: ClientIdentifier

    init() throws {
        shop = try Namespace("shop")
        phone = try ClientIdentifier("phone")
    }

    private func scope(of submissions: [Submission]) throws -> TransactionScope {
        let scopes = Mutex<[TransactionScope]>([])
        let store = ObservedStore(MemoryRecordStore(seed: 1)) { call in
            if case .transaction(let scope) = call { scopes.withLock { $0.append(scope) } }
        }
        try GroupCommit.commit(submissions, to: store, at: WriteTime(milliseconds: 0), editLimit: 1_000, room: 5_000).complete()
        return try #require(scopes.withLock { $0.count == 1 ? $0.first : nil })
    }

    private func single(_ key: String, _ operation: WriteOperation, in namespace: Namespace, by author: Change.Author? = nil) throws
        -> Submission
    {
        .single(SingleWrite(key: try RecordKey(key), operation: operation, author: author), in: namespace) { _ in }
    }

    private func record(_ key: String, in namespace: Namespace, wantsValue: Bool = false) throws -> TransactionScope.Record {
        TransactionScope.Record(namespace: namespace, key: try RecordKey(key), wantsValue: wantsValue)
    }

    @Test("single writes name their records, and the values that patches and increments read")
    func singles() throws {
        // Given
        let attic = try Namespace("attic")
        let increment = WriteOperation.increment(path: try JSONPointer("/n"), by: .integer(1))
        // When
        let scope = try scope(of: [
            single("a/1", .put(json: "1"), in: shop), single("a/2", .patch(Array("{}".utf8)), in: shop),
            single("a/3", increment, in: attic), single("a/1", .delete, in: attic),
        ])
        // Then
        #expect(scope.namespaces == [attic, shop])
        #expect(
            try scope.records == [
                record("a/1", in: shop), record("a/2", in: shop, wantsValue: true), record("a/3", in: attic, wantsValue: true),
                record("a/1", in: attic),
            ])
        #expect(scope.clients.isEmpty && !scope.isWholeStore)
        #expect(scope.valueLimit == 1_000 && scope.room == 5_000)
    }

    @Test("a record that comes twice is named once, in its first place, with its value if either wants it")
    func merged() throws {
        let patch = WriteOperation.patch(Array("{}".utf8))
        let scope = try scope(of: [
            single("a/1", .put(json: "{}"), in: shop), single("a/2", patch, in: shop), single("a/1", patch, in: shop),
            single("a/2", .delete, in: shop),
        ])
        #expect(try scope.records == [record("a/1", in: shop, wantsValue: true), record("a/2", in: shop, wantsValue: true)])
    }

    @Test("numbered writes name their device with its numbers, and first names of writes that have moved")
    func clients() throws {
        // Given
        let tablet = try ClientIdentifier("tablet")
        var moved = Write(number: 9, key: try RecordKey("a/3"), operation: .put(json: "3"))
        moved.nonce = 17
        moved.origin = Write.Origin(client: tablet, number: 4)
        var other = moved
        (other.number, other.origin) = (10, Write.Origin(client: tablet, number: 6))
        let batch = WriteBatch(client: phone, writes: [Write(number: 8, key: try RecordKey("a/2"), operation: .delete), moved, other])
        // When
        let scope = try scope(of: [
            single("a/1", .put(json: "1"), in: shop, by: Change.Author(client: phone, write: 7)), .batch(batch, in: shop) { _ in },
        ])
        // Then
        #expect(scope.namespaces == [shop])
        #expect(try scope.records == ["a/1", "a/2", "a/3"].map { try record($0, in: shop) })
        #expect(
            scope.clients == [
                TransactionScope.Client(namespace: shop, client: phone, numbers: 7...10),
                TransactionScope.Client(namespace: shop, client: tablet, numbers: 4...6),
            ])
    }

    @Test("operations on one namespace name it, and those on the store name none")
    func others() throws {
        let one = [
            Submission.invalidate([.everything], in: shop) { _ in }, .drop(shop) { _ in }, .renewEpoch(of: shop, seed: 1) { _ in },
            .forgetDeletes(of: shop) { _ in },
        ]
        for submission in one {
            #expect(try scope(of: [submission]) == TransactionScope(namespaces: [shop], valueLimit: 1_000, room: 5_000))
        }
        let all = [
            Submission.rotateEpochs(seed: 1) { _ in }, .compact(before: Timestamp(milliseconds: 0)) { _ in },
        ]
        for submission in all {
            #expect(try scope(of: [submission]) == TransactionScope(isWholeStore: true, valueLimit: 1_000, room: 5_000))
        }
        let access = Submission.access { (_: Committed<Void>) in
        } _: { _ in
            .success(())
        }
        #expect(try scope(of: [access]) == TransactionScope(isWholeStore: true, changesAccess: true, valueLimit: 1_000, room: 5_000))
        #expect(try scope(of: [.probe { _ in }]) == TransactionScope(valueLimit: 1_000, room: 5_000))
    }

    @Test("no scope is made for a store that does not ask")
    func lazy() throws {
        let store = MemoryRecordStore(seed: 1)
        try store.transaction(
            touching: {
                Issue.record("the scope was asked for")
                return .wholeStore
            }
        ) { _ in }
    }

    @Test("a group that runs several times answers as one that runs once")
    func runAgain() throws {
        // Given
        let (once, again) = (MemoryRecordStore(seed: 1), MemoryRecordStore(seed: 1))
        let author = Change.Author(client: phone, write: 1)
        func commit(to store: any RecordStore) throws -> (answers: [String], commits: [NamespaceCommit]) {
            let answers = Mutex<[String]>([])
            let increment = WriteOperation.increment(path: try JSONPointer("/n"), by: .integer(1))
            let batch = WriteBatch(
                client: phone, atomic: true,
                writes: [
                    Write(number: 2, key: try RecordKey("a/1"), operation: increment),
                    Write(number: 3, key: try RecordKey("a/2"), operation: .delete),
                ])
            let group = try GroupCommit.commit(
                [
                    .single(SingleWrite(key: try RecordKey("a/1"), operation: .put(json: #"{"n":1}"#), author: author), in: shop) {
                        committed in
                        answers.withLock { $0.append("\(committed)") }
                    },
                    .batch(batch, in: shop) { committed in answers.withLock { $0.append("\(committed)") } },
                    .invalidate([.everything], in: shop) { committed in answers.withLock { $0.append("\(committed)") } },
                    .drop(try Namespace("none")) { committed in answers.withLock { $0.append("\(committed)") } },
                ], to: store, at: WriteTime(milliseconds: 5), editLimit: 1_000)
            // Then no owner hears of a run before the caller says so
            #expect(answers.withLock { $0.isEmpty })
            group.complete()
            return (answers.withLock { $0 }, group.commits)
        }
        // When
        let expected = try commit(to: once)
        let found = try commit(to: ObservedStore(again, undoneRuns: 2))
        // Then
        #expect(found.answers == expected.answers && found.answers.count == 4)
        #expect(found.commits == expected.commits)
        #expect(again.record(try RecordKey("a/1"), in: shop) == once.record(try RecordKey("a/1"), in: shop))
        #expect(again.state(of: shop) == once.state(of: shop))
    }
}
