import Dispatch
import FreshetTestSupport
import FreshetTransport
import Testing

@testable import FreshetClient

@Suite("Rights that arrive as the client stops") struct LateRightsTests {
    @Test("do not belong to its next run")
    func nextRun() async throws {
        // Given a server that sends the rights of a token when the test allows it
        let (asked, continuation) = AsyncStream.makeStream(of: Void.self)
        let (allowed, sent) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let server = ScriptedServer { connection in
            while let (head, _) = connection.request() {
                let isRights = head.contains("/rights")
                if isRights {
                    continuation.yield()
                    allowed.wait()
                } else if !head.contains("wait=0") {
                    return connection.waitUntilClosed()
                }
                connection.respond(
                    isRights ? #"{"read":["*"]}"# : #"{"changes":[],"cursor":"a-9","upToDate":true}"#,
                    fields: "Freshet-Cursor: a-9\r\nFreshet-Last-Write: 0\r\nContent-Type: application/json\r\n")
                if isRights { sent.signal() }
            }
        }
        let client = try ServerFixture.client(server.url) { $0.token = { _ in "earlier" } }
        try await client.start()
        try await within { for await _ in asked { return } }
        // When they arrive in the job that stops the client
        await client.engine.stop {
            allowed.signal()
            sent.wait()
        }
        // Then they are dropped when their transfer ends, which is before the engine's next job
        #expect(await client.engine.tokenRights.rights == nil)
        #expect(client.status.rights == nil)
    }
}

extension Engine {
    /// Stops in the same job in which libcurl reads a response, whose transfer ends behind the job.
    fileprivate func stop(after receive: @Sendable () -> Void) {
        receive()
        transport.send(HTTPRequestDescription(url: "http://127.0.0.1:9")) { _ in }
        stop()
    }
}
