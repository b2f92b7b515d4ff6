import FreshetTestSupport
import FreshetTransport
import HTTPTypes
import Testing

/// Requests that wait for a name or for a connection.
@Suite("Requests that wait") struct WaitingRequestTests {
    @Test(
        "a request that is cancelled during name resolution blocks no other request",
        .enabled(if: SmallDisk.isAvailable, "it needs root, to replace the name server"))
    func nameResolution() async throws {
        // Given a transport whose name server does not answer for 30 seconds, and a request that waits for a name
        let nameServer = try SilentNameServer()
        let server = ScriptedServer { connection in
            while connection.request() != nil { connection.respond("x") }
        }
        let transport = try await nameServer.onThread { try CurlTransport() }
        let held = Task { await transport.reply(to: HTTPRequestDescription(url: "http://freshet.test/")) }
        _ = try await first(of: nameServer.queries) { _ in true }
        // When the request is cancelled
        held.cancel()
        // Then it ends, and a request to another server is answered
        #expect(try await within(.seconds(20)) { await held.value } == .failure(.aborted))
        #expect(try await within(.seconds(20)) { await transport.reply(to: HTTPRequestDescription(url: server.url)) }.get().status == 200)
    }

    @Test("a request that waits for a connection ends when its time is up")
    func connection() async throws {
        // Given a transport with one connection, which a request occupies
        let (arrived, continuation) = AsyncStream.makeStream(of: Void.self)
        let server = ScriptedServer { connection in
            _ = connection.request()
            continuation.yield()
            connection.waitUntilClosed()
        }
        var configuration = CurlTransport.Configuration()
        configuration.maximumConnections = 1
        let transport = try CurlTransport(configuration)
        let held = Task { await transport.reply(to: HTTPRequestDescription(url: server.url, timeout: .seconds(600))) }
        for await _ in arrived { break }
        // When another request has less time
        let request = HTTPRequestDescription(url: server.url, timeout: .milliseconds(20))
        // Then it ends, and the first continues
        #expect(try await within { await transport.reply(to: request) } == .failure(.timedOut()))
        #expect(server.connections == 1)
        held.cancel()
        #expect(await held.value == .failure(.aborted))
    }

    @Test("any number of connections can be configured", arguments: [Int.min, 0, .max])
    func numberOfConnections(_ number: Int) async throws {
        let server = ScriptedServer { connection in
            while connection.request() != nil { connection.respond("x") }
        }
        var configuration = CurlTransport.Configuration()
        configuration.maximumConnections = number
        let transport = try CurlTransport(configuration)
        for _ in 1...2 {
            #expect(try await within { await transport.reply(to: HTTPRequestDescription(url: server.url)) }.get().status == 200)
        }
    }
}
