import FreshetCache
import FreshetClient
import FreshetTestSupport
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

    @Test(arguments: ["http://192.168.1.7:8180", "http://localhost.evil.example", "http://127.0.0.1@evil.example"])
    func aClientWithATokenForAnotherHostIsNotMade(url: String) throws {
        // Given a configuration with a token for a host that http does not protect
        var configuration = SyncClient.Configuration(url: url, namespace: "test")
        configuration.token = { _ in "secret" }
        // Then it is refused, and the error names the alternatives
        let error = #expect(throws: ClientError.self) { try SyncClient(configuration) }
        guard case .invalidConfiguration(let text)? = error else {
            Issue.record("got \(String(describing: error))")
            return
        }
        #expect(text.contains("https") && text.contains("allowsInsecureCredentials"))
        // Unless that is allowed
        configuration.allowsInsecureCredentials = true
        _ = try SyncClient(configuration)
        // Without a token any host will do, and with TLS any token
        configuration.allowsInsecureCredentials = false
        configuration.token = nil
        if !url.contains("@") { _ = try SyncClient(configuration) }
        configuration.url = "https://192.168.1.7:8180"
        configuration.token = { _ in "secret" }
        _ = try SyncClient(configuration)
    }

    @Test func aPasswordInTheURLOfAClientCountsAsToken() {
        #expect(throws: ClientError.self) { try SyncClient(url: "http://ann:secret@192.168.1.7:8180", namespace: "test") }
    }

    @Test func theCachingClientKeepsAuthorizationBackToo() async throws {
        // Given an origin that is no loopback by its URL
        let server = Self.echo()
        let url = "http://0.0.0.0:\(server.port)/"
        let client = try CachingHTTPClient(store: MemoryHTTPCacheStore())
        // When it is asked with credentials; Then nothing is sent
        await #expect(throws: HTTPClientError.self) { try await within { try await client.data(from: url, fields: [.authorization: "1"]) } }
        #expect(server.connections == 0)
        // Without, it is
        #expect(try await within { try await client.data(from: url) }.body == Array("none".utf8))
        // And with them where that is allowed
        var configuration = CachingHTTPClient.Configuration()
        configuration.allowsInsecureCredentials = true
        let open = try CachingHTTPClient(store: MemoryHTTPCacheStore(), configuration: configuration)
        #expect(try await within { try await open.data(from: url, fields: [.authorization: "1"]) }.body == Array("Authorization: 1".utf8))
    }
}
