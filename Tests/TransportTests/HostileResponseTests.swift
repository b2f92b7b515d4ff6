import FreshetTestSupport
import FreshetTransport
import HTTPTypes
import Testing

/// Headers that no well-behaved server sends, and the headers of proxies.
@Suite("Headers of hostile servers") struct HostileResponseTests {
    /// Returns the outcome of a request to a server that answers with these bytes.
    private static func outcome(
        _ response: String, to method: HTTPRequest.Method = .get, body: [UInt8]? = nil, limit: Int = 1_000
    ) async throws -> Result<HTTPReply, TransportError> {
        let server = ScriptedServer { connection in
            if connection.request() != nil { connection.send(response) }
        }
        let transport = try CurlTransport()
        let request = HTTPRequestDescription(method: method, url: server.url, body: body, maximumResponseSize: limit)
        return try await within { await transport.reply(to: request) }
    }

    @Test(
        "a status that is no HTTP status is refused",
        arguments: [
            "HTTP/2 99999", "HTTP/2 1000", "HTTP/2 -5", "HTTP/2 0", "HTTP/2 42", "HTTP/1.1 1000", "HTTP/1.1 -12", "HTTP/1.1 2",
            "HTTP/1.7 200",
        ])
    func status(_ line: String) async throws {
        guard case .failure(.malformedResponse(_)) = try await Self.outcome("\(line) X\r\nContent-Length: 1\r\n\r\na") else {
            Issue.record("it was accepted")
            return
        }
    }

    @Test(
        "a response states its end, or is marked as one that may be cut",
        arguments: [
            ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na", true), ("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", true),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", true),
            ("HTTP/1.1 204 No Content\r\n\r\n", true), ("HTTP/1.1 304 Not Modified\r\n\r\n", true),
            ("HTTP/1.1 200 OK\r\n\r\na", false), ("HTTP/1.0 200 OK\r\n\r\na", false), ("HTTP/1.0 404 Not Found\r\n\r\n", false),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\na", false),
        ])
    func end(_ response: String, _ statesEnd: Bool) async throws {
        #expect(try await Self.outcome(response).get().statesEnd == statesEnd)
    }

    @Test("the response to a HEAD has no content, so its end is stated")
    func endOfHead() async throws {
        #expect(try await Self.outcome("HTTP/1.0 200 OK\r\n\r\n", to: .head).get().statesEnd)
    }

    @Test("a header of more fields than the limit is refused")
    func fields() async throws {
        func header(of count: Int) -> String {
            "HTTP/1.1 200 OK\n" + String(repeating: "a:\n", count: count - 1) + "Content-Length: 1\n\na"
        }
        #expect(try await Self.outcome(header(of: 4_096)).get().fields.count == 4_096)
        // As many as fit into the limit in bytes
        for count in [4_097, 80_000] {
            guard case .failure(.malformedResponse(_)) = try await Self.outcome(header(of: count)) else {
                Issue.record("\(count) fields were accepted")
                return
            }
        }
    }

    @Test(
        "a folded line continues the field before it",
        arguments: [
            ("A: 1,\r\n 2\r\n", "1, 2"), ("A: 1,\r\n\t 2 \r\n  3\r\n", "1, 2 3"), ("A:\r\n 1\r\n", " 1"),
            ("A: 1\r\n(: 2\r\n 3\r\n", "1"), ("A : 1\r\n", "1"), ("A\t: 1\r\nB: 2\r\n 3\r\n", "1"),
        ] as [(String, String?)])
    func folding(_ lines: String, _ value: String?) async throws {
        let reply = try await Self.outcome("HTTP/1.1 200 OK\r\n\(lines)Content-Length: 1\r\n\r\na").get()
        #expect(reply.fields[HTTPField.Name("A")!]?.drop { $0 == " " } == value?.drop { $0 == " " })
        #expect(reply.fields[.contentLength] == "1")
    }

    @Test("a header that begins with a folded line does not continue the header of an earlier response")
    func foldedFirstLine() async throws {
        // Given a server that answers well, and then with such a header
        let server = ScriptedServer { connection in
            while let (head, _) = connection.request() {
                let field = String(repeating: "1", count: 100)
                let line = head.hasPrefix("GET /folded ") ? " B: \(field)\(field)" : "A: \(field)"
                connection.send("HTTP/1.1 200 OK\r\n\(line)\r\nContent-Length: 1\r\n\r\na")
            }
        }
        let transport = try CurlTransport()
        for _ in 1...20 {
            // When one request follows the other
            let well = try await within { await transport.reply(to: HTTPRequestDescription(url: server.url)) }
            let folded = try await within { await transport.reply(to: HTTPRequestDescription(url: server.url + "/folded")) }
            // Then the first is answered, and the second has none of its fields, whether libcurl accepts it or not
            #expect(try well.get().fields[HTTPField.Name("A")!]?.count == 100)
            if case .success(let reply) = folded { #expect(reply.fields.map(\.name.canonicalName) == ["content-length"]) }
        }
    }

    @Test("a line that looks like a status line neither ends the header nor follows the content")
    func statusLines() async throws {
        // Given such a line within the header, and in a trailer
        let reply = try await Self.outcome(
            "HTTP/1.1 200 OK\r\nA: 1\r\nHTTP/1.1 200 OK: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nHTTP/1.1 200 OK: 1\r\n\r\n"
        ).get()
        // Then fields and content are those of the one response
        #expect(reply.body == Array("a".utf8))
        #expect(reply.fields[HTTPField.Name("A")!] == "1")
    }

    @Test("the fields of interim responses are not those of the response")
    func interim() async throws {
        let reply = try await Self.outcome(
            "HTTP/1.1 103 Early Hints\r\nA: 1\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\nB: 1\r\nContent-Length: 1\r\n\r\na"
        ).get()
        #expect(reply.status == 200 && reply.fields.map(\.name.canonicalName) == ["b", "content-length"])
    }

    @Test("the length that a HEAD or a 304 states is not limited")
    func lengthWithoutContent() async throws {
        let length = "Content-Length: 1000000000000\r\n\r\n"
        #expect(try await Self.outcome("HTTP/1.1 200 OK\r\n" + length, to: .head).get().fields[.contentLength] == "1000000000000")
        #expect(try await Self.outcome("HTTP/1.1 304 Not Modified\r\n" + length).get().status == 304)
        #expect(try await Self.outcome("HTTP/1.1 200 OK\r\n" + length) == .failure(.tooLarge(limit: 1_000)))
    }

    @Test("a HEAD with content is refused and not sent as a POST")
    func head() async throws {
        guard case .failure(.invalidRequest(_)) = try await Self.outcome("HTTP/1.1 200 OK\r\n\r\n", to: .head, body: [1]) else {
            Issue.record("it was sent")
            return
        }
        #expect(try await Self.outcome("HTTP/1.1 200 OK\r\n\r\n", to: .head, body: []).get().status == 200)
    }
}
