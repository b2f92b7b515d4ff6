import HTTPTypes
import Testing

@testable import FreshetSocketHTTP

@Suite("Pipelining")
struct PipeliningTests {
    private static let parkRequest = "GET /park HTTP/1.1\r\nHost: x\r\n\r\n"

    @Test("A request is handled when the one before it is answered")
    func order() async throws {
        // Given three requests that wait, and one with effects, sent at once
        let server = try TestServer()
        let client = Client(try RawClient(port: server.port))
        let post = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok"
        try await client.run { $0.send(String(repeating: PipeliningTests.parkRequest, count: 3) + post) }

        // When each is answered, in every form, Then the next one is handled, and none before
        for (number, text) in ["first", "second", "third"].enumerated() {
            let parked = await server.parked.take(1)
            #expect(parked.count == 1 && server.server.statistics().requests == number + 1)
            switch number {
            case 0: parked[0].respond(.text(text))
            case 1: parked[0].respond(EncodedResponse(.text(text)))
            default:
                let stream = parked[0].stream(status: .ok)
                stream.write(Array(text.utf8))
                #expect(server.server.statistics().requests == number + 1)
                stream.finish()
            }
            #expect(try await client.run { try $0.reply().text } == text)
        }
        #expect(try await client.run { try $0.reply().text } == "ok")
    }

    @Test("A refusal waits for the end of the stream before it")
    func refusalBehindStream() async throws {
        // Given a stream, and an invalid request behind it
        let server = try TestServer()
        let client = Client(try RawClient(port: server.port))
        try await client.run { $0.send(PipeliningTests.parkRequest) }
        let stream = await server.parked.take(1)[0].stream(status: .ok)
        try await client.run { $0.send("BAD\r\n\r\n") }
        stream.write(Array("a".utf8))
        stream.finish()

        // Then the refusal follows the whole stream, and then the end
        #expect(try await client.run { try $0.reply().text } == "a")
        #expect(try await client.run { try $0.reply().status } == 400)
        #expect(try await client.run { try $0.isAtEnd() })
    }

    @Test("A refusal waits for the answers before it")
    func refusal() async throws {
        // Given a request that waits, and an invalid one
        let server = try TestServer()
        let client = Client(try RawClient(port: server.port))
        try await client.run { $0.send(PipeliningTests.parkRequest + "BAD\r\n\r\n") }
        let parked = await server.parked.take(1)

        // When the first is answered, Then the refusal follows, and the end
        parked[0].respond(.text("first"))
        #expect(try await client.run { try $0.reply().text } == "first")
        #expect(try await client.run { try $0.reply().status } == 400)
        #expect(try await client.run { try $0.isAtEnd() })
    }

    @Test("A client that pipelines a thousand requests does not hold up the next client")
    func turns() async throws {
        // Given a loop that is held up, while one client sends a thousand requests and then another sends one
        let order = Held<String>()
        let held = try HeldServer { router in
            router.on(.get, "/count/{name}") { request, exchange in
                order.add(request.parameter("name"))
                exchange.respond(.text("x"))
            }
        }
        try await held.hold()
        let greedy = Client(try RawClient(port: held.server.port))
        let modest = Client(try RawClient(port: held.server.port))
        try await greedy.run { $0.send(String(repeating: "GET /count/greedy HTTP/1.1\r\nHost: x\r\n\r\n", count: 1000)) }
        try await modest.run { $0.send("GET /count/modest HTTP/1.1\r\nHost: x\r\n\r\n") }

        // When the loop continues
        try await held.open()

        // Then all are answered, the second client's after one turn of the first
        #expect(try await modest.run { try $0.reply().status } == 200)
        #expect(try await greedy.run { client in try (0..<1000).allSatisfy { _ in try client.reply().status == 200 } })
        let handled = await order.take(1001)
        #expect(try #require(handled.firstIndex(of: "modest")) <= Limits().requestsPerTurn)
    }

    @Test("Forty clients that pipeline do not hold up another client for all their requests")
    func budget() async throws {
        // Given a loop that is held up, while forty clients send 64 requests each, and then another sends one
        let order = Held<String>()
        let held = try HeldServer { router in
            router.on(.get, "/count/{name}") { request, exchange in
                order.add(request.parameter("name"))
                exchange.respond(.text("x"))
            }
        }
        try await held.hold()
        let port = held.server.port
        let greedy = try (0..<40).map { _ in Client(try RawClient(port: port)) }
        let modest = Client(try RawClient(port: port))
        for (index, client) in greedy.enumerated() {
            let request = "GET /count/\(index) HTTP/1.1\r\nHost: x\r\n\r\n"
            try await client.run { $0.send(String(repeating: request, count: 64)) }
        }
        try await modest.run { $0.send("GET /count/modest HTTP/1.1\r\nHost: x\r\n\r\n") }

        // When the loop continues
        try await held.open()

        // Then all are answered, the other client at the latest in the second turn, which has 512 shared requests and one of
        // each connection
        #expect(try await modest.run { try $0.reply().status } == 200)
        for client in greedy {
            #expect(try await client.run { client in try (0..<64).allSatisfy { _ in try client.reply().status == 200 } })
        }
        let handled = await order.take(40 * 64 + 1)
        #expect(try #require(handled.firstIndex(of: "modest")) <= 2 * (512 + 40))
        let names = Set(handled.prefix(2 * (512 + 41)))
        #expect(names.count == 41)
    }

    @Test("Clients that connect without a pause do not hold up a connection that is open")
    func connecting() async throws {
        // Given an open connection, and a loop that is held up while 200 clients connect and then it sends a request
        let accepted = Held<Int>()
        let held = try HeldServer { router in
            router.on(.get, "/accepted") { _, exchange in
                accepted.add(exchange.handle.connection.context.statistics.connectionsAccepted)
                exchange.respond(.text("x"))
            }
        }
        let request = "GET /accepted HTTP/1.1\r\nHost: x\r\n\r\n"
        let client = Client(try RawClient(port: held.server.port))
        try await client.run { $0.send(request) }
        #expect(try await client.run { try $0.reply().status } == 200)
        try await held.hold()
        let before = held.server.server.statistics().connectionsAccepted
        let others = try await blocking { [port = held.server.port] in try (0..<200).map { _ in Client(try RawClient(port: port)) } }
        try await client.run { $0.send(request) }

        // When the loop continues
        try await held.open()

        // Then it handles the request before it has accepted all of them, which are served then
        #expect(try await client.run { try $0.reply().status } == 200)
        let counts = await accepted.take(2)
        #expect(try #require(counts.last) < before + 200)
        for other in others {
            try await other.run { $0.send(request) }
            #expect(try await other.run { try $0.reply().status } == 200)
        }
    }

    @Test("Requests that wait for the next turn are handled, also when the server drains or the client has finished")
    func turnsAtTheEnd() async throws {
        // Given turns of two requests, and a client that sends nine and ends its input
        let server = try TestServer(limits: Limits(requestsPerTurn: 2))
        let client = Client(try RawClient(port: server.port))
        let post = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok"
        try await client.run {
            $0.send(String(repeating: post, count: 9))
            $0.finish()
        }
        // Then each is answered
        for _ in 0..<9 { #expect(try await client.run { try $0.reply().text } == "ok") }
        #expect(try await client.run { try $0.isAtEnd() })
    }
}
