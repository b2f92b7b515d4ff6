import Glibc
import HTTPTypes
import Logging
import Testing

@testable import FreshetSocketHTTP

@Suite("Life of a server")
struct LifecycleTests {
    @Test("Draining answers waiting requests, ends streams' time, and closes")
    func drain() async throws {
        // Given a client that waits, an idle one, and an application that answers its waiters when it drains
        let server = try TestServer(onDrain: { parked in
            for exchange in parked.takeAll() { exchange.respond(.text("bye")) }
        })
        let idle = Client(try RawClient(port: server.port))
        #expect(
            try await idle.run {
                $0.send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n"); return try $0.reply().status
            } == 200)
        let waiting = Client(try RawClient(port: server.port))
        try await waiting.run { $0.send("GET /park HTTP/1.1\r\nHost: x\r\n\r\n") }
        let parked = await server.parked.take(1)
        for exchange in parked { server.parked.add(exchange) }

        // When it drains
        async let drained: Void = server.server.drain(within: .seconds(120))

        // Then the waiting client is answered with a close, the idle one is closed, and no new one is accepted
        let reply = try await waiting.run { try $0.reply() }
        #expect(reply.text == "bye")
        #expect(reply["Connection"] == "close")
        #expect(try await waiting.run { try $0.isAtEnd() })
        #expect(try await idle.run { try $0.isAtEnd() })
        try await waiting.run { $0.finish() }
        await drained
        #expect(throws: RawClient.Failure.connect(ECONNREFUSED)) { try RawClient(port: server.port) }
        #expect(server.server.statistics().connectionsOpen == 0)
        #expect(server.server.statistics().requests == 2)
    }

    @Test("A connection that outlives the time limit is closed, and its handler is notified")
    func drainLimit() async throws {
        // Given a client that waits, and an application that does nothing when it drains
        let server = try TestServer()
        let client = Client(try RawClient(port: server.port))
        try await client.run { $0.send("GET /park HTTP/1.1\r\nHost: x\r\n\r\n") }
        let exchange = await server.parked.take(1)[0]
        let gone = Signal()
        exchange.onCancel { gone.happen() }

        // When it drains, twice at once, Then both return, and the waiting one is closed
        async let first: Void = server.server.drain(within: .milliseconds(50))
        async let second: Void = server.server.drain(within: .milliseconds(50))
        _ = await (first, second)
        await gone.wait()
        #expect(try await client.run { try $0.isAtEnd() })
        #expect(!exchange.respond(.text("late")))
        await server.server.drain(within: .zero)
    }

    @Test("A request that is arriving while the server drains is served")
    func drainInFlight() async throws {
        let server = try TestServer()
        let client = Client(try RawClient(port: server.port))
        try await client.run { $0.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n") }
        #expect(try await client.run { try $0.reply().status } == 100)
        async let drained: Void = server.server.drain(within: .seconds(120))
        let reply = try await client.run {
            $0.send("body"); return try $0.reply()
        }
        #expect(reply.text == "body")
        _ = try await client.run { $0.finish() }
        await drained
    }

    @Test("A server that is released closes its connections")
    func released() async throws {
        var server: TestServer? = try TestServer()
        let port = try #require(server?.port)
        let client = Client(try RawClient(port: port))
        #expect(
            try await client.run {
                $0.send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n"); return try $0.reply().status
            } == 200)
        server = nil
        #expect(try await client.run { try $0.isAtEnd() })
    }

    @Test("A server starts once")
    func once() async throws {
        let server = try TestServer()
        #expect(throws: SocketHTTPError.alreadyStarted) { try server.server.start() }
        await server.server.drain(within: .zero)
        #expect(throws: SocketHTTPError.alreadyStarted) { try server.server.start() }
    }

    @Test("Draining a server that never started returns")
    func neverStarted() async {
        let server = HTTPServer(configuration: HTTPServerConfiguration(), router: Router(), logger: Logger(label: "test"))
        await server.drain(within: .seconds(1))
        #expect(server.statistics() == HTTPServerStatistics())
    }

    private static func start(_ host: String, _ port: Int) throws -> BoundAddress {
        let configuration = HTTPServerConfiguration(host: host, port: port)
        return try HTTPServer(configuration: configuration, router: Router(), logger: Logger(label: "test")).start()
    }

    @Test("A port that is taken is named in the error")
    func addressInUse() throws {
        let server = try TestServer()
        let error = #expect(throws: SocketHTTPError.self) { try LifecycleTests.start("127.0.0.1", server.port) }
        #expect(error == .addressInUse(host: "127.0.0.1", port: server.port))
        #expect(error?.description.contains("127.0.0.1:\(server.port) is in use") == true)
    }

    @Test("An invalid host is refused", arguments: ["no such host", "300.1.1.1", "host.invalid"])
    func badHost(host: String) {
        let error = #expect(throws: SocketHTTPError.self) { try LifecycleTests.start(host, 0) }
        guard case .unknownHost(host, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("An address of another machine is refused")
    func foreignAddress() {
        #expect(throws: SocketHTTPError.addressNotAvailable(host: "192.0.2.1", port: 0)) { try LifecycleTests.start("192.0.2.1", 0) }
    }

    @Test("An invalid port is refused", arguments: [-1, 65_536])
    func badPort(port: Int) {
        #expect(throws: SocketHTTPError.invalidPort(port)) { try LifecycleTests.start("127.0.0.1", port) }
    }

    @Test("Names and IPv6 work", arguments: [("localhost", "http://127.0.0.1:"), ("::1", "http://[::1]:"), ("0.0.0.0", "http://0.0.0.0:")])
    func hosts(host: String, prefix: String) throws {
        let address = try LifecycleTests.start(host, 0)
        #expect(address.description.hasPrefix(prefix))
        #expect(address.port > 0)
    }

    @Test("Every error states the problem and how to fix it")
    func errors() {
        let errors: [SocketHTTPError] = [
            .addressInUse(host: "h", port: 1), .addressNotAvailable(host: "h", port: 1), .permissionDenied(host: "h", port: 1),
            .unknownHost("h", reason: "r"), .invalidPort(-1), .tooManyOpenFiles, .alreadyStarted, .system(call: "c", errno: EIO),
        ]
        for error in errors { #expect(error.description.contains(":")) }
        #expect(SocketHTTPError(errno: EMFILE, during: "socket") == .tooManyOpenFiles)
        #expect(SocketHTTPError(errno: EACCES, binding: "h", port: 80) == .permissionDenied(host: "h", port: 80))
    }
}
