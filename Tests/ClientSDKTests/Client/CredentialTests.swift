import FreshetClient
import Testing

/// Credentials of a client over plain HTTP.
@Suite struct CredentialTests {
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

    @Test(
        "an error about the URL does not show its password",
        arguments: [
            "http://ann:zq#yx@example.org", "http://ann:zq/yx@example.org", "http://ann:zq yx@example.org", "http://ann:zq@yx@example.org?",
            "ann:zqyx@example.org", "https://ann:zqyx@example.org/sync/v1/shop", "http://ann:zqyx@example.org",
        ])
    func hiddenPassword(url: String) {
        let error = #expect(throws: ClientError.self) { try SyncClient(url: url, namespace: "test") }
        guard case .invalidConfiguration(let text)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(text.contains("example.org") && !text.contains("zq") && !text.contains("yx"), "\(text)")
    }

    @Test("settings of TLS are refused with a URL of plain http")
    func settingsWithoutTLS() throws {
        let pin = "sha256//" + String(repeating: "A", count: 43) + "="
        let changes: [(inout SyncClient.Configuration) -> Void] = [
            { $0.pinnedKeys = [pin] }, { $0.authority = "/dev/null" },
            { $0.clientCertificate = .init(certificate: "/dev/null", key: "/dev/null") },
        ]
        for change in changes {
            // Given
            var configuration = SyncClient.Configuration(url: "http://127.0.0.1:8180", namespace: "test")
            change(&configuration)
            // Then
            let error = #expect(throws: ClientError.self) { try SyncClient(configuration) }
            guard case .invalidConfiguration(let text)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(text.contains("https"))
            configuration.url = "https://127.0.0.1:8180"
            _ = try SyncClient(configuration)
        }
    }

    @Test func aPasswordInTheURLOfAClientCountsAsToken() {
        #expect(throws: ClientError.self) { try SyncClient(url: "http://ann:secret@192.168.1.7:8180", namespace: "test") }
    }
}
