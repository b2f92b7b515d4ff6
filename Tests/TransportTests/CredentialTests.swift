import FreshetTestSupport
import FreshetTransport
import HTTPTypes
import Testing

/// Credentials over plain HTTP. `0.0.0.0` leads to this machine, and does not count as loopback: it stands for another host.
struct CredentialTests {
    private static func reply(
        _ request: HTTPRequestDescription, _ configuration: CurlTransport.Configuration = .init()
    ) async throws -> Result<HTTPReply, TransportError> {
        let transport = try CurlTransport(configuration)
        return try await within {
            await withCheckedContinuation { continuation in
                transport.send(request) { continuation.resume(returning: $0) }
            }
        }
    }

    /// Answers with the request's `Authorization`.
    private static func echo() -> ScriptedServer {
        ScriptedServer { connection in
            while let request = connection.request() {
                let line = request.head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("authorization: ") }
                connection.respond(line.map(String.init) ?? "none")
            }
        }
    }

    @Test(arguments: [("", "Bearer 1"), ("ann:secret@", nil), ("ann:secret@", "Bearer 1")])
    func credentialsDoNotLeaveForAnotherHost(user: String, field: String?) async throws {
        // Given a server that is no loopback by its URL
        let server = Self.echo()
        let url = "http://\(user)0.0.0.0:\(server.port)/"
        let fields: HTTPFields = field.map { [.authorization: $0] } ?? [:]
        // When a request with credentials is sent; Then it fails before there is a connection
        guard case .failure(.invalidRequest(let text)) = try await Self.reply(HTTPRequestDescription(url: url, fields: fields)) else {
            Issue.record("it was sent")
            return
        }
        #expect(text.contains("0.0.0.0") && text.contains("https") && !text.contains("secret"))
        #expect(server.connections == 0)
    }

    @Test func credentialsLeaveWhereThatIsAllowed() async throws {
        let server = Self.echo()
        var configuration = CurlTransport.Configuration()
        configuration.allowsInsecureCredentials = true
        let request = HTTPRequestDescription(url: "http://0.0.0.0:\(server.port)/", fields: [.authorization: "Bearer 1"])
        #expect(try await Self.reply(request, configuration).get().body == Array("Authorization: Bearer 1".utf8))
    }

    @Test func requestsWithoutCredentialsLeave() async throws {
        let server = Self.echo()
        let request = HTTPRequestDescription(url: "http://0.0.0.0:\(server.port)/a@b")
        #expect(try await Self.reply(request).get().body == Array("none".utf8))
    }
}
