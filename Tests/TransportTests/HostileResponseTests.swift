import FreshetTestSupport
import FreshetTransport
import HTTPTypes
import Testing

/// Headers that no well-behaved server sends, and the headers of proxies.
@Suite("Headers of hostile servers") struct HostileResponseTests {
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
}
