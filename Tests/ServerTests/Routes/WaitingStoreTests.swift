import Dispatch
import FreshetWire
import Synchronization
import Testing

@testable import FreshetServer

/// What ``BothStores`` does not show.
@Suite("A store that does not answer at once") struct WaitingStoreTests {
    private static func with(_ watch: StoreWatch, _ body: (TestServer) async throws -> Void) async throws {
        try await StoreWatch.$current.withValue(watch) {
            // A feed without recent changes leaves memory after some seconds.
            try await TestServer.with(environment: TestClock().environment) { try await body($0) }
        }
    }

    @Test func theWatchSeesACallOnAnEventLoop() async throws {
        // Given a store that claims to answer at once, so that the loops ask it
        let queues = Mutex<Set<String>>([])
        let store = ObservedStore(MemoryRecordStore(seed: 1)) { call in
            if call == .read { queues.withLock { _ = $0.insert(StoreWatch.currentQueue) } }
        }
        let server = try TestServer(sharing: SharedStore(store))
        // The start reads the clock of the store, on the starter's thread.
        queues.withLock { $0 = [] }
        // When
        _ = try await server.request("GET", "/v1/shop/records/fruits/apple")
        await server.server.stop()
        // Then
        #expect(queues.withLock { $0 } == ["freshet.loop"])
    }

    @Test func anErrorHasThePositionOfAnOpenFeedAndElseNone() async throws {
        let watch = StoreWatch()
        try await Self.with(watch) { server in
            // Given
            let written = try await server.put("/v1/shop/records/fruits/apple", "1")
            // When
            let closed = try await server.request("GET", "/v1/shop/records/a%20b/apple")
            _ = try await server.request("GET", "/v1/shop/changes?since=\(written.cursor)&wait=0")
            let open = try await server.request("GET", "/v1/shop/records/a%20b/apple")
            // Then
            #expect(closed.status == 400 && closed.cursor == nil)
            #expect(open.status == 400 && open.cursor == written.cursor)
            #expect(watch.faults.isEmpty && watch.calls > 0)
        }
    }

    @Test func lookupsAreRefusedWhileTooManyReadsWait() async throws {
        var configuration = RecordServerConfiguration()
        configuration.pendingReads = 4
        let watch = StoreWatch()
        try await StoreWatch.$current.withValue(watch) {
            try await TestServer.with(configuration) { server in
                // Given a read queue that takes nothing more
                let reads = try #require(server.server.core?.reads)
                let gate = DispatchSemaphore(value: 0)
                for _ in 0..<4 {
                    while !reads.submit({ gate.wait() }) { await Task.yield() }
                }
                // When a record is asked for
                let refused = try await server.request("GET", "/v1/shop/records/fruits/apple")
                for _ in 0..<4 { gate.signal() }
                // Then
                #expect(refused.status == 503 && refused.problem?.code == .overloaded && refused["Retry-After"] != nil)
                var reply = try await server.request("GET", "/v1/shop/records/fruits/apple")
                while reply.status == 503 { reply = try await server.request("GET", "/v1/shop/records/fruits/apple") }
                #expect(reply.status == 404 && reply.cursor != nil)
            }
        }
    }
}
