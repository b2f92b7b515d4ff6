import HTTPTypes
import Synchronization
import Testing

@testable import FreshetSocketHTTP

/// Requests that skip the parser and the router must be handled like all others.
@Suite("Repeated requests", .timeLimit(.minutes(5)))
struct RepeatedRequestTests {
    /// A request that waits, and the value with which it came.
    private struct Waiter: Sendable {
        let value: String
        let exchange: Exchange

        @discardableResult
        func respond(_ text: String) -> Bool { exchange.respond(EncodedResponse(.text(text))) }
    }

    private final class Waiting: RepeatedRequestHandler {
        let waiters: Held<Waiter>

        init(_ waiters: Held<Waiter>) { self.waiters = waiters }

        func handle(_ value: Span<UInt8>, _ exchange: Exchange) {
            let text = value.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
            waiters.add(Waiter(value: text, exchange: exchange))
        }
    }

    private static func server(limits: Limits = .patient) throws -> (TestServer, Held<Waiter>) {
        let waiters = Held<Waiter>()
        let server = try TestServer(
            limits: limits,
            adding: { router in
                router.on(.get, "/wait") { request, exchange in
                    request.onRepeat(varying: "n", Waiting(waiters))
                    waiters.add(Waiter(value: request.query["n"] ?? "none", exchange: exchange))
                }
            })
        return (server, waiters)
    }

    private static func poll(_ value: Int = 0, _ fields: String = "") -> String {
        "GET /wait?n=\(value) HTTP/1.1\r\nHost: x\r\n\(fields)\r\n"
    }

    @Test("One delivery and the poll after it take one call to send, one to receive, and none to watch")
    func calls() async throws {
        // Given twenty clients that wait
        let (server, waiters) = try RepeatedRequestTests.server()
        let clients = try (0..<20).map { _ in Client(try RawClient(port: server.port)) }
        for (number, client) in clients.enumerated() {
            try await client.run { $0.send(RepeatedRequestTests.poll(0, "User-Agent: device-\(number)\r\n")) }
        }
        var waiting = await waiters.take(20)
        let before = server.server.statistics()

        // When three changes are delivered, and each client polls again with another value
        for change in 1...3 {
            for waiter in waiting { waiter.respond("change") }
            for (number, client) in clients.enumerated() {
                #expect(try await client.run { try $0.reply().text } == "change")
                try await client.run { $0.send(RepeatedRequestTests.poll(change, "User-Agent: device-\(number)\r\n")) }
            }
            waiting = await waiters.take(20)
            #expect(waiting.allSatisfy { $0.value == "\(change)" })
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
        let (server, waiters) = try RepeatedRequestTests.server()
        let client = Client(try RawClient(port: server.port))
        let other = "GET /ok HTTP/1.1\r\nHost: x\r\n\r\n"
        try await client.run { $0.send(RepeatedRequestTests.poll()) }
        await waiters.take(1)[0].respond("first")
        #expect(try await client.run { try $0.reply().text } == "first")

        // When
        let polls = (0..<3).map { RepeatedRequestTests.poll($0) }
        try await client.run { $0.send(polls[0] + other + polls[1] + polls[2]) }

        // Then each is handled when the one before it is answered
        for expected in ["0", "ok", "1", "2"] {
            if expected != "ok" {
                let waiting = await waiters.take(1)
                #expect(waiting.count == 1)
                waiting[0].respond(waiting[0].value)
            }
            #expect(try await client.run { try $0.reply().text } == expected)
        }
    }

    @Test("A head that comes in pieces is put together, and one that goes on differently is not taken for it")
    func pieces() async throws {
        // Given
        let (server, waiters) = try RepeatedRequestTests.server()
        let client = Client(try RawClient(port: server.port))
        try await client.run { $0.send(RepeatedRequestTests.poll()) }
        await waiters.take(1)[0].respond("first")
        #expect(try await client.run { try $0.reply().text } == "first")

        // When
        for piece in ["GET /wait?n=1 HT", "TP/1.1\r\nHost: x\r\n", "\r\n"] { try await client.run { $0.send(piece) } }
        await waiters.take(1)[0].respond("second")
        #expect(try await client.run { try $0.reply().text } == "second")
        try await client.run { $0.send(RepeatedRequestTests.poll(2, "Host: y\r\n")) }

        // Then
        #expect(try await client.run { try $0.reply().status } == 400)
    }

    @Test("A drain ends the connection after the answer to a repeated request")
    func drains() async throws {
        // Given a connection that has repeated its request, and waits
        let (server, waiters) = try RepeatedRequestTests.server()
        let client = Client(try RawClient(port: server.port))
        try await client.run { $0.send(RepeatedRequestTests.poll(1)) }
        await waiters.take(1)[0].respond("first")
        #expect(try await client.run { try $0.reply().text } == "first")
        try await client.run { $0.send(RepeatedRequestTests.poll(2)) }
        let waiting = await waiters.take(1)
        #expect(server.server.statistics().requestsRecognised == 1)

        // When
        async let drained: Void = server.server.drain(within: .seconds(120))
        let loop = waiting[0].exchange.handle.connection.loop
        await untilDraining(loop)
        waiting[0].respond("last")

        // Then
        let reply = try await client.run { try $0.reply() }
        #expect(reply.text == "last" && reply["Connection"] == "close")
        #expect(try await client.run { try $0.rest() } == [])
        await drained
    }

    /// Asks the loop again and again, a message at a time, until it drains.
    private func untilDraining(_ loop: EventLoop) async {
        while await withCheckedContinuation({ done in loop.post(.perform { done.resume(returning: !$0.isDraining) }) }) {}
    }

    @Test("A connection does not use the request of another one")
    func separate() async throws {
        // Given a connection with a request that may repeat
        let (server, waiters) = try RepeatedRequestTests.server()
        let clients = try (0..<2).map { _ in Client(try RawClient(port: server.port)) }
        for client in clients {
            // When a connection sends it for the first time
            try await client.run { $0.send(RepeatedRequestTests.poll()) }
            await waiters.take(1)[0].respond("change")
            #expect(try await client.run { try $0.reply().text } == "change")
        }
        // Then it is parsed
        #expect(server.server.statistics().requestsRecognised == 0)
    }

    @Test("A peer that ends its input after a repeated request is reported, and gets its answer")
    func endsInput() async throws {
        // Given a connection that has repeated its request, and waits
        let (server, waiters) = try RepeatedRequestTests.server()
        let client = Client(try RawClient(port: server.port))
        for value in 0..<2 {
            try await client.run { $0.send(RepeatedRequestTests.poll(value)) }
            if value == 0 {
                await waiters.take(1)[0].respond("first")
                #expect(try await client.run { try $0.reply().text } == "first")
            }
        }
        let waiter = await waiters.take(1)[0]
        let hasEnded = Signal()
        waiter.exchange.onDisconnect { hasEnded.happen() }
        // When
        try await client.run { $0.finish() }
        await hasEnded.wait()
        // Then
        #expect(waiter.respond("last"))
        #expect(try await client.run { try $0.reply().text } == "last")
        #expect(server.server.statistics().requestsRecognised == 1)
    }

    @Test("A handler that releases the exchange without an answer answers 500")
    func unanswered() async throws {
        // Given
        final class Careless: RepeatedRequestHandler {
            func handle(_ value: Span<UInt8>, _ exchange: Exchange) {}
        }
        let server = try TestServer(adding: { router in
            router.on(.get, "/careless") { request, exchange in
                request.onRepeat(varying: "n", Careless())
                exchange.respond(.text("first"))
            }
        })
        let client = Client(try RawClient(port: server.port))
        // When, Then
        for (value, status) in [(1, 200), (2, 500), (3, 500)] {
            try await client.run { $0.send("GET /careless?n=\(value) HTTP/1.1\r\nHost: x\r\n\r\n") }
            #expect(try await client.run { try $0.reply().status } == status)
        }
    }

    @Test("A handler whose decisions no longer hold is released, and the request is routed")
    func outdated() async throws {
        // Given a handler that holds for one repetition, and a request behind it
        final class Once: RepeatedRequestHandler {
            private let isFirst = Atomic(true)

            var isCurrent: Bool { isFirst.exchange(false, ordering: .relaxed) }

            func handle(_ value: Span<UInt8>, _ exchange: Exchange) { exchange.respond(.text("repeated")) }
        }
        let server = try TestServer(adding: { router in
            router.on(.get, "/once") { request, exchange in
                request.onRepeat(varying: "n", Once())
                exchange.respond(.text("routed"))
            }
        })
        let client = Client(try RawClient(port: server.port))
        // When five come, the last two at once
        let request = { @Sendable (value: Int) in "GET /once?n=\(value) HTTP/1.1\r\nHost: x\r\n\r\n" }
        var texts: [String] = []
        for values in [1...1, 2...2, 3...3, 4...5] {
            try await client.run { $0.send(values.map(request).joined()) }
            for _ in values { texts.append(try await client.run { try $0.reply().text }) }
        }
        // Then
        #expect(texts == ["routed", "repeated", "routed", "repeated", "routed"])
        #expect(server.server.statistics().requestsRecognised == 2 && server.server.statistics().requests == 5)
    }

    /// Keeps the request that it was made for, as handlers do.
    private final class Keeping: RepeatedRequestHandler {
        let request: Request

        init(_ request: Request) { self.request = request }

        func handle(_ value: Span<UInt8>, _ exchange: Exchange) { exchange.respond(.text("again")) }
    }

    private final class Made: Sendable {
        private struct Reference: Sendable { weak let value: Keeping? }
        private let handlers = Mutex<[Reference]>([])

        func add(_ handler: Keeping) { handlers.withLock { $0.append(Reference(value: handler)) } }

        var alive: Int { handlers.withLock { $0.count { $0.value != nil } } }
    }

    @Test("A connection keeps its latest handler only, and releases it when it closes")
    func releases() async throws {
        // Given
        let made = Made()
        let server = try TestServer(adding: { router in
            router.on(.get, "/keep") { request, exchange in
                let handler = Keeping(request)
                made.add(handler)
                request.onRepeat(varying: "n", handler)
                exchange.respond(.text("first"))
            }
        })
        let client = Client(try RawClient(port: server.port))
        // When ten different requests arrive, each twice
        for number in 0..<10 {
            for (value, expected) in [(1, "first"), (2, "again")] {
                try await client.run { $0.send("GET /keep?n=\(value)&other=\(number) HTTP/1.1\r\nHost: x\r\n\r\n") }
                #expect(try await client.run { try $0.reply().text } == expected)
            }
        }
        // Then
        #expect(made.alive == 1)
        await server.server.drain()
        #expect(made.alive == 0)
    }
}
