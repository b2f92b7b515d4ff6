import HTTPTypes
import Testing

@testable import FreshetSocketHTTP

@Suite("Exchange")
struct ExchangeTests {
    private static let parkRequest = "GET /park HTTP/1.1\r\nHost: x\r\n\r\n"

    @Test("An exchange is answered once")
    func once() async throws {
        // Given a waiting exchange
        let server = try TestServer()
        let client = Client(try RawClient(port: server.port))
        try await client.run { $0.send(ExchangeTests.parkRequest) }
        let exchange = await server.parked.take(1)[0]

        // When it is answered twice, Then the second answer is refused
        #expect(exchange.respond(.text("one")))
        #expect(!exchange.respond(.text("two")))
        #expect(!exchange.respond(EncodedResponse(.text("three"))))
        #expect(!exchange.stream(status: .ok).write([1]))
        #expect(try await client.run { try $0.reply().text } == "one")
    }

    @Test("The sender of a request is its address, or its connection where an address may have any number", arguments: [false, true])
    func sender(isProxy: Bool) async throws {
        // Given two connections of one address
        var limits = Limits.patient
        if !isProxy { limits.trustedProxies = [] }
        let server = try TestServer(limits: limits)
        let clients = [Client(try RawClient(port: server.port)), Client(try RawClient(port: server.port))]
        // When each sends a request
        for client in clients { try await client.run { $0.send(ExchangeTests.parkRequest) } }
        let exchanges = await server.parked.take(2)
        // Then
        #expect((exchanges[0].sender == exchanges[1].sender) == !isProxy)
        for exchange in exchanges { exchange.respond(.text("done")) }
    }

    @Test("An exchange that waited and was released is answered 500")
    func dropped() async throws {
        let server = try TestServer()
        let client = Client(try RawClient(port: server.port))
        try await client.run { $0.send(ExchangeTests.parkRequest) }
        _ = await server.parked.take(1)
        #expect(try await client.run { try $0.reply().status } == 500)
    }

    @Test("A reset is reported to a waiting exchange, also if there are requests behind it", arguments: [1, 3])
    func cancel(count: Int) async throws {
        // Given a waiting exchange
        let server = try TestServer()
        let client = Client(try RawClient(port: server.port))
        try await client.run { $0.send(String(repeating: ExchangeTests.parkRequest, count: count)) }
        let waiting = await server.parked.take(1)[0]
        let signal = Signal()
        waiting.onCancel { signal.happen() }

        // When its client disconnects, Then the action is called, and the exchange can be answered no more
        try await client.run { $0.reset() }
        await signal.wait()
        #expect(!waiting.respond(.text("late")))

        // And an action that is added later is called as well
        let late = Signal()
        let server2 = try TestServer()
        let other = Client(try RawClient(port: server2.port))
        try await other.run { $0.send(ExchangeTests.parkRequest) }
        let exchange = await server2.parked.take(1)[0]
        let gone = Signal()
        exchange.onCancel { gone.happen() }
        try await other.run { $0.reset() }
        await gone.wait()
        exchange.onCancel { late.happen() }
        await late.wait()
    }

    @Test("A client that leaves in good order is noticed too, although requests wait behind the one that is handled", arguments: [1, 2, 3])
    func leaves(count: Int) async throws {
        // Given a waiting exchange
        let server = try TestServer()
        let client = Client(try RawClient(port: server.port))
        try await client.run { $0.send(String(repeating: ExchangeTests.parkRequest, count: count)) }
        let waiting = await server.parked.take(1)[0]
        let signal = Signal()
        waiting.onDisconnect { signal.happen() }
        #expect(!waiting.isDisconnected)
        // When
        try await client.run { $0.finish() }
        // Then
        await signal.wait()
        #expect(waiting.isDisconnected)
    }

    @Test("After the answer no disconnect is reported")
    func answered() async throws {
        // Given an answered exchange
        let server = try TestServer()
        let client = Client(try RawClient(port: server.port))
        try await client.run { $0.send(ExchangeTests.parkRequest + ExchangeTests.parkRequest) }
        let first = Signal()
        let second = Signal()
        let answered = await server.parked.take(1)[0]
        answered.onCancel { first.happen() }
        answered.respond(.text("one"))
        #expect(try await client.run { try $0.reply().text } == "one")
        let waiting = await server.parked.take(1)[0]
        waiting.onCancel { second.happen() }

        // When the client disconnects, Then only the waiting one's action is called
        try await client.run { $0.reset() }
        await second.wait()
        #expect(!first.hasHappened)
    }

    @Test("A client that has shut its writing side still gets its answer, then the end")
    func halfClosed() async throws {
        // Given a client that sends and shuts
        let server = try TestServer()
        let client = Client(try RawClient(port: server.port))
        try await client.run {
            $0.send(ExchangeTests.parkRequest)
            $0.finish()
        }
        let exchange = await server.parked.take(1)[0]

        // When it is answered later, Then the answer comes, and the end
        #expect(exchange.respond(.text("late")))
        #expect(try await client.run { try $0.reply().text } == "late")
        #expect(try await client.run { try $0.isAtEnd() })
    }

    @Test("A client that shuts its writing side in the middle of a request is answered 400")
    func cutShort() async throws {
        let server = try TestServer()
        let client = Client(try RawClient(port: server.port))
        let reply = try await client.run {
            $0.send("GET /ok HTT")
            $0.finish()
            return try $0.reply().status
        }
        #expect(reply == 400)
        #expect(try await client.run { try $0.isAtEnd() })
    }

    @Test("Many are answered with one response, whatever each of them needs", arguments: [1, 3])
    func fanOut(loops: Int) async throws {
        // Given clients of all kinds, spread over the loops
        let server = try TestServer(loops: loops)
        let requests = [
            ExchangeTests.parkRequest,
            "HEAD /park HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET /park HTTP/1.0\r\n\r\n",
            "GET /park HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
            "GET /park HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        ]
        var clients: [Client] = []
        for index in 0..<40 {
            let client = Client(try RawClient(port: server.port))
            try await client.run { $0.send(requests[index % requests.count]) }
            clients.append(client)
        }
        let parked = await server.parked.take(40)

        // When all are answered at once, one of them for the second time
        #expect(parked[7].respond(.text("fan-out")))
        Exchange.respond(to: parked, with: EncodedResponse(.text("fan-out")))

        // Then each gets the answer that its request needs
        for (index, client) in clients.enumerated() {
            let kind = index % requests.count
            let (text, connection) = try await client.run {
                let reply = try $0.reply(toHead: kind == 1)
                return (reply.text, reply["Connection"])
            }
            #expect(text == (kind == 1 ? "" : "fan-out"))
            #expect(connection == [nil, nil, "close", "keep-alive", "close"][kind])
            if kind == 2 || kind == 4 { #expect(try await client.run { try $0.isAtEnd() }) }
        }
    }

    @Test("A handler may answer others' exchanges and its own")
    func fromHandler() async throws {
        // Given some exchanges that wait, and a route that answers them
        let parked = Parked()
        let server = try TestServer(adding: { router in
            router.on(.get, "/wait") { _, exchange in parked.add(exchange) }
            router.on(.post, "/publish") { _, exchange in
                Exchange.respond(to: parked.takeAll(), with: EncodedResponse(.text("news")))
                exchange.respond(.text("published"))
            }
        })
        let waiting = Client(try RawClient(port: server.port))
        try await waiting.run { $0.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\nPOST /publish HTTP/1.1\r\nHost: x\r\n\r\n") }
        let publisher = Client(try RawClient(port: server.port))
        let answer = try await publisher.run {
            $0.send("POST /publish HTTP/1.1\r\nHost: x\r\n\r\n")
            return try $0.reply().text
        }

        // Then both get their answers, and the connection of the waiting one resumes with its further requests
        #expect(answer == "published")
        #expect(try await waiting.run { try $0.reply().text } == "news")
        #expect(try await waiting.run { try $0.reply().text } == "published")
    }

    @Test("A client that expects 100 Continue gets it")
    func expectContinue() async throws {
        let server = try TestServer()
        let client = Client(try RawClient(port: server.port))
        let statuses = try await client.run {
            $0.send("POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
            let asked = try $0.reply().status
            $0.send("ok")
            return [asked, try $0.reply().status]
        }
        #expect(statuses == [100, 200])
    }

    @Test("100 Continue is sent only when the earlier requests are answered")
    func expectContinueInTurn() async throws {
        let server = try TestServer()
        let client = Client(try RawClient(port: server.port))
        try await client.run {
            $0.send(ExchangeTests.parkRequest + "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        }
        await server.parked.take(1)[0].respond(.text("first"))
        #expect(try await client.run { try $0.reply().text } == "first")
        #expect(try await client.run { try $0.reply().status } == 100)
        #expect(
            try await client.run {
                $0.send("ok"); return try $0.reply().text
            } == "ok")
    }
}
