import HTTPTypes
import Testing

@testable import SocketHTTP

@Suite("Limits")
struct LimitTests {
    @Test("A connection beyond the limit is answered 503, and served once there is room")
    func connections() async throws {
        // Given a server that has all its connections
        let server = try TestServer(limits: Limits(connections: 1))
        let first = Client(try RawClient(port: server.port))
        #expect(
            try await first.run {
                $0.send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n"); return try $0.reply().status
            } == 200)

        // When another comes, Then it is told to come again
        let second = Client(try RawClient(port: server.port))
        let refused = try await second.run {
            $0.send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n"); return try $0.reply()
        }
        #expect(refused.status == 503)
        #expect(refused["Retry-After"] == "1")
        #expect(refused["Connection"] == "close")
        #expect(try await second.run { try $0.isAtEnd() })
        #expect(server.server.statistics().connectionsRefused == 1)

        // And when the first has gone, there is room
        try await second.run { $0.finish() }
        try await first.run { $0.send("GET /ok HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") }
        _ = try await first.run { try $0.reply() }
        #expect(try await first.run { try $0.isAtEnd() })
        let third = Client(try RawClient(port: server.port))
        #expect(
            try await third.run {
                $0.send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n"); return try $0.reply().status
            } == 200)
    }

    @Test("Far beyond the limit, connections wait in the backlog and lose nothing")
    func backlog() async throws {
        // Given a server for one connection, which is taken, and more clients than are refused at a time
        let server = try TestServer(limits: Limits(connections: 1, lingerTimeout: .milliseconds(100)))
        let first = Client(try RawClient(port: server.port))
        #expect(
            try await first.run {
                $0.send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n"); return try $0.reply().status
            } == 200)

        // When they all come, Then each gets its answer
        let statuses = try await blocking { [port = server.port] in
            let clients = try (0..<300).map { _ in try RawClient(port: port) }
            return try clients.map { try $0.reply().status }
        }
        #expect(statuses.allSatisfy { $0 == 503 })
    }

    @Test("A client that goes on sending what is refused can still read why")
    func lingering() async throws {
        // Given a body far beyond the limit
        let server = try TestServer(limits: Limits(bodyBytes: 1000))
        let client = Client(try RawClient(port: server.port))

        // When all of it is sent before the answer is read, Then the answer is there
        let (status, isAtEnd) = try await client.run {
            $0.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4000000\r\n\r\n")
            $0.send([UInt8](repeating: 97, count: 4_000_000))
            return (try $0.reply().status, try $0.isAtEnd())
        }
        #expect(status == 413)
        #expect(isAtEnd)
    }

    @Test("A large answer arrives whole, in order, with more behind it")
    func largeAnswer() async throws {
        // Given an answer many times the socket's buffer
        let body = Array(repeating: Array(UInt8.min...UInt8.max), count: 20 << 10).flatMap { $0 }
        let server = try TestServer(adding: { router in
            router.on(.get, "/large") { _, exchange in exchange.respond(Response(status: .ok, body: body)) }
            router.on(.get, "/large-encoded") { _, exchange in exchange.respond(EncodedResponse(Response(status: .ok, body: body))) }
        })
        let client = Client(try RawClient(port: server.port, receiveBuffer: 64 << 10))

        // When it is asked for, with other requests around it, Then all arrive as they are
        let replies = try await client.run {
            let targets = ["/ok", "/large", "/ok", "/large-encoded", "/ok"]
            $0.send(targets.map { "GET \($0) HTTP/1.1\r\nHost: x\r\n\r\n" }.joined())
            var bodies: [[UInt8]] = []
            for _ in targets { bodies.append(try $0.reply().body) }
            return bodies
        }
        let ok = Array("ok".utf8)
        for (reply, expected) in zip(replies, [ok, body, ok, body, ok]) {
            #expect(reply == expected)
        }
    }

    @Test("A reset in the middle of an answer harms nobody else")
    func resetMidWrite() async throws {
        let body = [UInt8](repeating: 97, count: 8 << 20)
        let server = try TestServer(adding: { router in
            router.on(.get, "/large") { _, exchange in exchange.respond(Response(status: .ok, body: body)) }
        })
        for _ in 0..<10 {
            let client = Client(try RawClient(port: server.port, receiveBuffer: 4096))
            try await client.run {
                $0.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
                _ = try $0.bytes(1000)
                $0.reset()
            }
        }
        let client = Client(try RawClient(port: server.port))
        #expect(
            try await client.run {
                $0.send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n"); return try $0.reply().status
            } == 200)
    }

    @Test("The application words every refusal")
    func failure() async throws {
        // Given a router with words of its own
        let server = try TestServer(adding: { router in
            router.failure = { failure in
                Response(status: failure.status, fields: [.contentType: "application/problem+json"], body: Array("\(failure.kind)".utf8))
            }
        })

        // When requests fail in the parser, in the router and in a handler, Then those are what the client reads
        let client = Client(try RawClient(port: server.port))
        let replies = try await client.run {
            $0.send(
                "GET /none HTTP/1.1\r\nHost: x\r\n\r\nPOST /ok HTTP/1.1\r\nHost: x\r\n\r\nGET /drop HTTP/1.1\r\nHost: x\r\n\r\nBAD\r\n\r\n")
            return [try $0.reply(), try $0.reply(), try $0.reply(), try $0.reply()]
        }
        #expect(replies.map(\.text) == ["notFound", "methodNotAllowed", "unanswered", "malformed"])
        #expect(replies.allSatisfy { $0["Content-Type"] == "application/problem+json" })
        #expect(replies[1]["Allow"] == "GET, HEAD, OPTIONS")
    }

    @Test("Statistics count what happened")
    func statistics() async throws {
        let server = try TestServer(loops: 2)
        for _ in 0..<4 {
            let client = Client(try RawClient(port: server.port))
            let sent = "GET /ok HTTP/1.1\r\nHost: x\r\n\r\nBAD\r\n\r\n"
            _ = try await client.run {
                $0.send(sent)
                return try [$0.reply(), $0.reply()]
            }
        }
        let statistics = server.server.statistics()
        #expect(statistics.connectionsAccepted == 4)
        #expect(statistics.requests == 4)
        #expect(statistics.responses == 8)
        #expect(statistics.requestsRefused == 4)
        #expect(statistics.bytesIn == 4 * 36)
        #expect(statistics.bytesOut > 4 * 100)
    }
}
