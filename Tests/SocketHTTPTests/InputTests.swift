import HTTPTypes
import Testing

@testable import FreshetSocketHTTP

/// The kernel reports input once, so the loop must not leave any behind that is never reported again.
@Suite("Input", .timeLimit(.minutes(5)))
struct InputTests {
    private static let request = "GET /ok HTTP/1.1\r\nHost: x\r\n\r\n"

    @Test("Input that arrived while the loop was busy is found, and the end behind it")
    func toldOnce() async throws {
        // Given a loop that is held up
        let held = try HeldServer()
        let server = held.server
        try await held.hold()

        // When requests come in one piece and in several, and some peers end, all before the loop looks
        let whole = Client(try RawClient(port: server.port))
        let pieces = Client(try RawClient(port: server.port))
        let ended = Client(try RawClient(port: server.port))
        let silent = Client(try RawClient(port: server.port))
        try await whole.run { $0.send(Self.request) }
        try await pieces.run { client in for byte in (Self.request + Self.request).utf8 { client.send([byte]) } }
        try await ended.run {
            $0.send(Self.request)
            $0.finish()
        }
        try await silent.run { $0.finish() }
        try await held.open()

        // Then all are answered, and those that ended see the end
        #expect(try await whole.run { try $0.reply().text } == "ok")
        #expect(try await pieces.run { try [$0.reply().text, $0.reply().text] } == ["ok", "ok"])
        #expect(try await ended.run { try $0.reply().text } == "ok")
        #expect(try await ended.run { try $0.isAtEnd() })
        #expect(try await silent.run { try $0.isAtEnd() })
        // And the connection that stays open is read again, and so is its end
        try await whole.run { $0.send(Self.request) }
        #expect(try await whole.run { try $0.reply().text } == "ok")
        try await whole.run { $0.finish() }
        #expect(try await whole.run { try $0.isAtEnd() })
    }

    @Test("Input and answers that one turn does not finish are transferred in later turns")
    func turns() async throws {
        // Given a server
        let server = try TestServer()

        // When several clients send and receive far more than one turn transfers for all of them
        let body = [UInt8]((0..<400_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &>> 3) })
        let clients = try (0..<6).map { _ in Client(try RawClient(port: server.port)) }
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for client in clients {
                group.addTask {
                    try await client.run {
                        $0.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.count)\r\n\r\n")
                        $0.send(body)
                        return try $0.reply().body
                    }
                }
            }
            // Then all of it arrives
            for try await echoed in group {
                // Compared first: a report of how two such arrays differ takes minutes.
                let isSame = echoed == body
                #expect(isSame)
            }
        }
    }
}
