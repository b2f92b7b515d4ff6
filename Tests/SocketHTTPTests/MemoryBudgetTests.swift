import HTTPTypes
import Testing

@testable import FreshetSocketHTTP

@Suite("Memory for requests and answers", .timeLimit(.minutes(5)))
struct MemoryBudgetTests {
    /// The bytes that one read of a socket may add before any connection gives way.
    private static let turn = 1 << 20

    private static func post(_ count: Int, to path: String = "/echo") -> String {
        "POST \(path) HTTP/1.1\r\nHost: x\r\nContent-Length: \(count)\r\n\r\n"
    }

    @Test("Unfinished bodies of many connections stay within the budget, and one that goes on is taken", arguments: [1, 2])
    func unfinishedBodies(loops: Int) async throws {
        // Given clients that send most of a body and wait
        let limits = Limits(bodyBytes: 1 << 20, requestMemory: 8 << 20, headerTimeout: .seconds(120), bodyTimeout: .seconds(120))
        let server = try TestServer(limits: limits, loops: loops)
        let most = [UInt8](repeating: 97, count: 1_000_000)
        let part = [UInt8](repeating: 98, count: 500_000)
        let (reply, refused) = try await blocking { [port = server.port] in
            let attackers = try (0..<40).map { _ in try RawClient(port: port) }
            for client in attackers {
                client.send(Self.post(1 << 20))
                client.send(most)
                // A loop asks another, which may be in the middle of its turn, to make room: meanwhile its own share
                // grows at most to the other's size.
                #expect(server.server.statistics().requestBytes <= loops * (limits.requestMemory + Self.turn))
            }
            // When bodies give way, and another client sends a shorter one, once more after each refusal
            while server.server.statistics().requestsShed == 0 {}
            var reply: RawClient.Reply
            repeat {
                let client = try RawClient(port: port)
                client.send(Self.post(part.count))
                client.send(part)
                reply = try client.reply()
            } while reply.status == 503
            // Then it is answered, and one of the others is answered 503: which one depends on how the loops share the
            // connections
            return (reply, try RawClient.firstWithInput(of: attackers)?.reply())
        }
        #expect(reply.status == 200 && reply.body == part)
        #expect(refused?.status == 503 && refused?["Retry-After"] != nil && refused?["Connection"] == "close")
    }

    @Test("Small bodies are taken while large ones use up the budget")
    func smallBodies() async throws {
        // Given clients that use up the budget
        let server = try TestServer(limits: Limits(bodyBytes: 1 << 20, requestMemory: 2 << 20, bodyTimeout: .seconds(120)))
        let statuses = try await blocking { [port = server.port] in
            let small = try (0..<20).map { _ in try RawClient(port: port) }
            let part = [UInt8](repeating: 97, count: 10_000)
            for client in small {
                client.send(Self.post(part.count * 2))
                client.send(part)
            }
            let attackers = try (0..<10).map { _ in try RawClient(port: port) }
            for client in attackers {
                client.send(Self.post(1 << 20))
                client.send([UInt8](repeating: 97, count: 1_000_000))
            }
            // When the small bodies, which are older, are completed, Then all are accepted
            for client in small { client.send(part) }
            return try small.map { try $0.reply().status }
        }
        #expect(statuses.allSatisfy { $0 == 200 })
    }

    @Test("A body that waits behind another request counts, and gives way")
    func blockedBodies() async throws {
        // Given clients whose request waits, with a whole body behind it
        let limits = Limits(bodyBytes: 1 << 20, requestMemory: 4 << 20, headerTimeout: .seconds(120), bodyTimeout: .seconds(120))
        let server = try TestServer(limits: limits)
        let clients = try (0..<10).map { _ in Client(try RawClient(port: server.port)) }
        for client in clients {
            try await client.run {
                $0.send("GET /park HTTP/1.1\r\nHost: x\r\n\r\n" + Self.post(1_000_000))
                $0.send([UInt8](repeating: 97, count: 1_000_000))
            }
        }
        let parked = await server.parked.take(10)
        // When the server has read so much of the bodies that no more than four fit, and the requests are answered
        try await blocking { while server.server.statistics().requestsShed < 5 {} }
        for exchange in parked { exchange.respond(.text("late")) }
        // Then each client gets its answer, followed by the answer to its body or a refusal
        var statuses: [Int] = []
        for client in clients {
            #expect(try await client.run { try $0.reply().text } == "late")
            statuses.append(try await client.run { try $0.reply().status })
        }
        #expect(statuses.contains(503) && statuses.contains(200) && statuses.allSatisfy { $0 == 503 || $0 == 200 })
        #expect(server.server.statistics().requestsShed == statuses.count { $0 == 503 })
    }

    @Test("A head counts while it arrives, while its body does, and while the request waits", arguments: [false, true])
    func heads(isChunked: Bool) throws {
        // Given a long head that has arrived in part
        let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: 3"
        let head = "POST / HTTP/1.1\r\nHost: x\r\n\(framing)\r\nX: \(String(repeating: "a", count: 12_000))\r\n\r\n"
        let size = head.utf8.count
        let backlog = ConnectionBacklog()
        var parser = RequestParser(limits: ParserLimits(Limits()))
        var request: ParsedRequest?
        func feed(_ text: some Sequence<UInt8>) {
            let bytes = Array(text)
            var position = 0
            while position < bytes.count {
                if case .request(let parsed) = parser.consume(bytes.span, from: &position) { request = parsed }
            }
            backlog.parser = parser
        }
        feed(head.utf8.prefix(5_000))
        #expect(backlog.inputBytes == 5_000)
        // When the rest of it arrives, and a part of the body, or of a trailer behind it
        feed(head.utf8.dropFirst(5_000))
        #expect(backlog.inputBytes == size)
        let trailer = "T: \(String(repeating: "a", count: 1_000))"
        feed((isChunked ? "2\r\nab\r\n0\r\n\(trailer)" : "ab").utf8)
        // Then all of them count
        #expect(backlog.inputBytes == size + 2 + (isChunked ? trailer.utf8.count : 0))
        // When the request is complete and waits, Then its head and body do
        feed((isChunked ? "\r\n\r\n" : "c").utf8)
        let complete = try #require(request)
        backlog.blocked = complete
        #expect(backlog.inputBytes == size + complete.body.count && complete.body.count == (isChunked ? 2 : 3))
    }

    @Test("A large body counts until its handler releases the request")
    func handledBodies() async throws {
        let kept = Held<(Request, Exchange)>()
        let server = try TestServer(adding: { router in router.on(.post, "/keep") { kept.add(($0, $1)) } })
        let client = Client(try RawClient(port: server.port))
        try await client.run {
            $0.send(Self.post(1_000_000, to: "/keep"))
            $0.send([UInt8](repeating: 97, count: 1_000_000))
        }
        for (request, exchange) in await kept.take(1) {
            #expect(server.server.statistics().requestBytes >= request.body.count)
            exchange.respond(.text("done"))
        }
        #expect(try await client.run { try $0.reply().text } == "done")
        #expect(server.server.statistics().requestBytes == 0)
    }

    @Test("Unread answers stay within the budget, and one that is read arrives whole")
    func unreadAnswers() async throws {
        // Given answers larger than the kernel's buffers, each in separate memory, and clients that read none
        let size = 8 << 20
        let limits = Limits(answerMemory: 4 * size, writeTimeout: .seconds(600))
        let server = try TestServer(
            limits: limits,
            adding: { router in
                router.on(.get, "/large") { _, exchange in
                    exchange.respond(Response(status: .ok, body: [UInt8](repeating: 97, count: size)))
                }
            })
        let count = try await blocking { [port = server.port] in
            let request = "GET /large HTTP/1.1\r\nHost: x\r\n\r\n"
            let attackers = try (0..<20).map { _ in try RawClient(port: port, receiveBuffer: 4096) }
            for client in attackers { client.send(request) }
            // When another client reads its answer, Then it is whole
            let client = try RawClient(port: port)
            client.send(request)
            return try client.reply().body.count
        }
        #expect(count == size)
        let statistics = server.server.statistics()
        #expect(statistics.answersShed >= 16 && statistics.slowReadersDropped == statistics.answersShed)
        #expect(statistics.answerBytes <= limits.answerMemory)
    }

    @Test("Bytes that several connections wait for count once")
    func sharedAnswers() async throws {
        // Given one answer for many clients, of which none reads
        let size = 8 << 20
        let shared = EncodedResponse(Response(status: .ok, body: [UInt8](repeating: 97, count: size)))
        let server = try TestServer(
            limits: Limits(
                answerMemory: 2 * size, headerTimeout: .seconds(120), idleTimeout: .seconds(600), writeTimeout: .seconds(600)),
            adding: { router in router.on(.get, "/shared") { _, exchange in exchange.respond(shared) } })
        let clients = try (0..<10).map { _ in Client(try RawClient(port: server.port, receiveBuffer: 4096)) }
        for client in clients { try await client.run { $0.send("GET /shared HTTP/1.1\r\nHost: x\r\n\r\n") } }
        // When they finally read, Then none was dropped
        for client in clients { #expect(try await client.run { try $0.reply().body.count } == size) }
        #expect(server.server.statistics().answersShed == 0)
        // And once each loop has sent them, no bytes are counted any more
        for client in clients { try await Self.finish(client) }
        #expect(server.server.statistics().answerBytes == 0)
    }

    @Test("An answer whose last bytes are sent by themselves is not counted after them")
    func lastBytes() async throws {
        // Given an answer of which two full slices leave a few bytes
        let size = (512 << 10) + 1_000
        let server = try TestServer(adding: { router in
            router.on(.get, "/large") { _, exchange in
                exchange.respond(Response(status: .ok, body: [UInt8](repeating: 97, count: size)))
            }
        })
        let client = Client(try RawClient(port: server.port))
        for _ in 0..<10 {
            // When it has been sent
            try await client.run { $0.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n") }
            #expect(try await client.run { try $0.reply().body.count } == size)
            try await Self.finish(client)
            // Then
            #expect(server.server.statistics().answerBytes == 0)
        }
    }

    /// Waits until the loop has handled another request of the connection, so that the earlier answers are finished.
    private static func finish(_ client: Client) async throws {
        try await client.run {
            $0.send(post(1, to: "/echo"))
            $0.send([97])
            _ = try $0.reply()
        }
    }
}
