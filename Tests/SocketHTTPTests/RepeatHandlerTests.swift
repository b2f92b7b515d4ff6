import HTTPTypes
import Synchronization
import Testing

@testable import SocketHTTP

/// Requests that skip the parser and the router must be handled like all others.
@Suite("Repeated requests")
struct RepeatHandlerTests {
    /// One request that waits, or several together.
    private enum Waiter: Sendable {
        case one(Exchange)
        case crowd(Crowd)

        var count: Int { if case .crowd(let crowd) = self { crowd.count } else { 1 } }

        @discardableResult
        func respond(_ text: String) -> Bool {
            let encoded = EncodedResponse(.text(text))
            return switch self {
            case .one(let exchange): exchange.respond(encoded)
            case .crowd(let crowd): crowd.respond(encoded)
            }
        }
    }

    private final class Parking: RepeatHandler {
        let parked: Held<Waiter>

        init(_ parked: Held<Waiter>) { self.parked = parked }

        func handle(_ crowd: Crowd) { parked.add(.crowd(crowd)) }
    }

    private static func server(limits: Limits = .patient) throws -> (TestServer, Held<Waiter>) {
        let parked = Held<Waiter>(weight: \.count)
        let server = try TestServer(
            limits: limits,
            adding: { router in
                router.on(.get, "/wait") { request, exchange in
                    request.onRepeat(Parking(parked))
                    parked.add(.one(exchange))
                }
            })
        return (server, parked)
    }

    private static let poll = "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n"

    @Test("One delivery and the poll after it take one call to send, one to receive, and none to watch")
    func calls() async throws {
        // Given twenty clients that wait
        let (server, parked) = try RepeatHandlerTests.server()
        let clients = try (0..<20).map { _ in Client(try RawClient(port: server.port)) }
        for client in clients { try await client.run { $0.send(RepeatHandlerTests.poll) } }
        var waiting = await parked.take(20)
        let before = server.server.statistics()

        // When three changes are delivered, and each client polls again
        for _ in 0..<3 {
            for waiter in waiting { waiter.respond("change") }
            for client in clients {
                #expect(try await client.run { try $0.reply().text } == "change")
                try await client.run { $0.send(RepeatHandlerTests.poll) }
            }
            waiting = await parked.take(20)
        }

        // Then no request was parsed, and no call was made in vain
        let after = server.server.statistics()
        #expect(after.requests - before.requests == 60)
        #expect(after.requestsRecognised - before.requestsRecognised == 60)
        #expect(after.sendCalls - before.sendCalls == 60)
        #expect(after.receiveCalls - before.receiveCalls == 60)
        #expect(after.watchCalls == before.watchCalls)
    }

    @Test("Answers to requests sent at once go out in order, those of other kinds between them")
    func pipelined() async throws {
        // Given
        let (server, parked) = try RepeatHandlerTests.server()
        let client = Client(try RawClient(port: server.port))
        let other = "GET /ok HTTP/1.1\r\nHost: x\r\n\r\n"
        try await client.run { $0.send(RepeatHandlerTests.poll) }
        await parked.take(1)[0].respond("first")
        #expect(try await client.run { try $0.reply().text } == "first")

        // When
        try await client.run { $0.send(RepeatHandlerTests.poll + other + RepeatHandlerTests.poll + RepeatHandlerTests.poll) }
        let waiting = await parked.take(3)
        #expect(waiting.count == 3)
        // Of consecutive requests the first waits in a crowd, which is handed over when all input is handled; so it
        // comes last.
        for (number, waiter) in zip([1, 2, 0], waiting).reversed() { waiter.respond("\(number)") }

        // Then
        for expected in ["0", "ok", "1", "2"] { #expect(try await client.run { try $0.reply().text } == expected) }
    }

    @Test("A head that comes in pieces is put together, and one that goes on differently is not taken for it")
    func pieces() async throws {
        // Given
        let (server, parked) = try RepeatHandlerTests.server()
        let client = Client(try RawClient(port: server.port))
        try await client.run { $0.send(RepeatHandlerTests.poll) }
        await parked.take(1)[0].respond("first")
        #expect(try await client.run { try $0.reply().text } == "first")

        // When
        for piece in ["GET /wait HT", "TP/1.1\r\nHost: x\r\n", "\r\n"] { try await client.run { $0.send(piece) } }
        await parked.take(1)[0].respond("second")
        #expect(try await client.run { try $0.reply().text } == "second")
        try await client.run { $0.send("GET /wait HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n") }

        // Then
        #expect(try await client.run { try $0.reply().status } == 400)
    }

    @Test("Requests beyond the limit wait for their turn")
    func bounded() async throws {
        // Given a limit of two, and a head that is known
        var limits = Limits.patient
        limits.pipelinedRequests = 2
        let (server, parked) = try RepeatHandlerTests.server(limits: limits)
        let client = Client(try RawClient(port: server.port))
        try await client.run { $0.send(RepeatHandlerTests.poll) }
        await parked.take(1)[0].respond("0")
        #expect(try await client.run { try $0.reply().text } == "0")

        // When three arrive
        try await client.run { $0.send(String(repeating: RepeatHandlerTests.poll, count: 3)) }
        let first = await parked.take(2)
        #expect(first.count == 2)
        first[0].respond("2")
        first[1].respond("1")

        // Then the third is handled once there is room
        await parked.take(1)[0].respond("3")
        for expected in ["1", "2", "3"] { #expect(try await client.run { try $0.reply().text } == expected) }
    }

    @Test("Connection: close and a drain end the connection after the answer as ever", arguments: ["Connection: close\r\n", ""])
    func closes(field: String) async throws {
        // Given a head that is known
        let (server, parked) = try RepeatHandlerTests.server()
        let poll = "GET /wait HTTP/1.1\r\nHost: x\r\n\(field)\r\n"
        let first = Client(try RawClient(port: server.port))
        try await first.run { $0.send(poll) }
        await parked.take(1)[0].respond("first")
        #expect(try await first.run { try $0.reply().text } == "first")

        // When it arrives on another connection, and the server is drained unless the head has the field
        let second = Client(try RawClient(port: server.port))
        try await second.run { $0.send(poll) }
        let waiting = await parked.take(1)
        #expect(server.server.statistics().requestsRecognised == 1)
        async let drained: Void = field.isEmpty ? server.server.drain() : ()
        if field.isEmpty { while server.server.statistics().connectionsOpen > 1 { await Task.yield() } }
        waiting[0].respond("last")

        // Then
        let reply = try await second.run { try $0.reply() }
        #expect(reply.text == "last" && reply["Connection"] == "close")
        #expect(try await second.run { try $0.rest() } == [])
        await drained
    }

    /// Holds the request that it was made for, as handlers do.
    private final class Holding: RepeatHandler {
        let request: Request

        init(_ request: Request) { self.request = request }

        func handle(_ crowd: Crowd) { crowd.respond(EncodedResponse(.text("again"))) }
    }

    private final class Made: Sendable {
        private struct Reference: Sendable { weak let value: Holding? }
        private let handlers = Mutex<[Reference]>([])

        func add(_ handler: Holding) { handlers.withLock { $0.append(Reference(value: handler)) } }

        var alive: Int { handlers.withLock { $0.count { $0.value != nil } } }
    }

    @Test("Only the handlers of the latest heads live on, and none after a drain")
    func letGo() async throws {
        // Given
        let made = Made()
        let server = try TestServer(adding: { router in
            router.on(.get, "/hold") { request, exchange in
                let handler = Holding(request)
                made.add(handler)
                request.onRepeat(handler)
                exchange.respond(.text("first"))
            }
        })
        let client = Client(try RawClient(port: server.port))
        // When ten different heads arrive, each twice
        for number in 0..<10 {
            for expected in ["first", "again"] {
                try await client.run { $0.send("GET /hold?\(number) HTTP/1.1\r\nHost: x\r\n\r\n") }
                #expect(try await client.run { try $0.reply().text } == expected)
            }
        }
        // Then
        #expect(made.alive == 4)
        await server.server.drain()
        #expect(made.alive == 0)
    }
}
