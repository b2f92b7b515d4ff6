import HTTPTypes
import Testing

@testable import FreshetSocketHTTP

@Suite("Pipelining")
struct PipeliningTests {
    private static let parkRequest = "GET /park HTTP/1.1\r\nHost: x\r\n\r\n"

    @Test("Answers go out in the order of their requests")
    func order() async throws {
        // Given three requests that wait
        let server = try TestServer()
        let client = Client(try RawClient(port: server.port))
        try await client.run { $0.send(String(repeating: PipeliningTests.parkRequest, count: 3)) }
        let parked = await server.parked.take(3)

        // When the last is answered first, in both forms
        parked[2].respond(.text("third"))
        parked[1].respond(EncodedResponse(.text("second")))
        parked[0].respond(.text("first"))

        // Then the first comes first
        for expected in ["first", "second", "third"] {
            #expect(try await client.run { try $0.reply().text } == expected)
        }
    }

    @Test("A request with effects waits for earlier ones")
    func exclusive() async throws {
        // Given a request that waits, and a POST behind it
        let server = try TestServer()
        let client = Client(try RawClient(port: server.port))
        let post = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok"
        try await client.run { $0.send(PipeliningTests.parkRequest + post + PipeliningTests.parkRequest) }
        let first = await server.parked.take(1)
        #expect(server.server.statistics().requests == 1)

        // When the first is answered, Then the POST runs, and then the requests behind it
        first[0].respond(.text("first"))
        #expect(try await client.run { try $0.reply().text } == "first")
        #expect(try await client.run { try $0.reply().text } == "ok")
        let last = await server.parked.take(1)
        last[0].respond(.text("last"))
        #expect(try await client.run { try $0.reply().text } == "last")
    }

    @Test("A connection waits when too many of its requests do")
    func bounded() async throws {
        // Given a limit of two, and four requests
        let server = try TestServer(limits: Limits(pipelinedRequests: 2))
        let client = Client(try RawClient(port: server.port))
        try await client.run { $0.send(String(repeating: PipeliningTests.parkRequest, count: 4)) }

        // When two have arrived, Then the others are handled as those are answered
        for _ in 0..<2 {
            let parked = await server.parked.take(2)
            #expect(parked.count == 2)
            for exchange in parked { exchange.respond(.text("x")) }
            for _ in parked { #expect(try await client.run { try $0.reply().text } == "x") }
        }
        #expect(server.server.statistics().requests == 4)
    }

    @Test("A stream behind a request that waits is held for its turn")
    func stream() async throws {
        // Given a request that waits, a stream behind it, and a plain request last
        let server = try TestServer()
        let client = Client(try RawClient(port: server.port))
        try await client.run { $0.send(String(repeating: PipeliningTests.parkRequest, count: 3)) }
        let parked = await server.parked.take(3)

        // When the stream writes and ends, and the last is answered, before the first is
        let stream = parked[1].stream(status: .ok)
        stream.write(Array("a".utf8))
        stream.write(Array("b".utf8))
        stream.finish()
        parked[2].respond(.text("last"))
        parked[0].respond(.text("first"))

        // Then all come in order
        for expected in ["first", "ab", "last"] {
            #expect(try await client.run { try $0.reply().text } == expected)
        }
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
