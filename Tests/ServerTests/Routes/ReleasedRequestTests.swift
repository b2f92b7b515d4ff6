import FreshetWire
import Synchronization
import Testing

@testable import FreshetServer

/// A release of all waiters does not find a request that is in the store.
@Suite("Requests that are in the store during a release of all waiters") struct ReleasedRequestTests {
    private static let target = "/v1/shop/changes?since=0&collection=c"

    /// A server with an open feed, without changes of the collection. Its clock stands still, so that no wait ends by time.
    ///
    /// - Parameter body: calls `arm` to make the next read of the store release all waiters first.
    private static func with(
        releases: Int, _ body: (TestServer, _ arm: @escaping @Sendable () -> Void) async throws -> Void
    ) async throws {
        let action = Mutex<(@Sendable () -> Void)?>(nil)
        let store = ObservedStore(MemoryRecordStore(seed: 1)) { call in
            if call == .read, let release = action.withLock({ $0.take() }) { release() }
        }
        let server = try TestServer(sharing: SharedStore(store), environment: TestClock().environment)
        let core = try #require(server.server.core)
        try await server.put("/v1/shop/records/a/1", "1")
        #expect(try await server.request("GET", "/v1/shop/changes?since=0&wait=0&collection=a").status == 200)
        try await body(server) { action.withLock { $0 = { core.feeds.releaseAllWaiters() } } }
        #expect(core.feeds.releases == releases)
        await server.server.stop()
    }

    @Test("a poll is answered, and so is its repetition") func polls() async throws {
        try await Self.with(releases: 2) { server, arm in
            // When a connection polls twice, and each time the release comes before the store answers
            let replies = try await server.thread { connection in
                try (0..<2).map { _ in
                    arm()
                    return try connection.request("GET", Self.target + "&wait=60")
                }
            }
            // Then both get their position
            #expect(replies.map(\.status) == [204, 204] && replies.allSatisfy { $0.cursor != nil })
        }
    }

    @Test("a stream ends") func stream() async throws {
        try await Self.with(releases: 1) { server, arm in
            // When
            arm()
            let body = try await server.thread { connection in
                try connection.sendRequest("GET", Self.target, [("Accept", "text/event-stream")])
                _ = try connection.read(through: "\r\n\r\n")
                return try connection.readEvent()
            }
            // Then
            #expect(body.isEmpty)
        }
    }
}
