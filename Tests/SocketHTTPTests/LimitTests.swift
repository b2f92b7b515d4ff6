import HTTPTypes
import Testing

@testable import FreshetSocketHTTP

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

        // When another connects, Then it is answered 503 with a time to retry
        let second = Client(try RawClient(port: server.port))
        let refused = try await second.run {
            $0.send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n"); return try $0.reply()
        }
        #expect(refused.status == 503)
        #expect(refused["Retry-After"] == "1")
        #expect(refused["Connection"] == "close")
        #expect(try await second.run { try $0.isAtEnd() })
        #expect(server.server.statistics().connectionsRefused == 1)

        // And when the first has disconnected, there is room
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

        // When all of them connect, Then each gets its answer
        let statuses = try await blocking { [port = server.port] in
            let clients = try (0..<300).map { _ in try RawClient(port: port) }
            return try clients.map { try $0.reply().status }
        }
        #expect(statuses.allSatisfy { $0 == 503 })
    }

    @Test("A client that keeps sending a refused body can still read the reason")
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

        // When it is requested, between other requests, Then all answers arrive unchanged
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
        // Given a router with custom words
        let server = try TestServer(adding: { router in
            router.failure = { failure in
                Response(status: failure.status, fields: [.contentType: "application/problem+json"], body: Array("\(failure.kind)".utf8))
            }
        })

        // When requests fail in the parser, in the router and in a handler, Then the client reads those words
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

    @Test("Statistics count connections, requests and bytes")
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

    @Test("An address has its share of the connections, and the others have theirs")
    func connectionsOfAnAddress() async throws {
        // Given an address that has all its connections
        let server = try TestServer(limits: Limits(connectionsPerAddress: 2, trustedProxies: []), loops: 2)
        @Sendable func status(_ client: RawClient) throws -> Int {
            client.send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n")
            return try client.reply().status
        }
        let (replies, ended) = try await blocking { [port = server.port] in
            let kept = try (0..<2).map { _ in try RawClient(port: port) }
            let first = try kept.map(status)
            // When it opens another, and another address opens one
            let beyond = try RawClient(port: port)
            let refused = try beyond.reply()
            let isAtEnd = try beyond.isAtEnd()
            let other = try status(RawClient(port: port, source: 2))
            // Then it is answered 503 with a time to retry, and the other is served
            #expect(refused["Retry-After"] == "1" && refused["Connection"] == "close")
            return (first + [refused.status, other], isAtEnd)
        }
        #expect(replies == [200, 200, 503, 200] && ended)
        #expect(server.server.statistics().connectionsRefusedByAddress == 1)
        #expect(server.server.statistics().connectionsRefused == 0)
    }

    @Test("An address that opens connections without end is dropped, and served again once it has closed some")
    func floodFromAnAddress() async throws {
        // Given an address that has its connection and floods the server
        let server = try TestServer(limits: Limits(connectionsPerAddress: 1, trustedProxies: [], lingerTimeout: .seconds(120)))
        try await blocking { [port = server.port] in
            let first = try RawClient(port: port)
            first.send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try first.reply().status == 200)
            let flood = try (0..<100).map { _ in try RawClient(port: port) }
            // Then few of the further connections get an answer, and the others none
            let answered = flood.filter { (try? $0.reply().status) == 503 }.count
            #expect(answered == 16)
            // And other addresses are served meanwhile
            let other = try RawClient(port: port, source: 2)
            other.send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try other.reply().status == 200)
            // When those connections are closed, Then there is room again
            for client in flood { client.finish() }
            first.send("GET /ok HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            #expect(try first.reply().status == 200 && first.isAtEnd())
            #expect(flood.allSatisfy { (try? $0.isAtEnd()) ?? true })
            let again = try RawClient(port: port)
            again.send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try again.reply().status == 200)
        }
        #expect(server.server.statistics().connectionsRefusedByAddress == 100)
    }

    @Test("A trusted proxy may have all connections; by default the machine itself")
    func trustedProxy() async throws {
        let server = try TestServer(limits: Limits(connectionsPerAddress: 1))
        let statuses = try await blocking { [port = server.port] in
            let clients = try (0..<5).map { _ in try RawClient(port: port) }
            for client in clients { client.send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n") }
            return try clients.map { try $0.reply().status }
        }
        #expect(statuses == [200, 200, 200, 200, 200])
    }
}
