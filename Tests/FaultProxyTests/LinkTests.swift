import FreshetFaultProxy
import FreshetServer
import FreshetTestSupport
import FreshetWire
import Glibc
import Testing

/// What a test does to the link as a whole, and to single responses.
@Suite("A proxy's link", .timeLimit(.minutes(5)))
struct LinkTests {
    private func health(_ port: Int) async throws -> String {
        try await connected(to: port) { connection in
            connection.send("GET", "/healthz", [("Connection", "close")])
            return connection.rest()
        }
    }

    @Test func aLinkIsBrokenUntilItIsAcceptedAgain() async throws {
        // Given an open connection
        let server = try RecordServer.running()
        let proxy = try FaultProxy(to: server.address?.port ?? 0)
        let (mayGoOn, goOn) = AsyncStream.makeStream(of: Void.self)
        async let open = connected(to: proxy.port) { connection in
            connection.send("GET", "/healthz")
            let first = try connection.reply().status
            goOn.yield()
            return (first, connection.rest())
        }
        for await _ in mayGoOn { break }
        // When the link breaks
        proxy.refuse()
        // Then the connection ends, and new ones do
        let (status, rest) = try await open
        #expect(status == 200 && rest.isEmpty)
        #expect(try await health(proxy.port).isEmpty)
        // Until connections are accepted again, also by another server
        let other = try RecordServer.running()
        proxy.retarget(to: other.address?.port ?? 0)
        proxy.acceptAgain()
        await server.stop()
        #expect(try await health(proxy.port).hasPrefix("HTTP/1.1 200"))
        await other.stop()
    }

    @Test func aHeldResponseIsOfARequestThatTookEffect() async throws {
        // Given
        let server = try RecordServer.running()
        let control = try #require(ServerControl(server))
        let proxy = try FaultProxy(to: server.address?.port ?? 0)
        proxy.hold(answersTo: "PUT /v1/shop/")
        // When a write's response is held back
        async let reply = connected(to: proxy.port) { connection in
            connection.send("PUT", "/v1/shop/records/c/1", [], "x")
            return try connection.reply()
        }
        var held = proxy.heldRequests.makeAsyncIterator()
        #expect(await held.next() == "PUT /v1/shop/records/c/1 HTTP/1.1")
        while try await control.record(RecordKey(collection: "c", id: "1"), in: Namespace("shop")) == nil { await Task.yield() }
        // Then it comes with the release, and the next is not held back
        proxy.release()
        #expect(try await reply.status == 201)
        #expect(try await health(proxy.port).hasPrefix("HTTP/1.1 200"))
        await server.stop()
    }

    @Test func aProxyThatIsReleasedClosesItsPort() async throws {
        let server = try RecordServer.running()
        var proxy: FaultProxy? = try FaultProxy(to: server.address?.port ?? 0)
        let port = try #require(proxy?.port)
        #expect(try await health(port).hasPrefix("HTTP/1.1 200"))
        proxy = nil
        // A child that another test has just forked has the port until it runs its own program.
        try await within {
            while let other = Sockets.connect(port: UInt16(port)) {
                close(other)
                try Task.checkCancellation()
                await Task.yield()
            }
        }
        await server.stop()
    }
}
