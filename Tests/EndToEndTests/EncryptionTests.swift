import FreshetClient
import FreshetServer
import FreshetTestSupport
import Subprocess
import Testing

/// TLS over sockets: a server in this process, and the clients `openssl s_client`, `curl` and the SDK.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: TestAuthority.isAvailable, "the program openssl, which makes the certificates, is not in the PATH"))
struct EncryptionTests {
    /// A server with a certificate of a new authority.
    private struct Fixture: Sendable {
        let authority: TestAuthority
        let identity: TestAuthority.Identity
        let server: RecordServer

        init(demandsCertificates: Bool = false, _ configure: (inout RecordServerConfiguration) -> Void = { _ in }) async throws {
            authority = try await TestAuthority()
            identity = try await authority.issue("server")
            var configuration = RecordServerConfiguration()
            configuration.tls = .init(
                certificates: [.init(chain: identity.chain, key: identity.key)],
                clientAuthority: demandsCertificates ? authority.certificate : nil)
            configure(&configuration)
            server = try RecordServer.running(configuration)
        }

        var port: Int { server.address?.port ?? 0 }

        /// Requests that the server has received, this one included.
        func requests() async throws -> Int {
            let metrics = try await curl(["--cacert", authority.certificate, server.url + "/metrics"]).body
            let line = metrics.split(separator: "\n").first { $0.hasPrefix("freshet_http_requests_total ") }
            return try #require(line.flatMap { Int($0.split(separator: " ")[1]) })
        }
    }

    /// Whether `openssl s_client` completes a handshake with these options; and what it prints.
    private func handshake(_ fixture: Fixture, _ options: [String], input: String = "") async throws -> (isComplete: Bool, text: String) {
        let arguments = [
            "s_client", "-connect", "127.0.0.1:\(fixture.port)", "-CAfile", fixture.authority.certificate, "-verify_return_error",
        ]
        let result = try await run(
            .name("openssl"), arguments: Arguments(arguments + options), input: .string(input), output: .string(limit: 1 << 20),
            error: .string(limit: 1 << 20))
        let text = result.standardOutput + result.standardError
        return (text.contains("Verify return code: 0 (ok)") && !text.contains("Cipher is (NONE)"), text)
    }

    @Test func onlyCurrentVersionsAndCiphersAreSpoken() async throws {
        let fixture = try await Fixture()
        // Given each version and ciphers of both kinds; Then those with forward secrecy and authenticated encryption serve
        let cases: [(options: [String], isServed: Bool)] = [
            (["-tls1_3"], true), (["-tls1_2"], true),
            (["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"], false), (["-tls1", "-cipher", "ALL:@SECLEVEL=0"], false),
            (["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256"], true),
            (["-tls1_2", "-cipher", "ECDHE-ECDSA-CHACHA20-POLY1305"], true),
            (["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA"], false), (["-tls1_2", "-cipher", "AES128-GCM-SHA256:AES128-SHA"], false),
            (["-tls1_2", "-cipher", "aNULL:eNULL:@SECLEVEL=0"], false),
            (["-tls1_3", "-ciphersuites", "TLS_CHACHA20_POLY1305_SHA256"], true),
            (["-alpn", "http/1.1"], true), (["-alpn", "h2,http/1.1"], true), (["-alpn", "h2"], false),
            (["-servername", "localhost"], true), (["-servername", "other.example"], true),
            (["-groups", "X25519"], true), (["-groups", "P-256"], true),
        ]
        for (options, isServed) in cases {
            let (isComplete, text) = try await handshake(fixture, options)
            #expect(isComplete == isServed, "\(options): \(text)")
        }
        // And nothing is compressed, and no renegotiation is allowed
        let (_, text) = try await handshake(fixture, ["-tls1_2"])
        #expect(text.contains("Compression: NONE") && text.contains("Secure Renegotiation IS supported"))
        // When a client asks for one on its connection
        let (_, renegotiation) = try await handshake(fixture, ["-tls1_2"], input: "R\n")
        #expect(renegotiation.contains("RENEGOTIATING") && renegotiation.contains("no renegotiation"), "\(renegotiation)")
        // And TLS 1.3 shows neither, nor early data
        let (_, current) = try await handshake(fixture, ["-tls1_3"])
        #expect(current.contains("Compression: NONE") && current.contains("Early data was not sent"))
        await fixture.server.stop()
    }

    @Test func curlIsServedWithHSTSAndPlainHTTPIsExplained() async throws {
        let fixture = try await Fixture()
        let trust = ["--cacert", fixture.authority.certificate]
        #expect(fixture.server.url == "https://127.0.0.1:\(fixture.port)")
        // When a record is written and read over TLS; Then each response has the field
        let url = "\(fixture.server.url)/v1/default/records/c/1"
        let written = try await curl(trust + ["-X", "PUT", "-H", "Content-Type: application/json", "-d", "17", url])
        let read = try await curl(trust + ["https://localhost:\(fixture.port)/v1/default/records/c/1"])
        #expect(written.status == 201 && read.body == "17")
        for answer in [written, read, try await curl(trust + ["\(fixture.server.url)/none"])] {
            #expect(answer.fields["strict-transport-security"] == "max-age=31536000")
        }
        // And a client that speaks plain HTTP gets advice
        let plain = try await curl(["http://127.0.0.1:\(fixture.port)/v1/default"])
        #expect(plain.status == 400 && plain.body.contains("use https://") && plain.fields["strict-transport-security"] == nil)
        // And one that does not know the authority sends nothing
        await #expect(throws: CommandFailure.self) { _ = try await curl([url]) }
        let metrics = try await curl(trust + ["\(fixture.server.url)/metrics"]).body
        #expect(metrics.contains("freshet_tls_certificate_expiry_timestamp_seconds ") && metrics.contains("freshet_tls_failures_total 2"))
        await fixture.server.stop()
        // A server without TLS has neither.
        let other = try RecordServer.running()
        #expect(try await curl([other.url + "/v1/default"]).fields["strict-transport-security"] == nil)
        #expect(try await !curl([other.url + "/metrics"]).body.contains("freshet_tls"))
        await other.stop()
    }

    @Test func largeBodiesPassInBothDirections() async throws {
        let fixture = try await Fixture()
        let value = "\"" + String(repeating: "0123456789", count: 1_000_000) + "\""
        fixture.authority.write(Array(value.utf8), to: "value")
        let trust = ["--cacert", fixture.authority.certificate]
        let url = "\(fixture.server.url)/v1/default/records/c/1"
        let written = try await curl(
            trust + ["-X", "PUT", "-H", "Content-Type: application/json", "--data-binary", "@" + fixture.authority.file("value"), url])
        #expect(written.status == 201)
        let read = try await curl(trust + [url])
        #expect(read.body == value)
        // A client that reads slowly gets the same bytes.
        let slow = try await curl(trust + ["--limit-rate", "5M", url])
        #expect(slow.body == value)
        await fixture.server.stop()
    }

    @Test func clientsWithACertificateAreServedWhereItIsDemanded() async throws {
        let fixture = try await Fixture(demandsCertificates: true)
        let device = try await fixture.authority.issue("device")
        let trust = ["--cacert", fixture.authority.certificate]
        #expect(try await curl(trust + ["--cert", device.chain, "--key", device.key, fixture.server.url + "/healthz"]).status == 200)
        await #expect(throws: CommandFailure.self) { _ = try await curl(trust + [fixture.server.url + "/healthz"]) }
        // And the SDK presents its certificate
        var configuration = SyncClient.Configuration(url: fixture.server.url, namespace: "default")
        configuration.authority = fixture.authority.certificate
        configuration.clientCertificate = .init(certificate: device.chain, key: device.key)
        try await write(configuration)
        await fixture.server.stop()
    }

    /// Starts a client, writes a record, and waits for the server's verdict.
    private func write(_ configuration: SyncClient.Configuration) async throws {
        let client = try SyncClient(configuration)
        try await client.start()
        let notes = client.collection("notes", of: String.self)
        try await notes.setValue("one", forKey: "1").waitUntilConfirmed()
        await client.stop()
    }

    @Test func theSDKTrustsAnAuthorityAndPinsKeys() async throws {
        let fixture = try await Fixture()
        var configuration = SyncClient.Configuration(url: "https://localhost:\(fixture.port)", namespace: "default")
        // Given a client that trusts the authority, then one that also pins the key
        configuration.authority = fixture.authority.certificate
        configuration.token = { _ in "secret" }
        try await write(configuration)
        configuration.pinnedKeys = [
            "sha256//" + String(repeating: "A", count: 43) + "=", try await fixture.authority.pin(fixture.identity),
        ]
        try await write(configuration)
        // Given one that pins another key, one that trusts another authority, one that trusts the system's, and one that asks for another name
        let other = try await TestAuthority()
        var (pins, strange, system) = (configuration, configuration, configuration)
        pins.pinnedKeys.removeLast()
        (strange.authority, strange.pinnedKeys) = (other.certificate, [])
        (system.authority, system.pinnedKeys) = (nil, [])
        // All authorities of the system are read within the time for connecting.
        (system.connectTimeout, system.readTimeout) = (.seconds(120), .seconds(120))
        for (wrong, advice) in [(pins, "pinned"), (strange, "authority"), (system, "authority")] {
            // Then a read fails with the reason, and nothing was sent
            let requests = try await fixture.requests()
            let client = try SyncClient(wrong)
            try await client.start()
            let notes = client.collection("notes", of: String.self)
            do {
                _ = try await notes.value(forKey: "1", policy: .networkOnly)
                Issue.record("it was read")
            } catch let error as ClientError {
                guard case .untrusted(let text) = error else {
                    Issue.record("\(error)")
                    continue
                }
                #expect(text.contains(advice), "\(text)")
            }
            await client.stop()
            #expect(try await fixture.requests() == requests + 1)
        }
        await fixture.server.stop()
    }

    @Test func mistakesOfTheSDKsFilesAreConfigurationErrors() throws {
        func error(_ change: (inout SyncClient.Configuration) -> Void) -> ClientError? {
            var configuration = SyncClient.Configuration(url: "https://localhost", namespace: "default")
            change(&configuration)
            do { _ = try SyncClient(configuration) } catch { return error }
            return nil
        }
        for wrong in ["sha256//short", "sha1//\(String(repeating: "A", count: 43))=", String(repeating: "A", count: 43) + "=", ""] {
            guard case .invalidConfiguration(let text) = error({ $0.pinnedKeys = [wrong] }) else {
                Issue.record("\(wrong) was taken")
                continue
            }
            #expect(text.contains("base64"))
        }
        for change: (inout SyncClient.Configuration) -> Void in [
            { $0.authority = "/none" }, { $0.clientCertificate = .init(certificate: "/none", key: "/dev/null") },
            { $0.clientCertificate = .init(certificate: "/dev/null", key: "/none") },
        ] {
            guard case .invalidConfiguration(let text) = error(change) else {
                Issue.record("a missing file was taken")
                continue
            }
            #expect(text.contains("/none cannot be read"))
        }
    }

    @Test func aReloadOfTheClientAuthorityEndsPollsAndStreams() async throws {
        // Given a poll and a stream of a client, on a server that is open to all clients of its authority
        let (former, next) = (try await TestAuthority(), try await TestAuthority())
        let (device, other) = (try await former.issue("device"), try await next.issue("device"))
        let fixture = try await Fixture { $0.tls?.clientAuthority = former.certificate }
        let trust = ["--cacert", fixture.authority.certificate]
        let asDevice = trust + ["--cert", device.chain, "--key", device.key]
        let asOther = trust + ["--cert", other.chain, "--key", other.key]
        let base = "\(fixture.server.url)/v1/default"
        let cursor = try #require(try await curl(asDevice + ["\(base)/changes?since=now"]).fields["freshet-cursor"])
        async let polled = curl(asDevice + ["\(base)/changes?since=\(cursor)&wait=60"])
        async let streamed = curl(asDevice + ["-H", "Accept: text/event-stream", "\(base)/changes?since=\(cursor)"])
        while try await !curl(asDevice + [base]).body.contains("\"waiting\":2") {}
        // When its authority is replaced by another one
        let (old, new) = (former.certificate, next.certificate)
        try former.replace(.init(chain: old, key: device.key), with: .init(chain: new, key: device.key))
        try fixture.server.reloadCertificates()
        // Then nothing waits any more, and the client cannot come back
        #expect(try await curl(asOther + [base]).body.contains("\"waiting\":0"))
        let (poll, stream) = try await (polled, streamed)
        #expect(poll.status == 204 && stream.status == 200)
        await #expect(throws: CommandFailure.self) { _ = try await curl(asDevice + [base]) }
        await fixture.server.stop()
        withExtendedLifetime((former, next)) {}
    }

    @Test func aChangeReachesWaitersOverTLSAcrossAReload() async throws {
        // Given waiting polls over TLS
        let fixture = try await Fixture()
        let trust = ["--cacert", fixture.authority.certificate]
        let base = "\(fixture.server.url)/v1/default"
        let cursor = try #require(
            try await curl(trust + ["-X", "PUT", "-H", "Content-Type: application/json", "-d", "1", base + "/records/c/1"]).fields[
                "freshet-cursor"])
        let waiters = 20
        try await withThrowingTaskGroup(of: CurlAnswer.self) { group in
            for _ in 0..<waiters { group.addTask { try await curl(trust + ["\(base)/changes?since=\(cursor)&wait=60"]) } }
            while try await !curl(trust + [base]).body.contains("\"waiting\":\(waiters)") {}
            // When the certificate is exchanged, and a record changes
            let second = try await fixture.authority.issue("second")
            try fixture.authority.replace(fixture.identity, with: second)
            try fixture.server.reloadCertificates()
            let (_, text) = try await handshake(fixture, [])
            #expect(text.contains("CN = second"), "\(text)")
            _ = try await curl(trust + ["-X", "PUT", "-H", "Content-Type: application/json", "-d", "2", base + "/records/c/1"])
            // Then each waiter receives the change on the connection that it had
            for try await answer in group { #expect(answer.status == 200 && answer.body.contains("\"value\":2")) }
        }
        // And files that do not fit together change nothing
        let third = try await fixture.authority.issue("third")
        try fixture.authority.replace(TestAuthority.Identity(chain: fixture.identity.chain, key: third.key), with: third)
        #expect(throws: RecordServerError.self) { try fixture.server.reloadCertificates() }
        #expect(try await handshake(fixture, []).isComplete)
        await fixture.server.stop()
    }
}
