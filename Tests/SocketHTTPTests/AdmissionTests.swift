import HTTPTypes
import Synchronization
import Testing

@testable import FreshetSocketHTTP

/// A route decides by the head whether a body is received.
@Suite("Admission of bodies", .timeLimit(.minutes(5)))
struct AdmissionTests {
    /// A question of the server, and its answer.
    private struct Question: Sendable {
        let request: Request
        let decide: @Sendable (Response?) -> Void
    }

    private static let refusal = Response(status: .unauthorized, body: Array("who?".utf8))

    /// A server with a route that asks.
    private static func server(limits: Limits = .patient) throws -> (TestServer, Held<Question>) {
        let questions = Held<Question>()
        let server = try TestServer(
            limits: limits,
            adding: { router in
                router.on(.put, "/asks/{name}", admission: { questions.add(Question(request: $0, decide: $1)) }) { request, exchange in
                    exchange.respond(.text("\(request.parameter("name")) \(request.body.count)"))
                }
            })
        return (server, questions)
    }

    private static func head(_ fields: String, _ target: String = "/asks/a") -> String {
        "PUT \(target) HTTP/1.1\r\nHost: x\r\n\(fields)\r\n\r\n"
    }

    @Test(
        "A large body of a request that is refused is not received",
        arguments: ["Content-Length: 1000000", "Transfer-Encoding: chunked"])
    func refused(framing: String) async throws {
        // Given a client that sends the head, and of a chunked body as much as makes it large
        let (server, questions) = try AdmissionTests.server()
        let client = Client(try RawClient(port: server.port))
        let begun = framing.contains("chunked") ? "100000\r\n" + String(repeating: "a", count: 70_000) : ""
        try await client.run { $0.send(AdmissionTests.head(framing) + begun) }
        let question = await questions.take(1)[0]
        #expect(question.request.parameter("name") == "a" && question.request.body.isEmpty)

        // When the route refuses it, Then the client is answered although its body is missing, and the connection ends
        question.decide(AdmissionTests.refusal)
        let reply = try await client.run { try $0.reply() }
        #expect(reply.status == 401 && reply.text == "who?" && reply["Connection"] == "close")
        #expect(try await client.run { try $0.isAtEnd() })
        #expect(server.server.statistics().requests == 0 && server.server.statistics().requestBytes == 0)
    }

    @Test("A large body is received once the route admits it, whenever that is", arguments: [false, true])
    func admitted(isSentAtOnce: Bool) async throws {
        // Given a large body, which arrives before or after the decision, with a request behind it
        let (server, questions) = try AdmissionTests.server()
        let client = Client(try RawClient(port: server.port))
        let rest = String(repeating: "a", count: 300_000) + "GET /ok HTTP/1.1\r\nHost: x\r\n\r\n"
        let head = AdmissionTests.head("Content-Length: 300000")
        async let sent: Void = client.run { $0.send(head + (isSentAtOnce ? rest : "")) }
        let question = await questions.take(1)[0]

        // When the route admits it, and repeats itself
        question.decide(nil)
        question.decide(AdmissionTests.refusal)
        try await sent
        if !isSentAtOnce { try await client.run { $0.send(rest) } }

        // Then both requests are handled, and the route is asked once
        #expect(try await client.run { try $0.reply().text } == "a 300000")
        #expect(try await client.run { try $0.reply().text } == "ok")
        #expect(questions.takeAll().isEmpty)
    }

    @Test("100 Continue is sent once the route admits the body, and never if it does not")
    func expectsContinue() async throws {
        let (server, questions) = try AdmissionTests.server()
        let head = AdmissionTests.head("Expect: 100-continue\r\nContent-Length: 2")
        for isAdmitted in [true, false] {
            let client = Client(try RawClient(port: server.port))
            try await client.run { $0.send(head) }
            await questions.take(1)[0].decide(isAdmitted ? nil : AdmissionTests.refusal)
            #expect(try await client.run { try $0.reply().status } == (isAdmitted ? 100 : 401))
            guard isAdmitted else { continue }
            try await client.run { $0.send("ok") }
            #expect(try await client.run { try $0.reply().text } == "a 2")
        }
    }

    @Test("A small body needs no decision, and a path without a route none to refuse a large one")
    func others() async throws {
        let (server, questions) = try AdmissionTests.server()
        let client = Client(try RawClient(port: server.port))
        try await client.run { $0.send(AdmissionTests.head("Content-Length: 2") + "ok") }
        #expect(try await client.run { try $0.reply().text } == "a 2")
        #expect(questions.takeAll().isEmpty)
        try await client.run { $0.send(AdmissionTests.head("Content-Length: 1000000", "/none")) }
        #expect(try await client.run { try $0.reply().status } == 404)
        let other = Client(try RawClient(port: server.port))
        try await other.run { $0.send(AdmissionTests.head("Content-Length: 1000000", "/ok")) }
        let reply = try await other.run { try $0.reply() }
        #expect(reply.status == 405 && reply["Allow"] == "GET, HEAD, OPTIONS")
    }

    @Test("A refusal waits for the answer before it")
    func behindAnother() async throws {
        // Given a request that waits, and a refused one behind it
        let (server, questions) = try AdmissionTests.server()
        let client = Client(try RawClient(port: server.port))
        try await client.run { $0.send("GET /park HTTP/1.1\r\nHost: x\r\n\r\n" + AdmissionTests.head("Content-Length: 1000000")) }
        let exchange = await server.parked.take(1)[0]
        await questions.take(1)[0].decide(AdmissionTests.refusal)

        // When the first is answered, Then the refusal follows
        exchange.respond(.text("first"))
        #expect(try await client.run { try $0.reply().text } == "first")
        #expect(try await client.run { try $0.reply().status } == 401)
        #expect(try await client.run { try $0.isAtEnd() })
    }

    @Test("A decision for a client that has gone is ignored, and one that never comes ends by the time-out")
    func late() async throws {
        // Given a client that leaves before the decision
        let (server, questions) = try AdmissionTests.server(limits: Limits(bodyTimeout: .milliseconds(100)))
        let leaving = Client(try RawClient(port: server.port))
        try await leaving.run { $0.send(AdmissionTests.head("Content-Length: 1000000")) }
        let question = await questions.take(1)[0]
        try await leaving.run { $0.reset() }
        question.decide(AdmissionTests.refusal)

        // And one whose route never decides
        let waiting = Client(try RawClient(port: server.port))
        try await waiting.run { $0.send(AdmissionTests.head("Content-Length: 1000000")) }
        let undecided = await questions.take(1)[0]
        #expect(try await waiting.run { try $0.reply().status } == 408)
        undecided.decide(nil)
        #expect(try await waiting.run { try $0.isAtEnd() })
    }
}
