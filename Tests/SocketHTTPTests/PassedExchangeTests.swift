import HTTPTypes
import Testing

@testable import FreshetSocketHTTP

@Suite("Exchanges whose answers reach the peer in part, late, or not at all")
struct PassedExchangeTests {
    private static let parkRequest = "GET /park HTTP/1.1\r\nHost: x\r\n\r\n"

    /// The exchange of a request that waits, and its client.
    private func parked(_ server: TestServer, _ request: String = parkRequest) async throws -> (exchange: Exchange, client: Client) {
        let client = Client(try RawClient(port: server.port))
        try await client.run { $0.send(request) }
        return (await server.parked.take(1)[0], client)
    }

    @Test("Instead of a withheld answer the connection ends", arguments: [false, true])
    func withheld(isShared: Bool) async throws {
        // Given
        let server = try TestServer()
        let (exchange, client) = try await parked(server)
        let passed = exchange.passed(.nothing)
        // When it is answered alone, or with others
        if isShared {
            Exchange.respond(to: [passed], with: EncodedResponse(.text("one")))
        } else {
            #expect(passed.respond(.text("one")))
        }
        // Then no bytes arrive
        #expect(try await client.run { try $0.rest() }.isEmpty)
    }

    @Test("A cut answer ends in its middle", arguments: [false, true])
    func cut(isShared: Bool) async throws {
        // Given
        let server = try TestServer()
        let (exchange, client) = try await parked(server)
        let answer = EncodedResponse(.text(String(repeating: "x", count: 400)))
        // When
        if isShared {
            Exchange.respond(to: [exchange.passed(.part)], with: answer)
        } else {
            exchange.passed(.part).respond(answer)
        }
        // Then its head and half of its body arrive
        let bytes = try await client.run { try $0.rest() }
        #expect(bytes == Array(answer.bytes.dropLast(200)))
    }

    @Test("An answer without a body is cut in its head", arguments: ["GET", "HEAD"])
    func cutHead(method: String) async throws {
        let server = try TestServer()
        let (exchange, client) = try await parked(server, "\(method) /park HTTP/1.1\r\nHost: x\r\n\r\n")
        let answer = method == "GET" ? Response(status: .noContent) : .text("x")
        exchange.passed(.part).respond(answer)
        let text = String(decoding: try await client.run { try $0.rest() }, as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 20") && !text.contains("\r\n\r\n"))
    }

    @Test("A cut stream ends after its head")
    func cutStream() async throws {
        let server = try TestServer()
        let (exchange, client) = try await parked(server)
        let stream = exchange.passed(.part).stream(status: .ok)
        stream.write([1])
        let text = String(decoding: try await client.run { try $0.rest() }, as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n") && text.hasSuffix("\r\n\r\n"))
    }

    @Test("An answer that ends the connection waits for its turn")
    func turn() async throws {
        // Given two requests on one connection
        let server = try TestServer()
        let client = Client(try RawClient(port: server.port))
        try await client.run { $0.send(Self.parkRequest + Self.parkRequest) }
        let parked = await server.parked.take(2)
        // When the second is answered without bytes before the first is answered
        parked[1].passed(.nothing).respond(.text("two"))
        parked[0].respond(.text("one"))
        // Then the first answer is whole
        #expect(String(decoding: try await client.run { try $0.rest() }, as: UTF8.self).hasSuffix("\r\n\r\none"))
    }

    @Test("A late answer comes whole, after those that others get at once")
    func late() async throws {
        let server = try TestServer()
        let (exchange, client) = try await parked(server)
        Exchange.respond(to: [exchange.passed(after: .milliseconds(20))], with: EncodedResponse(.text("late")))
        #expect(try await client.run { try $0.reply().text } == "late")
    }

    @Test("The right to answer is passed on once, and a muted exchange has none")
    func right() async throws {
        let server = try TestServer()
        let (exchange, client) = try await parked(server)
        let passed = exchange.passed()
        #expect(!exchange.respond(.text("first")))
        #expect(!exchange.passed().respond(.text("again")))
        #expect(!passed.muted.respond(.text("muted")))
        #expect(passed.respond(.text("passed")))
        #expect(try await client.run { try $0.reply().text } == "passed")
    }
}
