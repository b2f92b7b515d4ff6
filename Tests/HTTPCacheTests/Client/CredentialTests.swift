import FreshetHTTPCache
import FreshetTestSupport
import HTTPTypes
import Testing

/// Credentials over plain HTTP. `0.0.0.0` leads to this machine, and does not count as loopback: it stands for another host.
@Suite struct CredentialTests {
    @Test func theCachingClientKeepsAuthorizationBackToo() async throws {
        // Given an origin that is no loopback by its URL
        let server = ScriptedServer { connection in
            while let request = connection.request() {
                let line = request.head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("authorization: ") }
                connection.respond(line.map(String.init) ?? "none")
            }
        }
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
