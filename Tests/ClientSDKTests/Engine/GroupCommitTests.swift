import FreshetTestSupport
import FreshetTransport
import FreshetWire
import Testing

@testable import FreshetClient

@Suite struct GroupCommitTests {
    private let directory = TemporaryDirectory()

    @Test("writes that are made while another waits for the disk share the next transaction")
    func shared() async throws {
        // Given a client without a server
        let client = try ServerFixture.client("http://127.0.0.1:9", storage: .directory(directory.path))
        try await client.start()
        // When 300 writes are queued before the first has been committed
        let rows = await client.engine.write(300)
        // Then the first is a transaction, and the others are the next
        #expect(rows.first == 1 && rows.second == 299)
        #expect(try await client.notes.ids(policy: .cacheOnly).count == 300)
        await client.stop()
        // And all are on disk
        try await client.start()
        #expect(client.status.waitingWrites == 300)
        await client.stop()
    }

    @Test("a clear that is asked for behind writes removes them, whichever have been committed")
    func clear() async throws {
        let client = try ServerFixture.client("http://127.0.0.1:9", storage: .directory(directory.path))
        try await client.start()
        _ = await client.engine.write(20)
        try await client.clear()
        #expect(try await client.notes.ids(policy: .cacheOnly).isEmpty)
        await client.stop()
        try await client.start()
        #expect(client.status.waitingWrites == 0)
        #expect(try await client.notes.ids(policy: .cacheOnly).isEmpty)
        await client.stop()
    }
}

extension Engine {
    /// Hands the machine so many writes in one job of the engine. Returns how many rows the transaction has that waits then, and how many the
    /// one that waits when that has been committed.
    fileprivate func write(_ count: Int) async -> (first: Int?, second: Int?) {
        for number in 1...count {
            guard let key = try? RecordKey(collection: "notes", id: "\(number)") else { continue }
            submit(.set(SetRequest(callerID: nextCallerID(), key: key, operation: .put(Content(checkedJSON: Array("{}".utf8))), base: nil)))
        }
        let first = waitingRows
        let second = await withCheckedContinuation { continuation in
            transport.run { @Sendable [self] in assumeIsolated { continuation.resume(returning: $0.waitingRows) } }
        }
        return (first, second)
    }

    /// How many rows the transaction has that waits; `nil` where none does.
    fileprivate var waitingRows: Int? { uncommitted.first?.outbox.count }
}
