import FoundationEssentials
import FreshetClient
import FreshetTestSupport
import Glibc
import Testing

@testable import freshet

/// Client certificates in place of keys, by the program and by `curl --cert`.
@Suite(.timeLimit(.minutes(5)), .enabled(if: TestAuthority.isAvailable, "the program openssl is not in the PATH"))
struct CertificateRightsTests {
    /// A server whose file gives the certificates of an authority a role.
    private struct Fixture {
        let folder = TemporaryDirectory()
        let authority: TestAuthority
        let process: ChildProcess
        let url: String
        private let server: TestAuthority.Identity

        init() async throws {
            authority = try await TestAuthority()
            server = try await authority.issue("server")
            let path = folder.file("freshet.json")
            folder.write(Self.file(authority, server, collection: "carts"), to: "freshet.json")
            #expect(try await Program()("config", "check", path).status == 0)
            process = try ChildProcess(
                executable: Program.path, arguments: ["serve", "--data", folder.file("data"), "--config", path, "--until-input-ends"])
            var first: String?
            for await line in process.lines {
                if first == nil { first = line }
                if line.contains("unix:") { break }
            }
            url = try #require(first.flatMap(ServerProcess.url))
            #expect(try await operate("PUT", "/v1/shop/records/carts/till-7.example%2F1", "1").status == 201)
        }

        static func file(_ authority: TestAuthority, _ server: TestAuthority.Identity, collection: String) -> [UInt8] {
            Array(
                """
                {"listen": [{"address": "127.0.0.1:0", "tls": {"certificate": "\(server.chain)", "key": "\(server.key)"},
                             "clientAuthority": "\(authority.certificate)", "clientRole": "till"}],
                 "admin": {"socket": "admin.sock"},
                 "roles": {"till": [{"ns": "shop", "in": ["\(collection)/{sub}/*"], "may": ["read", "write"]}]}}
                """.utf8)
        }

        /// Gives the role another collection, and reloads.
        func reload(collection: String) async throws {
            folder.write(Self.file(authority, server, collection: collection), to: "freshet.json")
            let ending = try await Program()("reload", "--admin-socket", folder.file("admin.sock"))
            #expect(ending.status == 0, "\(ending.error)")
        }

        /// Sends a request as the operator.
        func operate(_ method: String, _ path: String, _ body: String? = nil) async throws -> CurlAnswer {
            let content = body.map { ["-H", "Content-Type: application/json", "-d", $0] } ?? []
            return try await curl(["--unix-socket", folder.file("admin.sock"), "-X", method] + content + ["http://freshet" + path])
        }

        /// Sends requests on one connection, and returns the response to the last.
        func ask(_ device: TestAuthority.Identity, _ path: String, _ options: String...) async throws -> CurlAnswer {
            let trust = ["--cacert", authority.certificate, "--cert", device.chain, "--key", device.key]
            return try await curl(trust + options + [url + path])
        }

        func stop() async {
            process.send(SIGTERM)
            #expect(await process.ending() == .exited(0))
        }
    }

    @Test func aCertificateHasTheRightsOfItsNameUntilItIsRevoked() async throws {
        let fixture = try await Fixture()
        let device = try await fixture.authority.issue("device", for: "DNS:Till-7.example")
        let records = "/v1/shop/records/carts"
        // Given a device with a certificate and no key; Then it reads and writes what its name may, and nothing else
        #expect(try await fixture.ask(device, "\(records)/till-7.example%2F1").body == "1")
        #expect(try await fixture.ask(device, "\(records)/till-7.example%2F2", "-X", "PUT", "--json", "2").status == 201)
        #expect(try await fixture.ask(device, "\(records)/till-8.example%2F1").status == 403)
        let rights = try await fixture.ask(device, "/v1/shop/rights").body
        #expect(rights.contains(#""principal":"certificate:till-7.example""#), "\(rights)")
        // And a key in its request decides alone
        let key = try await fixture.ask(device, "\(records)/till-7.example%2F1", "-H", "Authorization: Bearer fk_none")
        #expect(key.status == 401)
        // And a certificate without one name, or with one that the role has no place for, gets the reason
        let two = try await fixture.authority.issue("two", for: "DNS:till-7.example,DNS:till-8.example")
        let nameless = try await fixture.ask(two, "\(records)/till-7.example%2F1")
        #expect(nameless.status == 401 && nameless.body.contains("subjectAltName"), "\(nameless.body)")
        let workload = try await fixture.authority.issue("workload", for: "URI:spiffe://example/till,DNS:till-7.example")
        let misfit = try await fixture.ask(workload, "\(records)/till-7.example%2F1")
        #expect(misfit.status == 401 && misfit.body.contains("does not fit the role"), "\(misfit.body)")
        // And the program presents a certificate too
        let program = Program(server: fixture.url)
        let identity = ["--ca", fixture.authority.certificate, "--client-certificate", device.chain, "--client-key", device.key]
        let listed = try await program(["get", "carts/till-7.example/1", "--namespace", "shop"] + identity)
        #expect(listed.output == "1", "\(listed.error)")
        // And the SDK needs nothing but its certificate
        try await synchronize(fixture, device)
        // And it can buy no ticket, and the status shows its rights
        #expect(try await fixture.ask(device, "/v1/shop/tickets", "--json", "{}").status == 401)
        let status = try await program(["status", "--namespace", "shop"] + identity)
        #expect(status.output.contains("certificate:till-7.example") && status.output.contains("carts/till-7.example/*"), "\(status)")
        // And the operator sees whose certificates are refused
        let denials = try await fixture.operate("GET", "/admin/denials").body
        #expect(denials.contains(#""principal":"certificate:spiffe://example/till""#), "\(denials)")
        // And a name that no certificate has cannot be revoked
        let wrong = try await program("revoke", "--admin-socket", fixture.folder.file("admin.sock"), "--certificate", "till 7")
        #expect(wrong.status != 0 && wrong.error.contains("1 to 128 visible characters"), "\(wrong.error)")
        // When the name is revoked while it waits
        let cursor = try #require(try await fixture.ask(device, "/v1/shop/changes?since=now").fields["freshet-cursor"])
        async let waiting = fixture.ask(device, "/v1/shop/changes?since=\(cursor)&wait=60")
        while try await !fixture.operate("GET", "/metrics").body.contains("freshet_feed_waiters 1\n") { await Task.yield() }
        let revoked = try await Program()(
            "revoke", "--admin-socket", fixture.folder.file("admin.sock"), "--certificate", "certificate:Till-7.example")
        #expect(revoked.status == 0, "\(revoked.error)")
        // Then the wait ends, new connections have no rights, and the list names the certificate
        #expect(try await waiting.status == 401)
        let refused = try await fixture.ask(device, "\(records)/till-7.example%2F1")
        #expect(refused.status == 401 && refused.body.contains("revoked"), "\(refused.body)")
        let list = try await Program()("revoke", "--admin-socket", fixture.folder.file("admin.sock"), "--list")
        #expect(list.output.contains("certificate till-7.example"), "\(list.output)")
        await fixture.stop()
    }

    /// Writes a record with the SDK, and waits for the server's verdict.
    private func synchronize(_ fixture: Fixture, _ device: TestAuthority.Identity) async throws {
        var configuration = SyncClient.Configuration(url: fixture.url, namespace: "shop")
        configuration.authority = fixture.authority.certificate
        configuration.clientCertificate = .init(certificate: device.chain, key: device.key)
        let client = try SyncClient(configuration)
        try await client.start()
        let carts = client.collection("carts", of: Int.self)
        try await carts.setValue(3, forKey: "till-7.example/3").waitUntilConfirmed()
        await client.stop()
    }

    @Test func aReloadGivesCertificatesTheNewRole() async throws {
        let fixture = try await Fixture()
        let device = try await fixture.authority.issue("device", for: "DNS:till-7.example")
        #expect(try await fixture.ask(device, "/v1/shop/records/carts/till-7.example%2F1").status == 200)
        // When
        try await fixture.reload(collection: "orders")
        // Then
        #expect(try await fixture.ask(device, "/v1/shop/records/carts/till-7.example%2F1").status == 403)
        #expect(try await fixture.ask(device, "/v1/shop/records/orders/till-7.example%2F1").status == 404)
        await fixture.stop()
    }
}
