import FreshetWire
import Synchronization
import Testing

@testable import FreshetServer

/// A catch-up that finds nothing goes on in stretches, between which its client may leave.
@Suite("Catch-ups whose client leaves") struct EndlessCatchUpTests {
    /// A store whose history has no end, and nothing that a filter matches.
    private final class EndlessStore: ForwardingStore {
        let reads: any RecordStore = MemoryRecordStore(seed: 1)
        private let count = Atomic<Int>(0)
        private let hasEnd = Atomic<Bool>(false)

        var identifier: StoreIdentifier { reads.identifier }
        var answersAtOnce: Bool { true }
        var lanes: Int { 1 }

        /// The number of stretches that were read.
        var scans: Int { count.load(ordering: .relaxed) }

        /// Has the next stretch be the last.
        func end() { hasEnd.store(true, ordering: .relaxed) }

        func changes(_ query: ChangeQuery, in namespace: Namespace) throws(StoreError) -> Snapshot<ChangeQueryResult> {
            count.add(1, ordering: .relaxed)
            let state = try reads.state(of: namespace)
            let isComplete = hasEnd.load(ordering: .relaxed)
            let reached = Cursor(epoch: state.epoch, revision: .zero, goal: .origin(state.head))
            let scanned = ScannedChanges(changes: [], reached: isComplete ? state.cursor : reached, isComplete: isComplete)
            return Snapshot(.changes(scanned), state, lastWrite: query.client.map { _ in 0 })
        }

        func transaction<Result: Sendable>(
            touching scope: () -> TransactionScope, _ body: @Sendable (any RecordTransaction) throws -> Result
        ) throws -> Result {
            try reads.transaction(touching: scope, body)
        }
    }

    private static func with(_ body: (TestServer, EndlessStore) async throws -> Void) async throws {
        let store = EndlessStore()
        let server = try TestServer(sharing: SharedStore(store))
        do {
            try await server.put("/v1/shop/records/fruits/apple", "1")
            try await body(server, store)
            store.end()
            await server.server.stop()
        } catch {
            store.end()
            await server.server.stop()
            throw error
        }
    }

    @Test("a poll that scans is answered with its position once its client has closed its sending side", arguments: ["", "&client=phone"])
    func aPollEnds(parameter: String) async throws {
        try await Self.with { server, _ in
            // Given
            let reply = try await server.thread { connection in
                try connection.sendRequest("GET", "/v1/shop/changes?since=0&prefix=x&wait=0\(parameter)")
                // When
                connection.finish()
                return try connection.readReply()
            }
            // Then
            let page = try reply.message(ChangePage.self)
            let origin = try #require(Revision(1))
            #expect(reply.status == 200 && page.changes.isEmpty && !page.upToDate)
            #expect(page.cursor.goal == .origin(origin))
        }
    }

    @Test("a stream that scans reads no further once its client has left")
    func aStreamEnds() async throws {
        try await Self.with { server, store in
            // Given
            try await server.thread { connection in
                try connection.sendRequest("GET", "/v1/shop/changes?since=0&prefix=x", [("Accept", "text/event-stream")])
                _ = try connection.readHead()
                // When
                connection.finish()
                while try !connection.readChunk().isEmpty {}
            }
            // Then at most the stretch that was being read is counted, while the queue does other work
            let reads = try #require(server.server.core?.reads)
            let before = store.scans
            for _ in 0..<100 {
                await withCheckedContinuation { continuation in
                    _ = reads.submit(isContinuation: true) { continuation.resume() }
                }
            }
            #expect(store.scans <= before + 1)
        }
    }
}
